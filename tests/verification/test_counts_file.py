"""Files of counts from untrusted releases: what syntf writes passes, any other byte is refused."""

import io
import pickle
import re
import zipfile
import zlib
from contextlib import suppress
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, load_npz

from syntf.core.errors import SyntfError
from syntf.releases.contents import archive
from syntf.releases.contents.archive import npy_pieces
from syntf.releases.contents.writers import WRITERS
from syntf.verification import counts_file
from syntf.verification.counts_file import Expected, read_counts

TERMS = ["zebra", "apple", "naïve", 'say-"hi"', "égal", "猫"]
ROWS = [[0, 2, 0, 1, 0, 4], [7, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 2]]
FORMATS = sorted(WRITERS)


def matrix(rows):
    return csr_matrix(np.array(rows, dtype=np.int32).reshape(-1, len(TERMS)))


def expected(rows=3, first=0, length=7):
    return Expected(TERMS, rows, first, length)


def read(path, told):
    """Read a file; returns its number of rows."""
    return read_counts(path, told).counts.shape[0]


@pytest.fixture
def written(tmp_path):
    def write(format, counts, first=0):
        suffix, writer = WRITERS[format]
        path = tmp_path / f"vectors{suffix}"
        with path.open("wb") as file:
            writer(file, counts if isinstance(counts, csr_matrix) else matrix(counts), TERMS, first)
        return path

    return write


def test_every_format_has_a_reader():
    assert set(counts_file.READERS) == {suffix for suffix, _ in WRITERS.values()}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("first", [0, 65_536])
def test_written_counts_pass(written, format, first):
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
        patch.setattr(counts_file, "CHECKED_ROWS", 4)  # blocks that end within a file
        assert read(path, expected(len(rows), length=9)) == len(rows)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("row", range(3))
@pytest.mark.parametrize("change", [-1, 1])
def test_a_word_more_or_less_is_found_in_the_document_it_is_in(written, format, row, change):
    rows = [list(one) for one in ROWS]
    rows[row][5 if rows[row][5] > 1 else 0] += change
    path = written(format, rows, first=10)
    with pytest.raises(
        SyntfError, match=rf"vectors.*({13 - 3 + row} has {7 + change} words|between 1 and 7)"
    ):
        read(path, expected(first=10))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("rows", [2, 4])
def test_the_number_of_rows_must_be_that_of_documents(written, format, rows):
    with pytest.raises(SyntfError, match=r"vectors"):
        read(written(format, ROWS), expected(rows))


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_documents_are_numbered_from_the_first(written, format):
    with pytest.raises(SyntfError, match=r"numbered in order|bytes are not those"):
        read(written(format, ROWS, first=1), expected())


@pytest.mark.parametrize("format", ["npz", "parquet", "mtx", "svmlight", "jsonl"])
def test_a_negative_count_is_refused_though_the_sum_is_right(written, format):
    rows = [[-1, 3, 0, 1, 0, 4], *ROWS[1:]]
    with pytest.raises(SyntfError, match=r"between 1 and 7|bytes are not those"):
        read(written(format, rows), expected())


@pytest.mark.parametrize("format", ["npz", "parquet", "mtx", "svmlight", "jsonl"])
def test_a_repeated_term_is_refused(written, format):
    twice = csr_matrix((3, 6), dtype=np.int32)
    twice.indptr = np.array([0, 2, 3, 4], dtype=np.int32)
    twice.indices = np.array([1, 1, 0, 2], dtype=np.int32)
    twice.data = np.array([3, 4, 7, 7], dtype=np.int32)
    path = written(format, twice)
    if format == "jsonl":  # the writer's dict has it once
        assert b'"apple": 4' in path.read_bytes()
        path.write_bytes(path.read_bytes().replace(b'"apple": 4', b'"apple": 3, "apple": 4'))
    with pytest.raises(SyntfError, match=r"repeated or not in order|bytes are not those|4 words"):
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
def test_a_truncated_file_is_refused(written, format):
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


def write_npz(path, **changed):
    """Write an archive as syntf does, with other arrays."""
    members = [
        archive.packed(f"{name}.npy", npy_pieces(array, array.dtype))
        for name, array in arrays(**changed).items()
    ]
    with path.open("wb") as file:
        archive.write(file, members)


