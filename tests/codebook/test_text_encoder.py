"""Encoders that a person supplies: one text at a time, on a grid, with their own codebook."""

import json
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

from syntf import SynTF
from syntf.codebook.build import build_codebook
from syntf.codebook.codebook import Codebook
from syntf.codebook.encoder import Encoder
from syntf.codebook.integers import LENGTH
from syntf.codebook.text_encoder import GRID, TextEncoder, load_text_encoder, to_grid
from syntf.core.errors import SyntfError
from syntf.releases.job import release
from syntf.text.tokenizer import Analyzer
from syntf.text.word_reader import WordReader
from syntf.verification.verify import verify

TOPICS = {
    "space": ["the rocket carried a satellite", "orbit around the moon", "the shuttle landed"],
    "food": ["we cooked soup with garlic", "fresh bread and butter", "onion and tomato salad"],
    "sport": [
        "the goalkeeper saved a penalty",
        "the striker scored a goal",
        "the team won a match",
    ],
}
TEXTS = [f"{one} {two}" for lines in TOPICS.values() for one in lines for two in lines] * 3


class Mean:
    """The mean of the word vectors of a text, as a function of a list of texts."""

    def __init__(self, vectors, dimensions=40):
        self.row = {word: row for row, word in enumerate(vectors.words)}
        self.matrix = vectors.matrix[:, :dimensions].astype(np.float64)
        self.asked = []

    def __call__(self, texts):
        self.asked.append(len(texts))
        rows = [[self.row[word] for word in text.split() if word in self.row] for text in texts]
        empty = np.zeros(self.matrix.shape[1])
        return np.array([self.matrix[row].mean(axis=0) if row else empty for row in rows])


@pytest.fixture(scope="module")
def mean(embedded):
    return Mean(embedded)


@pytest.fixture(scope="module")
def book(embedded, mean):
    return build_codebook(TEXTS, embedded, Analyzer(), 6, encoder=load_text_encoder(mean))


@pytest.fixture
def path(book, tmp_path):
    book.write(tmp_path / "own.codebook")
    return tmp_path / "own.codebook"


def make_model(folder, vectors, words):
    """Write a folder of model2vec that knows these words."""
    model2vec = pytest.importorskip("model2vec", reason="pip install 'syntf[model2vec]'")
    tokenizers = pytest.importorskip("tokenizers")
    words = [word for word in dict.fromkeys(words) if word in vectors.words]
    known = {"[UNK]": 0, **{word: place for place, word in enumerate(words, 1)}}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, "[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    rows = [vectors.words.index(word) for word in words]
    matrix = np.vstack([np.zeros(100), vectors.matrix[rows]]).astype(np.float32)
    model2vec.StaticModel(matrix, tokenizer, {"normalize": True}).save_pretrained(folder)
    return f"model2vec:{folder}"


finite = st.floats(-1e300, 1e300, allow_subnormal=False)


@given(arrays(np.float64, (3, 4), elements=finite | st.just(np.nan) | st.just(np.inf)))
def test_every_row_lies_on_the_grid_by_itself(rows):
    found = to_grid(rows)
    for row, on_grid in zip(rows, found, strict=True):
        assert np.array_equal(to_grid(row[None])[0], on_grid)
        usable = np.isfinite(row).all() and row.any()
        assert on_grid.any() == usable
        if usable:
            assert np.linalg.norm(on_grid) == pytest.approx(GRID, abs=2)


def test_a_function_sees_one_text_at_a_time(mean):
    mean.asked.clear()
    rows = load_text_encoder(mean).rows(["moon", "bread", "goal match"])
    assert mean.asked == [1, 1, 1]
    assert np.array_equal(rows[1:2], load_text_encoder(mean).rows(["bread"]))


@pytest.mark.parametrize(
    "function",
    [
        lambda texts: np.zeros(3),
        lambda texts: np.zeros((2, 3)),
        lambda texts: np.zeros((1, 0)),
        lambda texts: np.zeros((1, 3 + len(texts[0]))),
        lambda texts: [texts],
        lambda texts: {}[texts[0]],
    ],
)
def test_a_function_that_fails_is_refused_without_the_text(function):
    with pytest.raises(SyntfError, match="the encoder own") as caught:
        TextEncoder("own", function).rows(["secret", "of others"])
    assert "secret" not in str(caught.value)


def test_topics_words_and_documents_share_one_space(book, embedded, mean):
    encoder = Encoder(book, embedded, load_text_encoder(mean))
    reader = WordReader(Analyzer(), embedded.words)
    encoded = encoder.encode_texts([*TEXTS[:2], "", "zzz"], reader)
    assert encoded.vectors.shape == (4, 40)
    lengths = np.linalg.norm(encoded.vectors.astype(float), axis=1)
    assert lengths == pytest.approx([LENGTH, LENGTH, 0, 0], abs=10)
    alone = encoder.encode_texts([TEXTS[1]], reader)
    assert np.array_equal(alone.vectors[0], encoded.vectors[1])
    words = encoder.word_vectors(np.array([embedded.words.index("moon")], dtype=np.int32))
    assert np.linalg.norm(words.astype(float)) == pytest.approx(LENGTH, abs=10)


