"""Every format gives the same int8 table for the same numbers, or says what is wrong and where."""

import gzip
import io
import os
import pickle
import zlib
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from syntf.core.errors import SyntfError
from syntf.vectors import files, text_files
from syntf.vectors.word_vectors import WordVectors

GLOVE = os.environ.get("SYNTF_GLOVE", "")
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
@pytest.mark.parametrize("piece", [1 << 22, 300])
def test_all_formats_give_the_same_table(put, monkeypatch, name, packed, piece):
    """Whatever the file is called, and wherever its bytes are cut in reading."""
    monkeypatch.setattr(files, "PIECE_BYTES", piece)
    path = put(PACKED[packed](FORMATS[name](WORDS, NUMBERS)))
    made = WordVectors.read(path)
    assert list(made.words) == WORDS
    assert made.matrix.dtype == np.int8
    assert (made.matrix == WordVectors.quantize(WORDS, NUMBERS).matrix).all()
    assert made.notes == []
    assert files.kind(path) == name.partition(",")[0]


@given(hnp.arrays(np.float32, (3, 4), elements=st.floats(-(2.0**90), 2.0**90, width=32)))
def test_all_formats_agree_on_any_numbers(tmp_path_factory, matrix):
    path = tmp_path_factory.mktemp("any") / "v.bin"
    zero = int((matrix == 0).all(axis=1).sum())
    wanted = None if zero else WordVectors.quantize(["a", "b", "c"], matrix).matrix
    for name, form in FORMATS.items():
        path = path.with_suffix(".bin" if "binary" in name else ".txt")
        path.write_bytes(form(["a", "b", "c"], matrix))
        if wanted is not None:
            assert (WordVectors.read(path).matrix == wanted).all()
            continue
        with pytest.raises(SyntfError, match=rf"is zero \(in all: {zero} zero\)"):
            WordVectors.read(path)


def test_lines_are_whole_wherever_pieces_end():
    raw = b"\xef\xbb\xbfcat 1 2\n\nlonger-word 3 4\nend 5 6"
    for size in range(1, len(raw) + 1):
        pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
        lines = list(text_files.whole_lines(pieces))
        assert b"".join(lines) == raw[3:]
        assert all(line.endswith(b"\n") for line in lines[:-1])


def test_a_tiny_word2vec_file_is_recognised_by_its_suffix(put):
    """Eight bytes that no text rules out: 'a' and two float32 of printable bytes."""
    raw = b"1 2\na " + b"AAAABBBB"
    values = np.frombuffer(b"AAAABBBB", dtype="<f4")
    wanted = WordVectors.quantize(["a"], values[None]).matrix
    for name in ("v.bin", "v.bin.gz"):
        assert (WordVectors.read(put(raw, name)).matrix == wanted).all()
    with pytest.raises(SyntfError, match=r"line 2 \('a'\) has 1 numbers, line 1 says 2"):
        WordVectors.read(put(raw, "v.txt"))


def test_text_is_text_whatever_its_suffix(put):
    assert (
        WordVectors.read(put(text(WORDS, NUMBERS, header=True), "v.bin")).matrix
        == WordVectors.quantize(WORDS, NUMBERS).matrix
    ).all()


@pytest.mark.skipif(not Path(GLOVE).is_file(), reason="set SYNTF_GLOVE to glove.6B.100d.txt[.gz]")
def test_the_first_lines_of_glove_in_all_formats(put):
    with (gzip.open if GLOVE.endswith(".gz") else open)(GLOVE, "rt", encoding="utf-8") as file:
        rows = [next(file).split() for _ in range(20_000)]
    words = [row[0] for row in rows]
    decimal = np.array([row[1:] for row in rows], dtype=np.float64)
    full = WordVectors.read(GLOVE)
    assert list(full.words[:20_000]) == words
    assert (full.matrix[:20_000] == np.rint(  # the definition, spelt out
        decimal / np.abs(decimal).max(axis=1, keepdims=True) * 127)).all()  # fmt: skip
    single = decimal.astype(np.float32)
    wanted = WordVectors.quantize(words, single).matrix
    for form in FORMATS.values():
        made = WordVectors.read(put(form(words, single)))
        assert list(made.words) == words
        assert (made.matrix == wanted).all()


# gensim


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
    assert (theirs.vectors == NUMBERS).all()


def test_pickles_of_gensim_are_refused(tmp_path):
    gensim = pytest.importorskip("gensim.models", reason="needs gensim: pip install gensim")
    saved = gensim.KeyedVectors(vector_size=7)
    saved.add_vectors(WORDS, NUMBERS)
    saved.save(str(tmp_path / "v.kv"))
    with pytest.raises(SyntfError, match=r"pickle.*save_word2vec_format"):
        WordVectors.read(tmp_path / "v.kv")