@pytest.mark.parametrize(
    "changed",
    [
        {"format": np.array(b"csc")},
        {"shape": np.array([3, 7])},
        {"shape": np.array([3, 6, 1])},
        {"shape": np.array([3.0, 6.0])},
        {"indptr": np.array([0, 3, 4, 9], dtype="i4")},
        {"indptr": np.array([0, 4, 3, 10], dtype="i4")},
        {"indptr": np.array([1, 3, 4, 10], dtype="i4")},
        {"indptr": np.array([0, 3, 4, 1 << 30], dtype="i4")},
        {"indptr": np.array([0, 3, 4, 10], dtype="i8")},
        {"indptr": np.array([0, 3, 10], dtype="i4")},
        {"indices": np.array([1, 3, 5, 0, 0, 1, 2, 3, 4, 6], dtype="i4")},
        {"indices": np.array([-1, 3, 5, 0, 0, 1, 2, 3, 4, 5], dtype="i4")},
        {"indices": np.array([1, 3, 5, 0, 0, 1, 2, 3, 5, 4], dtype="i4")},
        {"data": np.array([2, 1, 4, 7, 1, 1, 1, 1, 1], dtype="i4")},
        {"data": matrix(ROWS).data.astype(np.int64)},
        {"data": matrix(ROWS).data.astype(np.float64)},
        {"data": matrix(ROWS).data.reshape(2, 5)},
        {"data": None},
        {"secret": np.array([1])},
    ],
)  # fmt: skip
def test_arrays_that_are_not_counts_are_refused(tmp_path, changed):
    path = tmp_path / "vectors.npz"
    write_npz(path)
    assert read(path, expected()) == 3
    write_npz(path, **changed)
    with pytest.raises(SyntfError, match=r"^vectors"):
        read(path, expected())


def test_a_size_in_a_header_is_not_believed(tmp_path):
    """A terabyte is claimed: were it allocated, this test would not end."""
    path = tmp_path / "vectors.npz"
    header = io.BytesIO()
    claim = {"descr": "<i4", "fortran_order": False, "shape": (1 << 38,)}
    np.lib.format.write_array_header_1_0(header, claim)
    for name in ("data", "indices", "indptr"):
        members = [
            archive.packed(
                f"{member}.npy",
                [header.getvalue()] if member == name else npy_pieces(array, array.dtype),
            )
            for member, array in arrays().items()
        ]
        with path.open("wb") as file:
            archive.write(file, members)
        with pytest.raises(SyntfError, match=f"the array {name}"):
            read(path, expected())


class Trap:
    """Loading a pickle of this fails the test."""

    def __reduce__(self):
        return (pytest.fail, ("unpickled",))


def test_nothing_is_unpickled(tmp_path):
    path = tmp_path / "vectors.npz"
    np.savez(path, **arrays(data=np.array([Trap()] * 10, dtype=object)))
    with pytest.raises(SyntfError, match=r"^vectors"):
        read(path, expected())


# Hidden contents: values are right, but the file has bytes that syntf does not write


def repacked(raw, **changed):
    """The archive with the same arrays, written by the standard library."""
    found = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(found, "w") as new:
        new.comment = changed.get("comment", b"")
        for name in changed.get("order", old.namelist()):
            info = zipfile.ZipInfo(name)
            info.compress_type = changed.get("method", zipfile.ZIP_DEFLATED)
            info.extra, info.comment = changed.get("extra", b""), changed.get("entry", b"")
            new.writestr(info, old.read(name) + changed.get("after", b""))
    return found.getvalue()


ORDER = ["data.npy", "shape.npy", "format.npy", "indptr.npy", "indices.npy"]
HIDING = {
    "bytes before the archive": lambda raw: b"secret" + raw,
    "a pickle before the archive": lambda raw: pickle.dumps(Trap()) + raw,
    "bytes after the archive": lambda raw: raw + b"secret",
    "a comment of the archive": lambda raw: repacked(raw, comment=b"secret"),
    "a comment of an entry": lambda raw: repacked(raw, entry=b"secret"),
    "an extra field": lambda raw: repacked(raw, extra=b"\xfe\xca\x06\x00secret"),
    "bytes after each array": lambda raw: repacked(raw, after=b"secret"),
    "another order": lambda raw: repacked(raw, order=ORDER),
    "no compression": lambda raw: repacked(raw, method=zipfile.ZIP_STORED),
    "time stamps": repacked,
    "bytes between members": lambda raw: raw.replace(b"PK\3\4", b"secretPK\3\4"),
    "a comment in the old header": lambda raw: raw[:-2] + b"\6\0secret",
}


