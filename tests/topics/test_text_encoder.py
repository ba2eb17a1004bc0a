"""Encoders that a person supplies: one text at a time, on a grid, with their own codebook."""

import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from syntf.core.errors import SyntfError
from syntf.text.reader import reader_for
from syntf.topics.build import build_codebook
from syntf.topics.codebook import Codebook
from syntf.topics.encoder import Encoder
from syntf.topics.integers import LENGTH
from syntf.topics.lists import topic_list
from syntf.topics.text_encoder import GRID, TextEncoder, load_text_encoder, to_grid

TOPICS = {
    "space": ["the rocket carried a satellite", "orbit around the moon", "the shuttle landed"],
    "food": ["we cooked soup with garlic", "fresh bread and butter", "onion and tomato salad"],
    "sport": [
        "the goalkeeper saved a penalty",
        "the striker scored a goal",
        "the team won a match",
    ],
}
TEXTS = pl.Series([f"{one} {two}" for lines in TOPICS.values() for one in lines for two in lines])


class Mean:
    """The mean of the word vectors of a text, as a function of a list of texts."""

    def __init__(self, vectors, dimensions=40):
        self.row = {word: row for row, word in enumerate(vectors.words)}
        self.matrix = vectors.matrix[:, :dimensions].astype(np.float64)
        self.asked = []

    def __call__(self, texts):
        self.asked.append(len(texts))
        rows = [[self.row[word] for word in text.split() if word in self.row] for text in texts]
        if "poison" in texts[0]:
            raise RuntimeError(texts[0])
        empty = np.zeros(self.matrix.shape[1])
        return np.array([self.matrix[row].mean(axis=0) if row else empty for row in rows])


@pytest.fixture(scope="module")
def mean(embedded):
    return Mean(embedded)


@pytest.fixture(scope="module")
def reader(embedded):
    return reader_for(words=embedded.words)


@pytest.fixture(scope="module")
def book(embedded, reader, mean):
    return build_codebook(TEXTS, embedded, reader, 6, encoder=load_text_encoder(mean))


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


FAILING = [
    lambda texts: np.zeros(3),
    lambda texts: np.zeros((2, 3)),
    lambda texts: np.zeros((1, 0)),
    lambda texts: np.zeros((1, 3 + len(texts[0]))),
    lambda texts: [texts],
    lambda texts: {}[texts[0]],
]


@pytest.mark.parametrize("function", FAILING)
def test_a_function_that_fails_for_public_texts_is_refused_without_the_text(function):
    with pytest.raises(SyntfError, match="the encoder own") as caught:
        TextEncoder("own", function).rows(["secret", "of others"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("function", FAILING)
def test_no_private_text_stops_a_run(function):
    """A text that an encoder fails for has no direction, like a text without a known word."""
    rows = TextEncoder("own", function).rows(["secret", "of others"], 7, strict=False)
    assert rows.shape == (2, 7)
    assert not rows.any()


def test_topics_words_and_documents_share_one_space(book, embedded, mean):
    encoder = Encoder(book, embedded, load_text_encoder(mean))
    texts = pl.Series([*TEXTS[:2], "", "zzz", None, "poison in the soup"])
    encoded = encoder.encode_texts(texts)
    assert encoded.shape == (6, 40)
    lengths = np.linalg.norm(encoded.astype(float), axis=1)
    assert lengths == pytest.approx([LENGTH, LENGTH, 0, 0, 0, 0], abs=10)
    assert np.array_equal(encoder.encode_texts(texts[1:2])[0], encoded[1])
    words = encoder.word_vectors(np.array([embedded.words.index("moon")], dtype=np.int32))
    assert np.linalg.norm(words.astype(float)) == pytest.approx(LENGTH, abs=10)
    topics = topic_list(book, 3, rounds=10).targets(encoder.encode_texts(TEXTS))[:, 0]
    for topic in range(3):
        own = topics[9 * topic : 9 * topic + 9]
        assert np.bincount(own).max() >= 7


def test_a_codebook_keeps_the_name_of_its_encoder(book, tmp_path):
    book.save(tmp_path / "own")
    again = Codebook.read(tmp_path / "own")
    assert again.encoder.endswith(".Mean")
    assert again.digest == book.digest


def test_another_encoder_than_that_of_the_codebook_is_refused(book, mean, embedded, reader):
    other = Mean(embedded)
    other.matrix = other.matrix[::-1]
    for encoder, told in (
        (len, r"built with the encoder function .*Mean, not with function builtins.len"),
        (Mean(embedded, 30), "must give one row of 40 numbers"),
        (other, "gives other vectors than when the codebook was built"),
    ):
        with pytest.raises(SyntfError, match=told):
            Encoder(book, embedded, load_text_encoder(encoder))
    words = build_codebook(TEXTS, embedded, reader, 4)
    with pytest.raises(SyntfError, match="was built for word vectors"):
        Encoder(words, embedded, load_text_encoder(mean))


def test_public_texts_without_a_difference_make_no_codebook(mean, embedded, reader):
    for texts, told in ((["moon"], "all have the same words"), (["Moon"], "no direction")):
        with pytest.raises(SyntfError, match=told):
            build_codebook(pl.Series(texts), embedded, reader, encoder=load_text_encoder(mean))


def test_without_its_encoder_a_codebook_encodes_nothing(book, embedded, reader):
    encoder = Encoder(book, embedded)
    assert encoder.column_vectors.any()
    for encode in (encoder.encode_texts, lambda texts: encoder.encode(reader.counts(texts))):
        with pytest.raises(SyntfError, match="give the same one with --encoder"):
            encode(TEXTS)


def make_model(folder, vectors, words):
    """Write a folder of model2vec that knows these words."""
    model2vec = pytest.importorskip("model2vec", reason="needs the extra model2vec")
    tokenizers = pytest.importorskip("tokenizers")
    words = [word for word in dict.fromkeys(words) if word in vectors]
    known = {"[UNK]": 0, **{word: place for place, word in enumerate(words, 1)}}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, "[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    matrix = np.vstack([np.zeros(100), vectors.matrix[[vectors.find(word) for word in words]]])
    model = model2vec.StaticModel(matrix.astype(np.float32), tokenizer, {"normalize": True})
    model.save_pretrained(folder)
    return f"model2vec:{folder}"


def test_a_folder_of_model2vec_encodes(embedded, reader, tmp_path):
    words = [*" ".join(TEXTS).split(), *embedded.words[:2000]]
    chosen = make_model(tmp_path / "model", embedded, words)
    encoder = load_text_encoder(chosen)
    assert encoder.name.startswith("model2vec:model sha256:")
    made = build_codebook(TEXTS, embedded, reader, 6, encoder=encoder)
    assert Encoder(made, embedded, encoder).encode_texts(TEXTS).any(axis=1).all()
    (tmp_path / "model" / "config.json").write_text("{}")
    with pytest.raises(SyntfError, match="not with model2vec:model"):
        Encoder(made, embedded, load_text_encoder(chosen))


def test_a_folder_that_is_none_of_model2vec_is_refused(tmp_path, monkeypatch):
    with pytest.raises(SyntfError, match=r"is not a folder of model2vec: it has no file config"):
        load_text_encoder(f"model2vec:{tmp_path}")
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (tmp_path / name).write_text("{}")
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(SyntfError, match="install the extra 'model2vec'"):
        load_text_encoder(f"model2vec:{tmp_path}")
