"""Every format gives the same int8 table for the same numbers, or says what is wrong and where."""

import gzip
import io
import pickle
import re
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from syntf.core.errors import SyntfError
from syntf.core.progress import shown_by
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
    save(file, words=np.array(words), vectors=matrix)
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
    "npz, bytes": lambda w, m: npz([word.encode() for word in w], m),
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
    made = WordVectors.read(put(PACKED[packed](FORMATS[name](WORDS, NUMBERS))))
    assert list(made.words) == WORDS
    assert made.matrix.dtype == np.int8
    assert (made.matrix == WordVectors.quantize(WORDS, NUMBERS).matrix).all()
    assert made.notes == []


@settings(max_examples=30)
@given(hnp.arrays(np.float32, (3, 4), elements=st.floats(-(2.0**90), 2.0**90, width=32)))
def test_all_formats_agree_on_any_numbers(tmp_path_factory, matrix):
    path = tmp_path_factory.mktemp("any") / "v.bin"
    zero = (matrix == 0).all(axis=1).any()
    wanted = None if zero else WordVectors.quantize(["a", "b", "c"], matrix).matrix
    for name, form in FORMATS.items():
        path = path.with_suffix(".bin" if "binary" in name else ".txt")
        path.write_bytes(form(["a", "b", "c"], matrix))
        if wanted is not None:
            assert (WordVectors.read(path).matrix == wanted).all()
            continue
        with pytest.raises(SyntfError, match=r"the vector of '[abc]' is zero"):
            WordVectors.read(path)


def test_the_regular_way_of_reading_text_agrees_with_the_one_line_by_line(put, monkeypatch):
    words = [f"w{i}" for i in range(300)]
    numbers = np.random.default_rng(2).normal(size=(300, 5)) * 10.0 ** np.arange(-20, 30, 10)
    path = put(text(words, numbers))
    regular = WordVectors.read(path)
    monkeypatch.setattr(vector_files._Lines, "_parse_regular", lambda *_: None)
    by_line = WordVectors.read(path)
    assert list(by_line.words) == list(regular.words) == words
    assert (by_line.matrix == regular.matrix).all()


def test_words_of_glove_with_spaces_are_read(put):
    """Common Crawl's GloVe has such words: '. . .' and 'at name@domain.com'."""
    made = WordVectors.read(put(b"the 1 2\n. . . 3 4\nat name@domain.com -1 2\nend 5 6\n"))
    assert list(made.words) == ["the", ". . .", "at name@domain.com", "end"]
    assert made.matrix.tolist() == [[64, 127], [95, 127], [-64, 127], [106, 127]]


def test_words_with_odd_characters_are_read(put):
    words = ['"', "#", '""', "'", "a,b", "\\", "é", "null", "NaN", "1", "-", "a\u00a0b", "#x"]
    matrix = np.random.default_rng(3).normal(size=(len(words), 4))
    made = WordVectors.read(put(text(words, matrix)))
    assert list(made.words) == words
    assert (made.matrix == WordVectors.quantize(words, matrix).matrix).all()


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_any_line_end_and_any_way_to_write_a_number(put, end):
    made = WordVectors.read(str(put((end or b"\n").join([b"cat 1 2", b"dog -1e-3 +.5"]) + end)))
    assert list(made.words) == ["cat", "dog"]
    assert made.matrix.tolist() == [[64, 127], [0, 127]]


def test_a_tiny_word2vec_file_is_recognised_by_its_suffix(put):
    """Eight bytes that no text rules out: 'a' and two float32 of printable bytes."""
    raw = b"1 2\na " + b"AAAABBBB"
    wanted = WordVectors.quantize(["a"], np.frombuffer(b"AAAABBBB", dtype="<f4")[None]).matrix
    for name in ("v.bin", "v.bin.gz"):
        assert (WordVectors.read(put(raw, name)).matrix == wanted).all()
    with pytest.raises(SyntfError, match=r"line 2 \('a'\) has 1 numbers, line 1 says 2"):
        WordVectors.read(put(raw, "v.txt"))
    whole = WordVectors.read(put(text(WORDS, NUMBERS, header=True), "v.bin"))  # text all the same
    assert (whole.matrix == WordVectors.quantize(WORDS, NUMBERS).matrix).all()


@pytest.mark.parametrize("name", ["v.txt", "v.txt.gz", "v.bin", "v.bin.gz"])
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
    saved.save(str(tmp_path / "v.kv"))
    with pytest.raises(SyntfError, match=r"pickle.*save_word2vec_format"):
        WordVectors.read(tmp_path / "v.kv")