# What is wrong, where, and how often


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (
            b"a 1 2\nb\nc 3 4\nd\n\n",
            r"line 2 \('b'\) has no numbers \(in all: 3 without a vector\)",
        ),
        (b"a 1 2\n\nb 1 2\n", r"line 2 is empty \(in all: 1 without a vector\)"),
        (
            b"a 1 2\nb 1\nc 1 2 3\nd 1 nan\ne 0 0\nf 0 -0\n",
            r"line 2 \('b'\) has 1 numbers, line 1 has 2 "
            r"\(in all: 2 of other dimensions, 1 not finite, 2 zero\)",
        ),
        (b"a 1 2\nb inf 2\nc 1 2\nd -inf nan\n", r"line 2: .* \(in all: 2 not finite\)"),
        (b"a 1 2\nb 0 0\nc 1 2\nd 0 -0\n", r"line 2: the vector of 'b' is zero \(in all: 2 zero\)"),
        (b"a 1 2\nb x 0\nc 1 ?\n", r"line 2 \('b'\) .* \(in all: 2 not a number\)"),
        (b"a 1 2\n 1 2\n", r"line 2 has no word \(in all: 1 without a word\)"),
        (b"a 1 2 \nb 1 2 3\n", r"line 2 \('b'\) has 3 numbers, line 1 has 2"),
        (b"a 1 2 \nb 1 2 \n \n", r"line 3 is empty"),
        (b"2 2\na 1 2\nb 1 2 3\n", r"line 3 \('b'\) has 3 numbers, line 1 says 2"),
        (b"2 2\na 1 2\nb 0 0\n", r"line 3: the vector of 'b' is zero"),
        (b"3 2\na 1 2\nb 1 2\n", r"line 1 announces 3 words and 2 follow"),
        (b"1 2\na 1 2\nb 1 2\n", r"line 1 announces 1 words and 2 follow"),
        (b"3 2\n", r"line 2 has no numbers"),
        (b"0 0\n", r"no word vectors"),
    ],
)
def test_text_is_refused_with_the_first_line_at_fault_and_counts(put, raw, says):
    for path in (put(raw), put(gzip.compress(raw), "v.gz")):
        with pytest.raises(SyntfError, match=says):
            WordVectors.read(path)


def test_faults_are_counted_over_all_pieces_with_their_lines(put, monkeypatch):
    monkeypatch.setattr(files, "PIECE_BYTES", 1 << 10)
    lines = [f"w{i} {i + 1} 2" for i in range(5000)]
    for i in (1234, 3000, 4999):
        lines[i] = f"w{i} 1"
    lines[4000] = "w4000 0 0"
    path = put("\n".join(lines).encode())
    with pytest.raises(SyntfError) as raised:
        WordVectors.read(path)
    assert str(raised.value) == (
        f"{path}: line 1,235 ('w1234') has 1 numbers, line 1 has 2 "
        "(in all: 3 of other dimensions, 1 zero)"
    )


def test_duplicates_are_counted_and_the_first_kept_in_every_format(put):
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


def test_bytes_that_are_not_utf8_are_counted(put):
    made = WordVectors.read(put(b"a 1 2\ncaf\xe9 1 3\n\xff 2 1\n"))
    assert list(made.words) == ["a", "caf\ufffd", "\ufffd"]
    (note,) = made.notes
    assert note.startswith("2 words hold bytes that are not UTF-8")
    assert "line 2" in note


def test_a_binary_file_cut_anywhere_is_refused(put):
    raw = binary(WORDS[:4], NUMBERS[:4])
    for size in range(raw.index(b"\n") + 1, len(raw)):
        path = put(raw[:size], "v.bin")
        with pytest.raises(SyntfError, match=r"announces 4 words of 7 numbers.* ends within word"):
            WordVectors.read(path)
    last = len(raw) - 4 * 7 - 1
    with pytest.raises(SyntfError, match="within word 4"):
        WordVectors.read(put(raw[:last], "v.bin"))


@pytest.mark.parametrize(("promised", "says"), [("5 7", "within word 5"), ("3 7", "bytes follow")])
def test_a_binary_file_with_another_count_than_its_header_is_refused(put, promised, says):
    raw = binary(WORDS[:4], NUMBERS[:4]).partition(b"\n")[2]
    with pytest.raises(SyntfError, match=says):
        WordVectors.read(put(promised.encode() + b"\n" + raw, "v.bin"))


