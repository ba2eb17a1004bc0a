"""Counts read back from a stranger's files: what syntf writes passes, nothing else does."""

import io
import zipfile
from contextlib import suppress

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from syntf.core.errors import SyntfError
from syntf.releases.writers import WRITERS
from syntf.verification import count_readers
from syntf.verification.count_readers import Expected

TERMS = ["zebra", "apple", "naïve", 'say-"hi"', "égal", "猫"]
ROWS = [[0, 2, 0, 1, 0, 4], [7, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 2]]
FORMATS = sorted(WRITERS)


def matrix(rows):
    return csr_matrix(np.array(rows, dtype=np.int32).reshape(-1, len(TERMS)))


def expected(rows=3, first=0, length=7):
    return Expected(TERMS, rows, first, length)


def read(path, told):
    seen = []
    count_readers.check(path, told, seen.append)
    return sum(seen)


@pytest.fixture
def written(tmp_path):
    def write(format, counts, first=0):
        suffix, writer = WRITERS[format]
        path = tmp_path / f"vectors{suffix}"
        with path.open("wb") as file:
            writer(file, counts if isinstance(counts, csr_matrix) else matrix(counts), TERMS, first)
        return path

    return write


def test_every_format_that_is_written_is_read():
    assert set(count_readers.READERS) == {suffix for suffix, _ in WRITERS.values()}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("first", [0, 65_536])
