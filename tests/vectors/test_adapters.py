"""Vectors of gensim's and spaCy's objects: known by what they offer, and the libraries' own."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from syntf import SynTF
from syntf.core.errors import SyntfError
from syntf.vectors.adapters import from_model, from_object
from syntf.vectors.word_vectors import WordVectors

WORDS = ["train", "bus", "cat", "dog"]
NUMBERS = np.random.default_rng(5).normal(size=(4, 6)).astype(np.float32)


def keyed(words, vectors):
    return SimpleNamespace(index_to_key=words, vectors=vectors)


@pytest.fixture
def spacy():
    return pytest.importorskip("spacy", reason="needs spaCy: pip install 'syntf[spacy]'")


@pytest.fixture
def pipeline(spacy):
    nlp = spacy.blank("en")
    for word, row in zip(WORDS, NUMBERS, strict=True):
        nlp.vocab.set_vector(word, row)
    return nlp


def same(made, words=WORDS, numbers=NUMBERS):
    assert list(made.words) == list(words)
    assert (made.matrix == WordVectors.quantize(words, numbers).matrix).all()


def test_keyed_vectors_need_no_gensim(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    same(from_object(keyed(WORDS, NUMBERS)))


def test_keyed_vectors_of_gensim():
    gensim = pytest.importorskip("gensim.models", reason="needs gensim: pip install gensim")
    source = gensim.KeyedVectors(vector_size=6)
    source.add_vectors(WORDS, NUMBERS)
    same(from_object(source))


def test_keyed_vectors_with_faults_are_refused():
    with pytest.raises(SyntfError, match=r"word 2: the vector of 'bus' is zero \(in all: 1 zero\)"):
        from_object(keyed(WORDS, NUMBERS * np.array([[1], [0], [1], [1]])))
    with pytest.raises(SyntfError, match="not all words"):
        from_object(keyed([1, 2, 3, 4], NUMBERS))
    with pytest.raises(SyntfError, match="do not fit 3 words"):
        from_object(keyed(WORDS[:3], NUMBERS))


def test_vectors_of_a_pipeline_have_the_order_of_its_rows(pipeline):
    made = from_object(pipeline)
    same(made)
    assert made.notes == []


def test_words_that_share_a_row_are_sorted(pipeline):
    vocab = pipeline.vocab
    for word in ("zebra", "ant"):
        vocab.vectors.add(vocab.strings.add(word), row=1)
    same(from_object(pipeline), ["train", "ant", "bus", "zebra", "cat", "dog"],
         NUMBERS[[0, 1, 1, 1, 2, 3]])  # fmt: skip


def test_words_with_zeros_and_vectors_without_words_are_left_out_and_counted(pipeline):
    pipeline.vocab.set_vector("nothing", np.zeros(6, dtype=np.float32))
    pipeline.vocab.vectors.add(12345, vector=np.ones(6, dtype=np.float32))
    made = from_object(pipeline)
    same(made)
    assert made.notes == [
        "1 vectors have no word in the pipeline",
        "1 words have a vector of zeros and were left out",
    ]


def test_a_pipeline_without_vectors_is_refused(spacy):
    with pytest.raises(SyntfError, match="_md or _lg"):
        from_object(spacy.blank("en"))


def test_a_model_is_found_by_name_or_folder(pipeline, tmp_path):
    pipeline.to_disk(tmp_path / "model")
    same(from_model(str(tmp_path / "model")))
    for name in ("no_such_model_md", str(tmp_path)):
        with pytest.raises(SyntfError, match="no spaCy model"):
            from_model(name)
    synthetic = SynTF(vectors=f"spacy:{tmp_path / 'model'}", vocabulary=WORDS, length=3).fit([])
    assert synthetic.get_feature_names_out().tolist() == WORDS


def test_missing_spacy_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(SyntfError, match=r"pip install 'syntf\[spacy\]'"):
        from_model("en_core_web_md")


@pytest.mark.parametrize("wrong", [3, NUMBERS, ["cat"], {"cat": [1]}])
def test_other_objects_are_refused(wrong):
    with pytest.raises(SyntfError, match=f"not {type(wrong).__name__}"):
        SynTF(vectors=wrong).fit([])


def test_adapted_vectors_give_the_same_mechanism(pipeline):
    sources = [WordVectors.quantize(WORDS, NUMBERS), keyed(WORDS, NUMBERS), pipeline]
    made = [clone(SynTF(vectors=one, vocabulary=WORDS, length=3)).fit([]) for one in sources]
    assert len({one.guarantee_.digest for one in made}) == 1