@pytest.mark.parametrize("header", ["999999999999 7", "4 999999", "0 7", "4 0", "0 0"])
def test_a_binary_file_with_an_absurd_header_is_refused(put, header):
    raw = binary(WORDS[:4], NUMBERS[:4]).partition(b"\n")[2]
    with pytest.raises(SyntfError, match="line 1 announces"):
        WordVectors.read(put(header.encode() + b"\n" + raw, "v.bin"))


@pytest.mark.parametrize("form", [binary, npz])
def test_binary_formats_name_the_first_word_at_fault_and_count(put, form):
    matrix = NUMBERS.copy()
    matrix[[3, 5], 2] = np.nan, np.inf
    matrix[6] = 0
    with pytest.raises(SyntfError) as raised:
        WordVectors.read(put(form(WORDS, matrix)))
    assert 'word 4: the vector of "dog\'s" is not finite' in str(raised.value)
    assert "(in all: 2 not finite, 1 zero)" in str(raised.value)
    with pytest.raises(SyntfError, match=r"word 3 is empty \(in all: 1 without a word\)"):
        WordVectors.read(put(form(["a", "b", "", "c"], NUMBERS[:4])))


def test_faults_in_a_binary_file_are_numbered_across_pieces(put, monkeypatch):
    monkeypatch.setattr(files, "PIECE_BYTES", 1 << 10)
    words = [f"w{i}" for i in range(900)]
    matrix = np.ones((900, 3), dtype=np.float32)
    matrix[[700, 800]] = 0
    with pytest.raises(SyntfError, match=r"word 701: the vector of 'w700' .*\(in all: 2 zero\)"):
        WordVectors.read(put(binary(words, matrix)))


class Bomb:
    """Unpickled, it leaves a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_nothing_is_ever_unpickled(tmp_path, put):
    sign = tmp_path / "unpickled"
    file = io.BytesIO()
    np.savez(
        file,
        words=np.array([Bomb(sign), "b"], dtype=object),
        vectors=np.ones((2, 2)),
        allow_pickle=True,
    )
    for raw in (file.getvalue(), gzip.compress(file.getvalue())):
        with pytest.raises(SyntfError, match=r"pickled objects, which are never loaded"):
            WordVectors.read(put(raw, "v.npz"))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(SyntfError, match=r"pickle"):
            WordVectors.read(put(pickle.dumps(Bomb(sign), protocol)))
    with pytest.raises(SyntfError):
        WordVectors.read(put(pickle.dumps(Bomb(sign), 0)))
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
        (saved(vectors=np.ones((1, 2))), r"without arrays 'words' and 'vectors'"),
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
    ],
)
def test_values_that_are_not_a_table_are_refused(put, raw, says):
    with pytest.raises(SyntfError, match=says):
        WordVectors.read(put(raw))


@pytest.mark.parametrize("name", ["npz", "npz, compressed", "word2vec binary", "word2vec text"])
def test_a_file_with_a_damaged_byte_is_read_or_refused(put, name):
    raw = FORMATS[name](WORDS[:3], NUMBERS[:3])
    for place in range(len(raw)):
        path = put(raw[:place] + bytes([raw[place] ^ 0xFF]) + raw[place + 1 :], "v.bin")
        try:
            WordVectors.read(path)
        except SyntfError:
            continue


# Progress, and the standard library in place of isal


def test_progress_counts_all_bytes_of_the_file(put, monkeypatch):
    monkeypatch.setattr(files, "PIECE_BYTES", 1 << 9)
    progress_calls = []

    @contextmanager
    def stages(name, total):
        progress_calls.append((name, total))
        yield progress_calls.append

    for form in (*FORMATS.values(), lambda w, m: gzip.compress(text(w, m))):
        progress_calls.clear()
        path = put(form(WORDS, NUMBERS))
        WordVectors.read(path, stages)
        size = path.stat().st_size
        assert progress_calls[0] == ("reading vectors", size)
        assert sum(progress_calls[1:]) == size


@pytest.mark.parametrize("cut", [None, -1, -8, -9, 30])
def test_gzip_is_read_without_isal(put, monkeypatch, cut):
    path = put(gzip.compress(text(WORDS, NUMBERS))[:cut])
    found = []
    for module in (files.inflating, zlib):
        monkeypatch.setattr(files, "inflating", module)
        try:
            found.append(WordVectors.read(path).matrix.tolist())
        except SyntfError as error:
            found.append("cannot read" in str(error))
    assert found[0] == found[1]
    assert (found[0] is True) == (cut is not None)