def test_what_was_written_passes(written, format, first):
    assert read(written(format, ROWS, first), expected(first=first)) == 3


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 5), min_size=9, max_size=9), min_size=1, max_size=30))
def test_any_rows_of_n_words_pass_in_any_format(tmp_path_factory, format, draws):
    rows = [np.bincount(row, minlength=6).tolist() for row in draws]
    suffix, writer = WRITERS[format]
    path = tmp_path_factory.mktemp("out") / f"vectors{suffix}"
    with path.open("wb") as file:
        writer(file, matrix(rows), TERMS, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(count_readers, "ROWS", 4)  # blocks that end within a file
        assert read(path, expected(len(rows), length=9)) == len(rows)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("row", range(3))
@pytest.mark.parametrize("change", [-1, 1])
def test_a_word_more_or_less_is_found_in_the_document_it_is_in(written, format, row, change):
    rows = [list(one) for one in ROWS]
    rows[row][5 if rows[row][5] > 1 else 0] += change
    path = written(format, rows, first=10)
    with pytest.raises(
        SyntfError, match=rf"vectors.*({13 - 3 + row} has {7 + change} words|1 … 7)"
    ):
        read(path, expected(first=10))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("rows", [2, 4])
def test_as_many_rows_as_documents(written, format, rows):
    with pytest.raises(SyntfError, match=r"vectors"):
        read(written(format, ROWS), expected(rows))


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_documents_are_numbered_from_the_first(written, format):
    with pytest.raises(SyntfError, match="numbered in order"):
        read(written(format, ROWS, first=1), expected())


@pytest.mark.parametrize("format", ["npz", "parquet", "mtx", "svmlight", "jsonl"])
def test_a_negative_count_is_refused_though_the_sum_is_right(written, format):
    rows = [[-1, 3, 0, 1, 0, 4], *ROWS[1:]]
    with pytest.raises(SyntfError, match=r"count is not in|not a whole one"):
        read(written(format, rows), expected())


@pytest.mark.parametrize("format", ["npz", "parquet", "mtx", "svmlight", "jsonl"])
def test_a_term_that_stands_there_twice_is_refused(written, format):
    twice = csr_matrix((3, 6), dtype=np.int32)
    twice.indptr = np.array([0, 2, 3, 4], dtype=np.int32)
    twice.indices = np.array([1, 1, 0, 2], dtype=np.int32)
    twice.data = np.array([3, 4, 7, 7], dtype=np.int32)
    path = written(format, twice)
    if format == "jsonl":  # the writer's dict has it once
        assert b'"apple": 4' in path.read_bytes()
        path.write_bytes(path.read_bytes().replace(b'"apple": 4', b'"apple": 3, "apple": 4'))
    with pytest.raises(SyntfError, match="repeated or out of order"):
        read(path, expected())


def edited(path, old, new):
    raw = path.read_bytes()
    assert raw.count(old) >= 1
    path.write_bytes(raw.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("format", "old", "new"),
    [
        ("mtx", b"real general", b"real symmetric"),
        ("mtx", b"3 6 10", b"3 6 11"),
        ("mtx", b"3 6 10", b"3 7 10"),
        ("mtx", b"2 1 7.", b"3 1 7."),
        ("mtx", b"1 2 2.000000e+00", b"1 2 2.500000e+00"),
        ("mtx", b"1 2 2.000000e+00", b"1 2 2"),
        ("mtx", b"1 2 2.000000e+00", b"1 2 nan"),
        ("mtx", b"1 2 2.000000e+00", b"1 9 2.000000e+00"),
        ("mtx", b"1 2 2.000000e+00", b"1 0 2.000000e+00"),
        ("svmlight", b"0 1:7", b"1 1:7"),
        ("svmlight", b"1:7", b"1:0_7"),
        ("svmlight", b"1:7", b"7:7"),
        ("svmlight", b"1:7", b"0:7"),
        ("svmlight", b"1:7", b"1:7:7"),
        ("svmlight", b"1:7", b"1:" + b"7" * 5000),
        ("jsonl", b'"zebra": 7', b'"zebra": 7.0'),
        ("jsonl", b'"zebra": 7', b'"zebrb": 7'),
        ("jsonl", b'"zebra": 7', b'"zebra": true'),
        ("jsonl", b'{"zebra": 7}', b'[["zebra", 7]]'),
        ("jsonl", b'"counts": {"zebra": 7}', b'"count": {"zebra": 7}'),
        ("jsonl", b'{"zebra": 7}', b'{"zebra": 7}, "secret": 1'),
        ("jsonl", b'{"zebra": 7}', b'{"zebra": 7}' + b" " * 9999),
        ("jsonl", b'{"zebra": 7}', b"[" * 400 + b"]" * 400),
        ("text", b"zebra zebra", b"zebra zebrb"),
        ("text", b"zebra zebra", b"zebra  zebra"),
        ("text", b"apple apple", b"zebra apple"),
    ],
)  # fmt: skip
def test_text_that_syntf_would_not_write_is_refused(written, format, old, new):
    with pytest.raises(SyntfError, match=r"^vectors"):
        read(edited(written(format, ROWS), old, new), expected())


@pytest.mark.parametrize("format", ["mtx", "svmlight", "jsonl", "text"])
def test_a_file_that_breaks_off_is_refused(written, format):
    path = written(format, ROWS)
    raw = path.read_bytes()
    for size in range(len(raw)):
        path.write_bytes(raw[:size])
        with pytest.raises(SyntfError):
            read(path, expected())


def test_terms_with_spaces_cannot_be_told_apart_in_text(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("a b\n")
    with pytest.raises(SyntfError, match="spaces"):
        read(path, Expected(["a", "b", "a b"], 1, 0, 2))


def arrays(**changed):
    made = matrix(ROWS)
    given = {
        "indices": made.indices, "indptr": made.indptr, "format": np.array(b"csr"),
        "shape": np.array(made.shape), "data": made.data, **changed,
    }  # fmt: skip
    return {name: array for name, array in given.items() if array is not None}


@pytest.mark.parametrize(
    "changed",
    [
        {"data": np.array([{}], dtype=object)},
        {"format": np.array("csr", dtype=object)},
        {"format": np.array(b"csc")},
        {"shape": np.array([3, 7])},
        {"shape": np.array([3, 6, 1])},
        {"shape": np.array([3.0, 6.0])},
        {"indptr": np.array([0, 3, 4, 9])},
        {"indptr": np.array([0, 4, 3, 10])},
        {"indptr": np.array([1, 3, 4, 10])},
        {"indptr": np.array([0, 3, 4, 1 << 60])},
        {"indptr": np.array([0, 3, 10])},
        {"indices": np.array([1, 3, 5, 0, 0, 1, 2, 3, 4, 6])},
        {"indices": np.array([-1, 3, 5, 0, 0, 1, 2, 3, 4, 5])},
        {"indices": np.array([1, 3, 5, 0, 0, 1, 2, 3, 5, 4])},
        {"data": np.array([2, 1, 4, 7, 1, 1, 1, 1, 1])},
        {"data": matrix(ROWS).data.astype(np.float64)},
        {"data": matrix(ROWS).data.reshape(2, 5)},
        {"data": None},
        {"secret": np.array([1])},
    ],
)  # fmt: skip
def test_arrays_that_are_no_counts_are_refused(tmp_path, changed):
    path = tmp_path / "vectors.npz"
    np.savez(path, **arrays())
    assert read(path, expected()) == 3
    np.savez(path, **arrays(**changed))
    with pytest.raises(SyntfError, match=r"^vectors"):
        read(path, expected())


def test_a_size_in_a_header_is_not_believed(tmp_path):
    """A terabyte is claimed: were it allocated, this would not end well."""
    path = tmp_path / "vectors.npz"
    np.savez(path, **arrays())
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = io.BytesIO()
    claim = {"descr": "<i4", "fortran_order": False, "shape": (1 << 38,)}
    np.lib.format.write_array_header_1_0(header, claim)
    for name in ("data", "indices", "indptr"):
        with zipfile.ZipFile(path, "w") as archive:
            for member, raw in members.items():
                archive.writestr(member, header.getvalue() if name in member else raw)
        with pytest.raises(SyntfError, match=f"the array {name}"):
            read(path, expected())


def test_nothing_is_unpickled(tmp_path, monkeypatch):
    """An array of objects is a pickle, and loading one runs whatever it says."""

    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    path = tmp_path / "vectors.npz"
    np.savez(path, **arrays(data=np.array([Trap()] * 10, dtype=object)))
    with pytest.raises(SyntfError, match="the array data"):
        read(path, expected())


def lists(**changed):
    made = {
        "document": [0, 1, 2],
        "terms": [["apple", 'say-"hi"', "猫"], ["zebra"], TERMS],
        "counts": pl.Series([[2, 1, 4], [7], [1, 1, 1, 1, 1, 2]], dtype=pl.List(pl.Int32)),
    }
    return pl.DataFrame({**made, **changed})


@pytest.mark.parametrize(
    "changed",
    [
        {"document": [0, 1, 3]},
        {"document": [0, 1, None]},
        {"document": pl.Series([0, 1, 2], dtype=pl.Int32)},
        {"terms": [["apple", 'say-"hi"', "猫"], None, TERMS]},
        {"terms": [["apple", 'say-"hi"', "猫"], ["dog"], TERMS]},
        {"terms": [["apple", 'say-"hi"', "猫"], [None], TERMS]},
        {"terms": [["apple", 'say-"hi"', "猫"], [], TERMS]},
        {"terms": [["apple", 'say-"hi"'], ["zebra", "猫"], TERMS]},
        {"counts": pl.Series([[2, 1, 4], [None], [1, 1, 1, 1, 1, 2]], dtype=pl.List(pl.Int32))},
        {"counts": pl.Series([[2, 1, 4], None, [1, 1, 1, 1, 1, 2]], dtype=pl.List(pl.Int32))},
        {"counts": pl.Series([[2, 1, 4], [], [1, 1, 1, 1, 1, 2]], dtype=pl.List(pl.Int32))},
        {"counts": [[2.0, 1.0, 4.0], [7.0], [1.0, 1.0, 1.0, 1.0, 1.0, 2.0]]},
        {"secret": ["a", "b", "c"]},
    ],
)  # fmt: skip
def test_lists_that_are_no_counts_are_refused(tmp_path, changed):
    path = tmp_path / "vectors.parquet"
    lists().write_parquet(path)
    assert read(path, expected()) == 3
    lists(**changed).write_parquet(path)
    with pytest.raises(SyntfError, match=r"^vectors"):
        read(path, expected())


@pytest.mark.parametrize("format", FORMATS)
def test_damaged_bytes_are_an_error_for_people(written, format, capfd):
    """Or go unseen here, as in an unused field of an archive; the digest of the file sees them."""
    path = written(format, ROWS)
    raw = path.read_bytes()
    random = np.random.default_rng(7)
    for _ in range(150):
        damaged = bytearray(raw)
        for place in random.integers(0, len(raw), random.integers(1, 5)):
            damaged[place] = random.integers(256)
        path.write_bytes(damaged)
        with suppress(SyntfError):
            read(path, expected())


VECTOR = {"type": 0, "size": 6, "indices": [1, 4], "values": [3.0, 4.0]}
SPARK = pl.Struct(
    {"type": pl.Int8, "size": pl.Int32, "indices": pl.List(pl.Int32),
     "values": pl.List(pl.Float64)}
)  # fmt: skip


def by_a_cluster(tmp_path, **columns):
    path = tmp_path / "part-00000.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return read(path, Expected(TERMS, 1, 0, 7, numbered=False))


def vector(**changed):
    return pl.Series([{**VECTOR, **changed}], dtype=SPARK)


def test_rows_of_a_cluster_pass(tmp_path):
    lists = pl.List(pl.Int32)
    assert by_a_cluster(tmp_path, document=["x"], counts=vector()) == 1
    assert by_a_cluster(tmp_path, terms=[["apple"]], counts=pl.Series([[7]], dtype=lists)) == 1


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"type": 1}, "another kind or size"),
        ({"size": 7}, "another kind or size"),
        ({"values": [3.5, 3.5]}, "not a whole number"),
        ({"values": [float("nan"), 4.0]}, "not a whole number"),
        ({"values": [3.0, 3.0]}, "has 6 words, not 7"),
        ({"values": [7.0]}, "terms and of counts differ"),
        ({"values": [3.0, None]}, "a count is missing"),
        ({"indices": [1, None]}, "a count is missing"),
        ({"indices": [1, 6]}, "a column is not one"),
        ({"indices": [4, 1]}, "repeated or out of order"),
        ({"indices": [], "values": []}, "an impossible size"),
        ({"indices": None}, "terms and of counts differ"),
    ],
)
def test_vectors_that_no_cluster_wrote_are_refused(tmp_path, changed, told):
    with pytest.raises(SyntfError, match=told):
        by_a_cluster(tmp_path, counts=vector(**changed))


@pytest.mark.parametrize("columns", [{"terms": [["apple"]]}, {"counts": [[7]]}, {"counts": [7]}])
def test_columns_that_no_cluster_wrote_are_refused(tmp_path, columns):
    with pytest.raises(SyntfError, match="columns other than"):
        by_a_cluster(tmp_path, **columns)
