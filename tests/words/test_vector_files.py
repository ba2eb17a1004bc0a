"""Every format gives the same int8 table for the same numbers, or says what is wrong and where."""

import gzip
import io
import pickle
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from syntf.core.errors import SyntfError
from syntf.words import vector_files
from syntf.words.vectors import WordVectors

WORDS = ["</s>", "the", "cat", "dog's", "Ωμέγα", "1", "-", '"', "日本"]
NUMBERS = np.random.default_rng(11).normal(size=(len(WORDS), 7)).astype(np.float32)


def text(words, matrix, *, header=False, end=b"\n"):
    lines = [f"{len(words)} {len(matrix[0])}"] if header else []
    lines += [
        " ".join([word, *map(repr, row)])
        for word, row in zip(words, np.asarray(matrix, dtype=np.float64).tolist(), strict=True)
    ]
    return b"".join(line.encode() + end for line in lines)


def binary(words, matrix, *, end=b""):
    """word2vec's binary form: with a line feed after each vector, as by the original program."""
    rows = np.asarray(matrix, dtype="<f4")
    made = [f"{len(words)} {rows.shape[1]}\n".encode()]
    for word, row in zip(words, rows, strict=True):
        made.append(word.encode() + b" " + row.tobytes() + end)
    return b"".join(made)


def npz(words, matrix, save=np.savez):
    file = io.BytesIO()
    save(file, words=np.array(words), vectors=np.array(matrix))
    return file.getvalue()


FORMATS = {
    "GloVe text": lambda w, m: text(w, m),
    "GloVe text, CRLF": lambda w, m: text(w, m, end=b"\r\n"),
    "GloVe text, byte order mark": lambda w, m: b"\xef\xbb\xbf" + text(w, m),
    "GloVe text, space at the end": lambda w, m: text(w, m, end=b" \n"),
    "word2vec text": lambda w, m: text(w, m, header=True),
    "word2vec text, CRLF": lambda w, m: text(w, m, header=True, end=b"\r\n"),
    "word2vec text, space at the end": lambda w, m: text(w, m, header=True, end=b" \n"),
    "word2vec binary": binary,
    "word2vec binary, line feeds": lambda w, m: binary(w, m, end=b"\n"),
    "npz": npz,
    "npz, compressed": lambda w, m: npz(w, m, np.savez_compressed),
    "npz, float64": lambda w, m: npz(w, m.astype(np.float64)),
}
PACKED = {
    "plain": lambda raw: raw,
    "gzip": gzip.compress,
    "gzip, three members, padded": lambda raw: (
        b"".join(gzip.compress(part) for part in (raw[:9], raw[9:70], raw[70:])) + bytes(100)
    ),
}


@pytest.fixture
def put(tmp_path):
    def write(raw, name="v"):
        (tmp_path / name).write_bytes(raw)
        return tmp_path / name

    return write


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("size", [1 << 22, 300, 1])
def test_all_formats_give_the_same_table(put, monkeypatch, name, packed, size):
    """Whatever the file is called, and wherever its bytes are cut in reading."""
    monkeypatch.setattr(vector_files, "BLOCK_BYTES", size)
    raw = FORMATS[name](WORDS, NUMBERS)
    made = WordVectors.read(put(raw if "npz" in name else PACKED[packed](raw)))
    assert list(made.words) == WORDS
    assert made.matrix.dtype == np.int8
    assert (made.matrix == WordVectors.quantize(WORDS, NUMBERS).matrix).all()


@settings(max_examples=30)
@given(hnp.arrays(np.float32, (3, 4), elements=st.floats(-(2.0**90), 2.0**90, width=32)))
def test_all_formats_agree_on_any_numbers(tmp_path_factory, matrix):
    path = tmp_path_factory.mktemp("any") / "v"
    zero = (matrix == 0).all(axis=1).any()
    wanted = None if zero else WordVectors.quantize(["a", "b", "c"], matrix).matrix
    for form in FORMATS.values():
        path.write_bytes(form(["a", "b", "c"], matrix))
        if wanted is not None:
            assert (WordVectors.read(path).matrix == wanted).all()
            continue
        with pytest.raises(SyntfError, match=r"the vector of '[abc]' is zero"):
            WordVectors.read(path)