def test_a_codebook_keeps_the_name_of_its_encoder(book, path):
    again = Codebook.read(path)
    assert again.encoder == book.encoder
    assert again.encoder.endswith(".Mean")
    assert again.digest == book.digest


@pytest.mark.parametrize("loss", [10, 45])
def test_the_transformer_takes_a_function(path, mean, loss):
    synthetic = clone(SynTF(document_loss=loss, encoder=mean, codebook=path))
    counts = synthetic.fit_transform(TEXTS)
    promised = synthetic.guarantee_
    assert promised.loss_per_document == loss
    assert promised.document.encoder.endswith(".Mean")
    assert promised.supplied == ["codebook", "encoder"]
    assert promised.private
    assert len(set(np.asarray(counts.sum(axis=1)).ravel().tolist())) == 1


def test_texts_on_one_topic_get_the_same_label(path, mean):
    synthetic = SynTF(document_loss=12, encoder=mean, codebook=path)
    synthetic.fit_transform(TEXTS)
    labels = pl.Series(synthetic.labels_)
    shared = sum(labels[start::27].value_counts()["count"].max() for start in range(27))
    assert shared > 0.9 * len(TEXTS)  # three copies of each text


def test_another_encoder_than_that_of_the_codebook_is_refused(path, mean, embedded, tmp_path):
    other = Mean(embedded)
    other.matrix = other.matrix[::-1]
    for encoder, codebook, told in (
        (len, path, "built with the encoder function .*Mean, not with function builtins.len"),
        (Mean(embedded, 30), path, "must give one row of 40 numbers"),
        (other, path, "gives other vectors than when the codebook was built"),
        (None, path, "give the same one with --encoder"),
        (mean, None, "the embedded codebook is for word vectors"),
    ):
        with pytest.raises(SyntfError, match=told):
            SynTF(document_loss=10, encoder=encoder, codebook=codebook).fit([])
    build_codebook(TEXTS, embedded, Analyzer(), 4).write(tmp_path / "words.codebook")
    with pytest.raises(SyntfError, match="was built for word vectors"):
        SynTF(document_loss=10, encoder=mean, codebook=tmp_path / "words.codebook").fit([])


@pytest.mark.parametrize("value", ["potion", "model2vec:", 3])
def test_other_values_are_no_encoder(value):
    with pytest.raises(SyntfError, match="encoder must be model2vec:FOLDER or a function"):
        SynTF(document_loss=10, encoder=value).fit([])


def test_an_encoder_belongs_to_the_document_unit(mean):
    with pytest.raises(SyntfError, match="encoder is a setting of the document unit"):
        SynTF(preset="words", encoder=mean).fit([])


def test_a_folder_of_model2vec_encodes_and_can_be_verified(call, embedded, tmp_path):
    words = [*" ".join(TEXTS).split(), *embedded.words[:2000]]
    chosen = make_model(tmp_path / "model", embedded, words)
    topics = [topic for topic in TOPICS for _ in range(9)] * 3
    pl.DataFrame({"text": TEXTS, "topic": topics}).write_csv(tmp_path / "t.csv")
    built = ["--encoder", chosen, "--size", 6, "--out", tmp_path / "m.codebook", "--json"]
    code, out, err = call("codebook", "build", tmp_path / "t.csv", *built)
    assert (code, err) == (0, "")
    name = json.loads(out)["encoder"]
    assert name.startswith("model2vec:model sha256:")
    used = ["--document-loss", 12, "--codebook", tmp_path / "m.codebook", "--encoder", chosen]
    out = ["--keep", "topic", "--out", tmp_path / "out", "-q"]
    assert call("anonymize", tmp_path / "t.csv", *used, *out) == (0, "", "")
    result = verify(tmp_path / "out", codebook=tmp_path / "m.codebook")
    assert result.verified
    assert result.guarantee.document.encoder == name
    documents = pl.read_parquet(tmp_path / "out" / "documents.parquet")
    for topic in TOPICS:
        labels = documents.filter(pl.col("topic") == topic)["labels"]
        assert labels.n_unique() < 10
    (tmp_path / "model" / "config.json").write_text("{}")
    code, _, err = call("explain", "moon", *used)
    assert code == 2
    assert f"built with the encoder {name}, not with model2vec:model" in err


def test_a_folder_that_is_none_of_model2vec_is_refused(tmp_path):
    with pytest.raises(SyntfError, match=r"is not a folder of model2vec: it has no file config"):
        load_text_encoder(f"model2vec:{tmp_path}")


def test_a_missing_package_is_named(monkeypatch, tmp_path):
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (tmp_path / name).write_text("{}")
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(SyntfError, match=r"pip install 'syntf\[model2vec\]'"):
        load_text_encoder(f"model2vec:{tmp_path}")


def test_a_release_records_a_function(path, mean, tmp_path):
    pl.DataFrame({"text": TEXTS[:9]}).write_csv(tmp_path / "t.csv")
    made = release(
        tmp_path / "t.csv", tmp_path / "out", document_loss=10, encoder=mean, codebook=path
    )
    assert made.guarantee.document.encoder.startswith("function ")
    assert verify(tmp_path / "out", codebook=path).verified