# Broken files


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"a 1 2\nb\nc 3 4\n", r"line 2 \('b'\) has no numbers"),
        (b"a 1 2\n\nb 1 2\n", r"line 2 is empty"),
        (b"a 1 2\nb 1 2\n\n", r"line 3 is empty"),
        (b"a 1 2\nb 1\nc 1 2 3\n", r"line 2 \('b'\) has 1 numbers, line 1 has 2"),
        (b"a 1 2\nb 1 2 3\n", r"line 2 \('b'\) has 3 numbers, line 1 has 2"),
        (b"a 1 2\nb inf 2\n", r"line 2: the vector of 'b' is not finite"),
        (b"a 1 2\nb nan 2\n", r"line 2: the vector of 'b' is not finite"),
        (b"a 1 2\nb 1 1e999\n", r"line 2: the vector of 'b' is not finite"),
        (b"a 1 2\nb 0 -0\n", r"line 2: the vector of 'b' is zero"),
        (b"a 1 2\nb x 0\n", r"line 2 \('b'\) holds something that is not a number"),
        (b"a 1 2\nb 1_0 2\n", r"line 2 \('b'\) holds something that is not a number"),
        (b"a 1 2\nb 1,5 2\n", r"line 2 \('b'\) holds something that is not a number"),
        (b"a 1 2\nb 3 \n", r"line 2 \('b'\) holds something that is not a number"),
        (b"a 1 2\n 1 2\n", r"line 2 has no word"),
        (b"a 1 2 \nb 1 2 3\n", r"line 2 \('b'\) has 3 numbers, line 1 has 2"),
        (b"a 1 2 \nb 1 2 \n \n", r"line 3 is empty"),
        (b"2 2\na 1 2\nb 1 2 3\n", r"line 3 \('b'\) has 3 numbers, line 1 says 2"),
        (b"2 3\na 1 2\nb 3 4\n", r"line 2 \('a'\) has 2 numbers, line 1 says 3"),
        (b"2 2\na 1 2\nb 0 0\n", r"line 3: the vector of 'b' is zero"),
        (b"3 2\na 1 2\nb 1 2\n", r"line 1 announces 3 words and 2 follow"),
        (b"1 2\na 1 2\nb 1 2\n", r"line 1 announces 1 words and 2 follow"),
        (b"3 2\n", r"line 2 has no numbers"),
        (b"0 0\n", r"no word vectors"),
        (b"", r"line 1 has no numbers"),
        (b"\n", r"line 1 has no numbers"),
        (b"cat\ndog\n", r"line 1 has no numbers"),
        (b"cat\t1\t2\n", r"line 1 has no numbers"),
    ],
)
def test_the_first_line_at_fault_is_named(put, raw, says):
    for path in (put(raw), put(gzip.compress(raw), "v.gz")):
        with pytest.raises(SyntfError, match=says):
            WordVectors.read(path)


def test_lines_are_numbered_across_blocks(put, monkeypatch):
    monkeypatch.setattr(vector_files, "BLOCK_BYTES", 1 << 10)
    lines = [f"w{i} {i + 1} 2" for i in range(5000)]
    lines[1234] = "w1234 1"
    path = put("\n".join(lines).encode())
    with pytest.raises(SyntfError) as raised:
        WordVectors.read(path)
    assert str(raised.value) == f"{path}: line 1,235 ('w1234') has 1 numbers, line 1 has 2"
    words, matrix = [f"w{i}" for i in range(900)], np.ones((900, 3), dtype=np.float32)
    matrix[[700, 800]] = 0
    with pytest.raises(SyntfError, match="word 701: the vector of 'w700' is zero"):
        WordVectors.read(put(binary(words, matrix)))


def test_the_first_of_several_vectors_is_kept_and_repeats_are_counted(put):
    words = ["cat", "dog", "cat", "cow", "dog", "cat"]
    matrix = np.arange(1, 13, dtype=np.float32).reshape(6, 2) * [1, -1]
    for name, form in FORMATS.items():
        made = WordVectors.read(put(form(words, matrix)))
        assert list(made.words) == ["cat", "dog", "cow"]
        assert (made.matrix == WordVectors.quantize(words, matrix).matrix[[0, 1, 3]]).all()
        place = "word 3" if "binary" in name or "npz" in name else "line 3"
        place = "line 4" if "word2vec text" in name else place
        (note,) = made.notes
        assert note.startswith("3 words are repeated")
        assert note.endswith(f"(first repetition: 'cat', {place})")


def test_bytes_that_are_not_utf8_are_replaced_and_counted(put):
    for raw in (b"a 1 2\ncaf\xe9 1 3\n\xff 2 1\n", b"a 1 2\ncaf\xe9 1 3\n\xff 2 1\nx y 1 2\n"):
        made = WordVectors.read(put(raw))
        assert list(made.words)[:3] == ["a", "caf\ufffd", "\ufffd"]
        (note,) = made.notes
        assert note.startswith("2 words hold bytes that are not UTF-8")
        assert "line 2" in note