def test_words_of_glove_with_spaces_are_read(put):
    """Common Crawl's GloVe has such words: '. . .' and 'at name@domain.com'."""
    made = WordVectors.read(put(b"the 1 2\n. . . 3 4\nat name@domain.com -1 2\nend 5 6\n"))
    assert list(made.words) == ["the", ". . .", "at name@domain.com", "end"]
    assert made.matrix.tolist() == [[64, 127], [95, 127], [-64, 127], [106, 127]]


def test_words_with_odd_characters_are_read(put):
    words = ['"', "#", '""', "'", "a,b", "\\", "é", "null", "NaN", "1", "-", "a\u00a0b", "#x"]
    matrix = np.random.default_rng(3).normal(size=(len(words), 4))
    made = WordVectors.read(put(text(words, matrix) + b"\xff 1 1 1 1"))
    assert list(made.words) == [*words, "\ufffd"]
    assert (made.matrix[:-1] == WordVectors.quantize(words, matrix).matrix).all()
    assert WordVectors.read(put(b"cat -1e-3 +.5")).matrix.tolist() == [[0, 127]]


@pytest.mark.parametrize("name", ["v.txt", "v.bin.gz"])
def test_files_of_gensim_are_read_as_gensim_reads_them(tmp_path, name):
    gensim = pytest.importorskip("gensim.models", reason="needs gensim: pip install gensim")
    path = str(tmp_path / name)
    saved = gensim.KeyedVectors(vector_size=7)
    saved.add_vectors(WORDS, NUMBERS)
    saved.save_word2vec_format(path, binary=".bin" in name)
    theirs = gensim.KeyedVectors.load_word2vec_format(path, binary=".bin" in name)
    made = WordVectors.read(path)
    assert list(made.words) == theirs.index_to_key == WORDS
    assert (made.matrix == WordVectors.quantize(WORDS, theirs.vectors).matrix).all()


def test_the_first_of_several_vectors_of_a_word_is_kept(put):
    words = ["cat", "dog", "cat", "cow", "dog", "cat"]
    matrix = np.arange(1, 13, dtype=np.float32).reshape(6, 2) * [1, -1]
    for form in FORMATS.values():
        made = WordVectors.read(put(form(words, matrix)))
        assert list(made.words) == ["cat", "dog", "cow"]
        assert (made.matrix == WordVectors.quantize(words, matrix).matrix[[0, 1, 3]]).all()


# Broken files