@pytest.mark.parametrize("how", HIDING)
def test_hidden_contents_of_an_archive_are_refused(written, how):
    path = written("npz", ROWS)
    path.write_bytes(HIDING[how](path.read_bytes()))
    with suppress(Exception):
        assert load_npz(path).toarray().tolist() == ROWS  # other programs see nothing wrong
    with pytest.raises(SyntfError, match=r"^vectors"):
        read(path, expected())


def test_bytes_after_a_packed_array_are_refused(tmp_path):
    members = [
        archive.packed(f"{name}.npy", npy_pieces(array, array.dtype))
        for name, array in arrays().items()
    ]
    path = tmp_path / "vectors.npz"
    for hidden in ([*members[0].packed, b"secret"], [b"".join(members[0].packed)[:-1]]):
        with path.open("wb") as file:
            archive.write(file, [replace(members[0], packed=hidden), *members[1:]])
        with pytest.raises(SyntfError, match=r"^vectors"):
            read(path, expected())


def test_text_in_the_header_of_an_array_is_refused(tmp_path):
    path, members = tmp_path / "vectors.npz", []
    for name, array in arrays().items():
        content = b"".join(npy_pieces(array, array.dtype))
        member = archive.packed(f"{name}.npy", [content])
        if name == "data":  # same size, and the checksum of the right header
            changed = content.replace(b"      \n", b"#hide \n")
            assert changed != content
            packed = archive.packed(f"{name}.npy", [changed]).packed
            member = replace(member, packed=packed)
        members.append(member)
    with path.open("wb") as file:
        archive.write(file, members)
    with pytest.raises(SyntfError, match=r"^vectors.*data"):
        read(path, expected())


def test_another_way_of_packing_passes_and_is_reported(tmp_path):
    path = tmp_path / "vectors.npz"
    members = []
    for name, array in arrays().items():
        content = b"".join(npy_pieces(array, array.dtype))
        packing = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packing.compress(content) + packing.flush()
        member = archive.packed(f"{name}.npy", [content])
        members.append(replace(member, packed=[packed]))
    with path.open("wb") as file:
        archive.write(file, members)
    assert not read_counts(path, expected()).compared
    write_npz(path)
    assert read_counts(path, expected()).compared


def test_very_many_packed_bytes_are_refused(tmp_path):
    """Parts of a packed array that unpack to nothing could hold a text."""
    path = tmp_path / "vectors.npz"
    members = [
        archive.packed(f"{name}.npy", npy_pieces(array, array.dtype))
        for name, array in arrays().items()
    ]
    for count, refused in ((100, False), (1000, True)):
        empty_parts = b"\x00\x00\x00\xff\xff" * count
        with path.open("wb") as file:
            first = replace(members[0], packed=[empty_parts, *members[0].packed])
            archive.write(file, [first, *members[1:]])
        assert load_npz(path).toarray().tolist() == ROWS
        if refused:
            with pytest.raises(SyntfError, match="indices is packed into very many bytes"):
                read(path, expected())
        else:
            assert not read_counts(path, expected()).compared


@pytest.mark.parametrize(
    ("format", "old", "new"),
    [
        ("jsonl", b'"document": 0', b'"document": false'),
        ("jsonl", b'"document": 1', b'"document": true'),
        ("jsonl", b'"document": 1', b'"document": 1.0'),
        ("jsonl", b'"document": 1', b'"document":1'),
        ("jsonl", b'"zebra": 7', b'"\\u007aebra": 7'),
        ("jsonl", b'"zebra": 7', b'"zebra": 6, "zebra": 7'),
        ("jsonl", b'"zebra": 7', b'"zebra" : 7'),
        ("jsonl", b"}\n", b"} \n"),
        ("jsonl", b"}\n", b"}\r\n"),
        ("svmlight", b"0 1:7", b"0 01:7"),
        ("svmlight", b"0 1:7", b"0 1:+7"),
        ("svmlight", b"0 1:7", b"0 1:7 # secret"),
        ("mtx", b"%\n", b"% secret\n"),
        ("mtx", b"1 2 2.000000e+00", b"1 2 2.000000e+000"),
        ("mtx", b"1 2 2.000000e+00", b"01 2 2.000000e+00"),
        ("mtx", b"1 2 2.000000e+00", b"1  2 2.000000e+00"),
        ("text", b"zebra\n", b"zebra \n"),
        ("text", b"zebra\n", b"zebra\r\n"),
    ],
)  # fmt: skip
def test_other_spellings_of_the_same_counts_are_refused(written, format, old, new):
    path = edited(written(format, ROWS), old, new)
    with pytest.raises(SyntfError, match=r"^vectors"):
        read(path, expected())


