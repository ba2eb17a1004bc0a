"""The table of word vectors: the embedded one, rounding, other libraries, and the cache."""

import mmap
import os
import pickle
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.words import vector_files, vectors
from syntf.words.vectors import WordVectors

WORDS = ["train", "bus", "cat", "dog"]
NUMBERS = np.random.default_rng(5).normal(size=(4, 6)).astype(np.float32)


def test_the_embedded_table_is_the_one_that_was_published(embedded):
    """Its digest is recorded in releases."""
    assert embedded.digest == "0d784691a25b1d760859779e95117322e58c366ffbc382520ec8ea657b1bb9d0"
    assert embedded.matrix.shape == (100_000, 100)
    assert len(set(embedded.words)) == len(embedded.words)
    assert all(embedded.words)
    assert (np.abs(embedded.matrix.astype(np.int16)).max(axis=1) == 127).all()


def test_the_embedded_table_knows_what_words_mean(embedded):
    """Rows and words belong together: neighbours by cosine are neighbours in meaning."""
    matrix = np.asarray(embedded.matrix[:20_000], dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    for word, kin in (("dog", "cat"), ("king", "queen"), ("france", "spain"), ("green", "blue")):
        near = np.argsort(matrix @ matrix[embedded.find(word)])[::-1][:15]
        assert kin in [embedded.words[row] for row in near]
    assert embedded.find("the") < embedded.find("house") < embedded.find("veranda")


@given(st.integers(0, 2**32), st.integers(2, 300))
def test_rounding_is_to_127ths_of_the_largest_component(seed, dimensions):
    matrix = np.random.default_rng(seed).normal(size=(5, dimensions))
    made = WordVectors.quantize(list("abcde"), matrix).matrix
    assert made.dtype == np.int8
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    assert (made == np.rint(matrix / largest * 127)).all()
    again = WordVectors.quantize(list("abcde"), made).matrix
    assert (again == made).all()


def test_rounding_of_tiny_numbers_and_halves():
    made = WordVectors.quantize(["a", "b"], [[1.0, -2.0, 0.7], [1e-300, 0.0, -0.5e-300]])
    assert made.matrix.tolist() == [[64, -127, 44], [127, 0, -64]]  # 63.5 and 44.45, -63.5


@pytest.mark.parametrize("shape", [(3,), (2, 4), (4, 3), (3, 0), (3, 2, 2)])
def test_vectors_that_do_not_fit_the_words_are_refused(shape):
    """And those that are not int8, too: exact products and the digest are of int8."""
    for make, dtype in ((WordVectors.quantize, float), (WordVectors, np.int8)):
        with pytest.raises(SyntfError, match=re.escape(str(shape)) + ".* 3 words"):
            make(["a", "b", "c"], np.ones(shape, dtype=dtype))
    with pytest.raises(SyntfError, match="int8"):
        WordVectors(["a", "b"], np.array([[0.25, 0.5], [0.5, -0.5]]))


def test_find_tries_the_word_as_written_then_in_lower_case():
    table = WordVectors(["cat", "Cat", "dog", "cat"], np.eye(4, dtype=np.int8))
    found = [table.find(word) for word in ("cat", "Cat", "CAT", "Dog", "cow", "")]
    assert found == [0, 1, 0, 2, None, None]
    assert "dog" in table
    assert "Dog" not in table


def test_the_digest_is_of_words_and_numbers_alone(toy_vectors):
    again = pickle.loads(pickle.dumps(toy_vectors))  # noqa: S301 - made here
    assert again.digest == toy_vectors.digest
    other = toy_vectors.matrix.copy()
    other[7, 3] ^= 1
    assert WordVectors(toy_vectors.words, other).digest != toy_vectors.digest
    words = [*toy_vectors.words[:-1], "flute"]
    assert WordVectors(words, toy_vectors.matrix).digest != toy_vectors.digest


# Other libraries


def keyed(words, numbers):
    return SimpleNamespace(index_to_key=words, vectors=numbers)


@pytest.fixture
def pipeline():
    nlp = pytest.importorskip("spacy", reason="needs spaCy: pip install spacy").blank("en")
    for word, row in zip(WORDS, NUMBERS, strict=True):
        nlp.vocab.set_vector(word, row)
    return nlp


def same(made, words=WORDS, numbers=NUMBERS):
    assert list(made.words) == list(words)
    assert (made.matrix == WordVectors.quantize(words, numbers).matrix).all()


def test_keyed_vectors_of_gensim_need_no_gensim(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    same(WordVectors.from_object(keyed(WORDS, NUMBERS)))
    with pytest.raises(SyntfError, match="do not fit 3 words"):
        WordVectors.from_object(keyed(WORDS[:3], NUMBERS))


def test_words_that_share_a_row_follow_those_that_own_one(pipeline):
    vocab = pipeline.vocab
    same(WordVectors.from_object(pipeline))
    for word in ("zebra", "ant"):
        vocab.vectors.add(vocab.strings.add(word), row=1)
    same(WordVectors.from_object(pipeline), [*WORDS, "ant", "zebra"], NUMBERS[[0, 1, 2, 3, 1, 1]])


def test_words_with_zeros_and_vectors_without_words_are_left_out(pipeline):
    pipeline.vocab.set_vector("nothing", np.zeros(6, dtype=np.float32))
    pipeline.vocab.vectors.add(12345, vector=np.ones(6, dtype=np.float32))
    same(WordVectors.from_object(pipeline))


def test_a_spacy_model_is_found_by_name_or_folder(pipeline, tmp_path):
    pipeline.to_disk(tmp_path / "model")
    same(WordVectors.read(f"spacy:{tmp_path / 'model'}"))
    for name in ("no_such_model_md", str(tmp_path)):
        with pytest.raises(SyntfError, match="cannot use the pipeline"):
            WordVectors.read(f"spacy:{name}")
    pipeline.vocab.reset_vectors(width=3)
    with pytest.raises(SyntfError, match="_md or _lg"):
        WordVectors.from_object(pipeline)


@pytest.mark.parametrize("wrong", [NUMBERS, ["cat"], None])
def test_other_objects_are_refused(wrong):
    with pytest.raises(SyntfError, match=f"not {type(wrong).__name__}"):
        WordVectors.from_object(wrong)


# The cache of big files

RAW = b"cat 1 -1\ndog 3 4\ncat 2 2\n"


@pytest.fixture
def big(monkeypatch, tmp_path, empty_cache):
    """A function that reads a file as if it were big: the table, and whether the file was read."""
    monkeypatch.setattr(vectors, "CACHED_BYTES", 1)
    reads = []
    read = vector_files.read
    monkeypatch.setattr(vector_files, "read", lambda path: (reads.append(path), read(path))[1])

    def load(path):
        before = len(reads)
        return WordVectors.read(path), len(reads) > before

    (tmp_path / "v.txt").write_bytes(RAW)
    return load


def equal(a, b):
    return list(a.words) == list(b.words) and (a.matrix == b.matrix).all()


def is_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)


def test_a_big_file_is_read_once(big, tmp_path):
    first, new = big(tmp_path / "v.txt")
    assert new
    again, new = big(tmp_path / "v.txt")
    assert not new
    assert equal(first, again)
    assert is_mapped(again.matrix)
    (tmp_path / "copy.txt").write_bytes(RAW)
    assert not big(tmp_path / "copy.txt")[1]


def test_other_bytes_are_read_anew(big, tmp_path):
    path = tmp_path / "v.txt"
    big(path)
    stat = path.stat()
    path.write_bytes(RAW.replace(b"-1", b"-2"))  # the same size
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # and time
    made, new = big(path)
    assert new
    assert made.matrix[0].tolist() == [64, -127]


def test_a_damaged_entry_is_read_again_and_replaced(big, tmp_path, empty_cache):
    wanted, _ = big(tmp_path / "v.txt")
    (entry,) = empty_cache.glob("*.vectors")
    raw = entry.read_bytes()
    damaged = [raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :] for at in range(0, len(raw), 5)]
    for content in (*damaged, *(raw[:size] for size in range(0, len(raw), 5)), raw + b"x", b""):
        entry.unlink()
        entry.write_bytes(content)
        made, new = big(tmp_path / "v.txt")
        assert new
        assert equal(made, wanted)
        assert entry.read_bytes() == raw


def test_a_cache_that_cannot_be_written_does_not_stop_a_run(big, tmp_path, monkeypatch):
    monkeypatch.setenv("SYNTF_CACHE", str(tmp_path / "v.txt"))  # a file is in the way
    for _ in range(2):
        assert big(tmp_path / "v.txt")[1]
