import gzip
import re
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from syntf.core.errors import SyntfError
from syntf.vectors.word_vectors import WordVectors

NUMBERS = st.floats(-1e6, 1e6, width=32)


def cosines(a, b):
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


def glove(words, matrix):
    lines = [" ".join([word, *map(repr, row)]) for word, row in zip(words, matrix, strict=True)]
    return ("\n".join(lines) + "\n").encode()


def test_embedded_table_is_complete(embedded):
    assert len(embedded.words) >= 100_000
    assert len(set(embedded.words)) == len(embedded.words)
    assert all(embedded.words)
    assert embedded.matrix.dtype == np.int8
    assert embedded.matrix.shape[0] == len(embedded.words)
    assert (np.abs(embedded.matrix.astype(np.int16)).max(axis=1) == 127).all()


def test_embedded_table_is_small():
    data = files("syntf").joinpath("data")
    sizes = [len(data.joinpath(name).read_bytes()) for name in ("vectors.npy", "words.txt")]
    assert sum(sizes) <= 12_000_000


def test_embedded_table_knows_what_words_mean(embedded):
    """Rows and words belong together: neighbours by cosine are neighbours in meaning."""
    matrix = np.asarray(embedded.matrix[:20_000], dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    for word, kin in (("dog", "cat"), ("king", "queen"), ("france", "spain"), ("green", "blue")):
        near = np.argsort(matrix @ matrix[embedded.find(word)])[::-1][:15]
        assert kin in [embedded.words[row] for row in near]


def test_embedded_words_come_most_frequent_first(embedded):
    assert embedded.find("the") < embedded.find("house") < embedded.find("veranda")


@given(st.integers(0, 2**32), st.integers(2, 300))
def test_quantize_keeps_directions(seed, dimensions):
    matrix = np.random.default_rng(seed).normal(size=(5, dimensions))
    made = WordVectors.quantize(list("abcde"), matrix).matrix
    assert made.dtype == np.int8
    assert (np.abs(made.astype(int)).max(axis=1) == 127).all()
    assert cosines(made, matrix).min() > 0.999


def test_quantize_is_rounding_to_127ths_of_the_largest():
    made = WordVectors.quantize(["a", "b"], [[1.0, -2.0, 0.7], [1e-300, 0.0, -0.5e-300]])
    assert made.matrix.tolist() == [[64, -127, 44], [127, 0, -64]]  # 63.5 and 44.45, -63.5


@pytest.mark.parametrize("factor", [2.0**-500, 0.125, 8.0, 2.0**500])
def test_quantize_ignores_length(factor):
    words, matrix = list("abcdefghi"), np.random.default_rng(5).normal(size=(9, 20))
    plain = WordVectors.quantize(words, matrix).matrix
    assert (WordVectors.quantize(words, matrix * factor).matrix == plain).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_quantize_names_the_word_that_is_not_finite(bad):
    with pytest.raises(SyntfError, match=r"'dog' is not finite"):
        WordVectors.quantize(["cat", "dog", "cow"], [[1, 2], [3, bad], [5, 6]])


def test_quantize_names_the_word_whose_vector_is_zero():
    with pytest.raises(SyntfError, match=r"'dog' is zero"):
        WordVectors.quantize(["cat", "dog", "cow"], [[1, 2], [0, 0], [5, 6]])


@pytest.mark.parametrize("shape", [(3,), (2, 4), (4, 3), (3, 0), (3, 2, 2)])
def test_vectors_that_do_not_fit_the_words_are_refused(shape):
    for make, dtype in ((WordVectors.quantize, float), (WordVectors, np.int8)):
        with pytest.raises(SyntfError, match=re.escape(str(shape)) + ".* 3 words"):
            make(["a", "b", "c"], np.ones(shape, dtype=dtype))


def test_vectors_of_no_words_are_refused():
    for make in (WordVectors.quantize, WordVectors):
        with pytest.raises(SyntfError):
            make([], np.ones((0, 3), dtype=np.int8))


def test_a_matrix_that_is_not_int8_is_refused():
    """Exact products and the digest are of int8; finer numbers would escape both."""
    with pytest.raises(SyntfError, match="int8"):
        WordVectors(["a", "b"], np.array([[0.25, 0.5], [0.5, -0.5]]))


def test_find_tries_the_word_as_written_then_in_lower_case():
    vectors = WordVectors(["cat", "Cat", "dog"], np.eye(3, dtype=np.int8))
    found = [vectors.find(word) for word in ("cat", "Cat", "CAT", "Dog", "cow", "")]
    assert found == [0, 1, 0, 2, None, None]


def test_find_returns_the_first_of_two():
    assert WordVectors(["cat", "dog", "cat"], np.eye(3, dtype=np.int8)).find("cat") == 0


@given(hnp.arrays(np.float64, (4, 3), elements=NUMBERS.filter(bool)))
def test_read_plain_and_gzip_agree_exactly_with_quantize(tmp_path_factory, matrix):
    words, folder = ["the", "cat", "dog's", "Ωμέγα"], tmp_path_factory.mktemp("read")
    raw = glove(words, matrix.tolist())
    (folder / "plain.txt").write_bytes(raw)
    (folder / "packed.anything").write_bytes(gzip.compress(raw, mtime=0))
    wanted = WordVectors.quantize(words, matrix)
    for name in ("plain.txt", "packed.anything"):
        made = WordVectors.read(folder / name)
        assert list(made.words) == words
        assert made.matrix.dtype == np.int8
        assert (made.matrix == wanted.matrix).all()


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_read_accepts_any_line_end_and_a_path_as_text(tmp_path, end):
    path = tmp_path / "v.txt"
    path.write_bytes((end or b"\n").join([b"cat 1 2", b"dog -1e-3 +.5"]) + end)
    made = WordVectors.read(str(path))
    assert list(made.words) == ["cat", "dog"]
    assert made.matrix.tolist() == [[64, 127], [0, 127]]


def test_read_words_with_odd_characters(tmp_path):
    words = [
        '"',
        "#",
        '""',
        "'",
        "a,b",
        "\\",
        "é",
        "日本語",
        "null",
        "NaN",
        "1",
        "-",
        "a\u00a0b",
        "#x",
    ]
    matrix = np.random.default_rng(3).normal(size=(len(words), 4))
    (tmp_path / "v.txt").write_bytes(glove(words, matrix.tolist()))
    made = WordVectors.read(tmp_path / "v.txt")
    assert list(made.words) == words
    assert (made.matrix == WordVectors.quantize(words, matrix).matrix).all()


def test_read_keeps_the_first_of_duplicates(tmp_path):
    (tmp_path / "v.txt").write_bytes(b"cat 1 0\ndog 0 1\ncat 1 1\ncow 1 -1\ndog 1 1\n")
    made = WordVectors.read(tmp_path / "v.txt")
    assert list(made.words) == ["cat", "dog", "cow"]
    assert made.matrix.tolist() == [[127, 0], [0, 127], [127, -127]]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"cat 1 2\ndog 3\n", r"line 2 \('dog'\) has 1 numbers, line 1 has 2"),
        (b"cat 1 2\ndog 3 4 5\n", r"line 2 \('dog'\) has 3 numbers, line 1 has 2"),
        (b"cat 1 2\n\ndog 3 4\n", r"line 2 "),
        (b"2 3\ncat 1 2\ndog 3 4\n", r"line 2 \('cat'\) has 2 numbers, line 1 says 3"),
        (b"cat 1 2\ndog 3 x\n", r"line 2 \('dog'\).*not a number"),
        (b"cat 1 2\ndog 3 \n", r"line 2 \('dog'\).*not a number"),
        (b"cat 1 2\ndog 1,5 2\n", r"line 2 \('dog'\).*not a number"),
        (b"cat 1 2\ndog 1_0 2\n", r"line 2 \('dog'\).*not a number"),
        (b"cat 1 2\ndog nan 4\n", r"line 2: the vector of 'dog' is not finite"),
        (b"cat 1 2\ndog 4 -inf\n", r"line 2: the vector of 'dog' is not finite"),
        (b"cat 1 2\ndog 4 1e999\n", r"line 2: the vector of 'dog' is not finite"),
        (b"cat 1 2\ndog 0 0\n", r"line 2: the vector of 'dog' is zero"),
        (b"", r"line 1"),
        (b"\n", r"line 1"),
        (b"cat\ndog\n", r"line 1"),
        (b"cat\t1\t2\n", r"line 1"),
        (gzip.compress(b"", mtime=0), r"line 1"),
        (gzip.compress(b"cat 1 2\n" * 99, mtime=0)[:-9], r"cannot read"),
    ],
)
def test_read_reports_the_place_of_a_fault(tmp_path, raw, says):
    (tmp_path / "v.txt").write_bytes(raw)
    with pytest.raises(SyntfError, match=says):
        WordVectors.read(tmp_path / "v.txt")