def saved(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"a 1 2\nb\nc 3 4\n", r"line 2 \('b'\) is not a word and 2 numbers"),
        (b"a 1 2\n\nb 1 2\n", "line 2 "),
        (b"a 1 2\nb 1 2\n\n", "line 3 "),
        (b"a 1 2\nb 1\nc 1 2 3\n", "line 2 "),
        (b"a 1 2\nb 1 2 3\n", "line 2 "),
        (b"a 1 2\nb x 0\n", "line 2 "),
        (b"a 1 2\nb 1_0 2\n", "line 2 "),
        (b"a 1 2\nb 1,5 2\n", "line 2 "),
        (b"a 1 2\nb 3 \n", "line 2 "),
        (b"a 1 2\nb inf 2\n", "the vector of 'b' is not finite"),
        (b"a 1 2\nb nan 2\n", "the vector of 'b' is not finite"),
        (b"a 1 2\nb 1 1e999\n", "the vector of 'b' is not finite"),
        (b"a 1 2\nb 0 -0\n", "the vector of 'b' is zero"),
        (b"a 1 2\n 1 2\n", "a vector has no word"),
        (b"2 2\na 1 2\nb 1 2 3\n", "line 3 "),
        (b"3 2\na 1 2\nb 1 2\n", "announces 3 words of 2 numbers, and 2 follow"),
        (b"1 2\na 1 2\nb 1 2\n", "announces 1 words of 2 numbers, and 2 follow"),
        (b"2 3\na 1 2\nb 3 4\n", "line 1 is wrong"),
        (b"3 2\n", "line 1 "),
        (b"0 0\n", "the vector of '0' is zero"),
        (b"", "line 1 "),
        (b"cat\ndog\n", "line 1 .* is not a word and 1 numbers"),
        (b"cat\t1\t2\n", "line 1 "),
        (gzip.compress(b"cat 1 2\n" * 99, mtime=0)[:-9], "cannot read"),
        (npz(WORDS, NUMBERS)[:-30], "is not an .npz file"),
        (saved(words=np.array(["a"])), "is not an .npz file"),
        (saved(words=np.array([1, 2]), vectors=np.ones((2, 2))), "is not an .npz file"),
        (saved(words=np.array(["a"]), vectors=np.ones((2, 2))), r"\(2, 2\) do not fit 1 words"),
        (saved(words=np.array(["a"]), vectors=np.array([["x", "y"]])), "not <U1"),
        (saved(words=np.array(["a"]), vectors=np.array([[1, np.nan]])), "'a' is not finite"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused(put, raw, says):
    with pytest.raises(SyntfError, match=says):
        WordVectors.read(put(raw))


def test_lines_are_numbered_across_blocks(put, monkeypatch):
    monkeypatch.setattr(vector_files, "BLOCK_BYTES", 1 << 10)
    lines = [f"w{i} {i + 1} 2" for i in range(5000)]
    lines[1234] = "w1234 1"
    with pytest.raises(SyntfError, match=r"line 1,235 \('w1234'\)"):
        WordVectors.read(put("\n".join(lines).encode()))


def test_a_binary_file_cut_anywhere_is_refused(put):
    raw = binary(WORDS[:4], NUMBERS[:4])
    for size in range(raw.index(b"\n") + 1, len(raw)):
        with pytest.raises(SyntfError, match="the file is incomplete, or line 1 is wrong"):
            WordVectors.read(put(raw[:size]))


@pytest.mark.parametrize("header", ["5 7", "3 7", "999999999999 7", "4 999999", "4 6", "4 8"])
def test_a_binary_file_with_another_count_than_its_header_is_refused(put, header):
    raw = binary(WORDS[:4], NUMBERS[:4]).partition(b"\n")[2]
    with pytest.raises(SyntfError):
        WordVectors.read(put(header.encode() + b"\n" + raw))


class Bomb:
    """Unpickled, it leaves a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_nothing_is_ever_unpickled(tmp_path, put):
    sign = tmp_path / "unpickled"
    file = io.BytesIO()
    words = np.array([Bomb(sign), "b"], dtype=object)
    np.savez(file, words=words, vectors=np.ones((2, 2)), allow_pickle=True)
    for raw in (file.getvalue(), *(pickle.dumps(Bomb(sign), protocol) for protocol in range(6))):
        with pytest.raises(SyntfError):
            WordVectors.read(put(raw))
    assert not sign.exists()
    pickle.loads(pickle.dumps(Bomb(sign)))  # noqa: S301
    assert sign.exists()  # the sign works


@pytest.mark.parametrize("name", ["npz", "word2vec binary", "word2vec text", "gzip"])
def test_a_file_with_a_damaged_byte_is_read_or_refused(put, name):
    if name == "gzip":
        raw = gzip.compress(text(WORDS[:3], NUMBERS[:3]))
    else:
        raw = FORMATS[name](WORDS[:3], NUMBERS[:3])
    for place in range(len(raw)):
        path = put(raw[:place] + bytes([raw[place] ^ 0xFF]) + raw[place + 1 :])
        with suppress(SyntfError):
            WordVectors.read(path)