def test_a_binary_file_cut_anywhere_is_refused(put):
    raw = binary(WORDS[:4], NUMBERS[:4])
    for size in range(raw.index(b"\n") + 1, len(raw)):
        with pytest.raises(SyntfError, match=r"announces 4 words of 7 numbers.* ends within word"):
            WordVectors.read(put(raw[:size], "v.bin"))
    with pytest.raises(SyntfError, match="within word 4"):
        WordVectors.read(put(raw[: len(raw) - 4 * 7 - 1], "v.bin"))


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("5 7", "within word 5"), ("3 7", "bytes follow"), ("999999999999 7", "line 1 announces"),
        ("4 999999", "line 1 announces"), ("0 7", "line 1 announces"), ("4 0", "line 1 announces"),
    ],
)  # fmt: skip
def test_a_binary_file_with_another_count_than_its_header_is_refused(put, header, says):
    raw = binary(WORDS[:4], NUMBERS[:4]).partition(b"\n")[2]
    with pytest.raises(SyntfError, match=says):
        WordVectors.read(put(header.encode() + b"\n" + raw, "v.bin"))


@pytest.mark.parametrize("form", [binary, npz])
def test_binary_formats_name_the_first_word_at_fault(put, form):
    matrix = NUMBERS.copy()
    matrix[[3, 5], 2] = np.nan, np.inf
    with pytest.raises(SyntfError, match='word 4: the vector of "dog\'s" is not finite'):
        WordVectors.read(put(form(WORDS, matrix)))
    with pytest.raises(SyntfError, match="word 3 has no word"):
        WordVectors.read(put(form(["a", "b", "", "c"], NUMBERS[:4])))


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
    for raw in (file.getvalue(), gzip.compress(file.getvalue())):
        with pytest.raises(SyntfError, match=r"pickled objects, which are never loaded"):
            WordVectors.read(put(raw, "v.npz"))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(SyntfError):
            WordVectors.read(put(pickle.dumps(Bomb(sign), protocol)))
    assert not sign.exists()
    pickle.loads(pickle.dumps(Bomb(sign)))  # noqa: S301
    assert sign.exists()  # the sign works


def saved(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (saved(words=np.array(["a"])), r"without arrays 'words' and 'vectors'"),
        (saved(words=np.array(["a"]), vectors=np.ones((2, 2))), r"\(2, 2\) do not fit 1 words"),
        (saved(words=np.array(["a"]), vectors=np.ones(1)), r"\(1,\) do not fit 1 words"),
        (saved(words=np.array(["a"]), vectors=np.ones((1, 0))), r"\(1, 0\) do not fit"),
        (saved(words=np.array([1, 2]), vectors=np.ones((2, 2))), r"words must be .* not int64"),
        (saved(words=np.array([["a"]]), vectors=np.ones((1, 2))), r"words must be a row"),
        (saved(words=np.array(["a"]), vectors=np.ones((1, 2), dtype=complex)), r"not complex128"),
        (saved(words=np.array(["a"]), vectors=np.array([["x", "y"]])), r"not <U1"),
        (npz(WORDS, NUMBERS)[:-30], r"cannot read"),
        (b"PK\x03\x04", r"cannot read"),
        (b"PK\x05\x06" + bytes(18), r"without arrays"),
        (b"\x93NUMPY\x01\x00", r"\.npy file"),
        (b"\xba\x16\x4f\x2f\x0c\x00\x00\x00", r"fastText model.*\.vec"),
        (gzip.compress(b"cat 1 2\n" * 99, mtime=0)[:-9], r"cannot read"),
    ],
)
def test_files_that_are_not_a_table_are_refused(put, raw, says):
    with pytest.raises(SyntfError, match=says):
        WordVectors.read(put(raw))


@pytest.mark.parametrize("name", ["npz", "word2vec binary", "word2vec text", "gzip"])
def test_a_file_with_a_damaged_byte_is_read_or_refused(put, name):
    if name == "gzip":
        raw = gzip.compress(text(WORDS[:3], NUMBERS[:3]))
    else:
        raw = FORMATS[name](WORDS[:3], NUMBERS[:3])
    for place in range(len(raw)):
        path = put(raw[:place] + bytes([raw[place] ^ 0xFF]) + raw[place + 1 :], "v.bin")
        try:
            WordVectors.read(path)
        except SyntfError:
            continue


def test_a_missing_file_is_reported(tmp_path):
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(SyntfError, match=re.escape(str(path))):
            WordVectors.read(path)


def test_progress_counts_all_bytes_of_the_file(put, monkeypatch):
    monkeypatch.setattr(vector_files, "BLOCK_BYTES", 1 << 9)
    for form in (*FORMATS.values(), lambda w, m: gzip.compress(text(w, m))):
        calls = []

        @contextmanager
        def listen(name, total, calls=calls):
            calls.append((name, total))
            yield calls.append

        path = put(form(WORDS, NUMBERS))
        with shown_by(listen):
            WordVectors.read(path)
        assert calls[0] == ("reading vectors", path.stat().st_size)
        assert sum(calls[1:]) == path.stat().st_size