@pytest.mark.parametrize("format", ["mtx", "svmlight", "jsonl", "text", "npz", "parquet"])
@pytest.mark.parametrize("where", ["before", "after"])
def test_bytes_around_the_counts_are_refused(written, format, where):
    path = written(format, ROWS)
    raw = path.read_bytes()
    for hidden in (b"\n", b"secret\n", b"\0", b"# secret\n"):
        path.write_bytes(hidden + raw if where == "before" else raw + hidden)
        with pytest.raises(SyntfError, match=r"^vectors"):
            read(path, expected())


def test_metadata_of_a_parquet_file_is_refused(tmp_path):
    path = tmp_path / "vectors.parquet"
    lists().write_parquet(path, row_group_size=1 << 12)
    assert read(path, expected()) == 3
    lists().write_parquet(path, row_group_size=1 << 12, metadata={"secret": "text"})
    with pytest.raises(SyntfError, match=r"^vectors"):
        read(path, expected())


def other_version(raw):
    """A file of polars as another version of polars would sign it."""
    return re.sub(rb"version \d", b"version 0", raw)


def test_a_file_of_another_version_of_polars_passes_and_is_reported(tmp_path):
    path = tmp_path / "vectors.parquet"
    lists().write_parquet(path, row_group_size=1 << 12)
    assert read_counts(path, expected()).compared
    path.write_bytes(other_version(path.read_bytes()))
    assert not read_counts(path, expected()).compared


def test_hidden_contents_of_another_version_of_polars_are_refused(tmp_path):
    path = tmp_path / "vectors.parquet"
    lists().write_parquet(path, row_group_size=1 << 12, metadata={"secret": "text"})
    path.write_bytes(other_version(path.read_bytes()))
    with pytest.raises(SyntfError, match="other metadata"):
        read(path, expected())
    lists().write_parquet(path, row_group_size=1 << 12)
    raw = other_version(path.read_bytes())
    footer = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    path.write_bytes(raw[:footer] + b"secret" + raw[footer:])
    with pytest.raises(SyntfError, match="do not fill the file"):
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
def test_lists_that_are_not_counts_are_refused(tmp_path, changed):
    path = tmp_path / "vectors.parquet"
    lists().write_parquet(path, row_group_size=1 << 12)
    assert read(path, expected()) == 3
    lists(**changed).write_parquet(path, row_group_size=1 << 12)
    with pytest.raises(SyntfError, match=r"^vectors"):
        read(path, expected())


@pytest.mark.parametrize("format", FORMATS)
def test_damaged_bytes_are_refused_in_one_line(written, format, capfd):
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
    return read(path, Expected(TERMS, 1, 0, 7, by_spark=True))


def vector(**changed):
    return pl.Series([{**VECTOR, **changed}], dtype=SPARK)


def test_rows_written_by_spark_pass(tmp_path):
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
        ({"indices": [1, 6]}, "a column is not in"),
        ({"indices": [4, 1]}, "repeated or not in order"),
        ({"indices": [], "values": []}, "no words or too many"),
        ({"indices": None}, "no words or too many"),
    ],
)
def test_vectors_that_spark_does_not_write_are_refused(tmp_path, changed, told):
    with pytest.raises(SyntfError, match=told):
        by_a_cluster(tmp_path, counts=vector(**changed))


@pytest.mark.parametrize("columns", [{"terms": [["apple"]]}, {"counts": [[7]]}, {"counts": [7]}])
def test_columns_that_spark_does_not_write_are_refused(tmp_path, columns):
    with pytest.raises(SyntfError, match="the columns are not"):
        by_a_cluster(tmp_path, **columns)


def test_a_member_larger_than_its_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "vectors.npz"
    with path.open("wb") as file:
        WRITERS["npz"][1](file, matrix(ROWS), TERMS, 0)
    with zipfile.ZipFile(path) as file:
        infos = file.infolist()
    infos[-1].compress_size = 1 << 62
    with pytest.raises(SyntfError, match="larger than the file"):
        list(counts_file._packed_members(path, infos))