def test_read_reports_a_missing_file(tmp_path):
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(SyntfError, match=re.escape(str(path))):
            WordVectors.read(path)


def test_a_gzip_file_with_a_damaged_byte_is_read_or_refused(tmp_path):
    words = [f"word{i}" for i in range(30)]
    raw = gzip.compress(glove(words, np.random.default_rng(4).normal(size=(30, 2)).tolist()))
    path = tmp_path / "v.gz"
    raised = set()
    for place in range(len(raw)):
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 0xFF]) + raw[place + 1 :])
        try:
            WordVectors.read(path)
        except Exception as error:
            raised.add(type(error))
    assert raised == {SyntfError}


def test_an_empty_word_in_a_file_is_refused(tmp_path):
    """'' stands for no known term: as a word it would be the term of every unknown token."""
    (tmp_path / "v.txt").write_bytes(b"cat 1 2\n 3 4\n")
    with pytest.raises(SyntfError, match="line 2"):
        WordVectors.read(tmp_path / "v.txt")


def test_at_returns_rows_of_the_table(toy_vectors):
    assert (toy_vectors.at([3, 0, 3]) == toy_vectors.matrix[[3, 0, 3]]).all()
    assert toy_vectors.at(range(40)) is toy_vectors.matrix
    assert (toy_vectors.at(list(range(40))) == toy_vectors.matrix).all()
    assert (toy_vectors.at(range(39)) == toy_vectors.matrix[:39]).all()
    assert (toy_vectors.at(range(1, 40)) == toy_vectors.matrix[1:]).all()


def test_containment_is_case_sensitive(toy_vectors):
    assert "cat" in toy_vectors
    assert "Cat" not in toy_vectors
    assert toy_vectors.find("Cat") == 0
