"""What stands between the values of a Parquet file that another version or program wrote."""

import io
import json
from functools import partial

import numpy as np
import polars as pl
import pytest
from arro3.io import write_parquet
from parquet_forging import BINARY, I32, I64, LIST, STRUCT, ParquetFile, disguised, written

from syntf.core import tables
from syntf.core.errors import SyntfError
from syntf.verification import parquet_file, parquet_pages
from syntf.verification.parquet_file import check_documents_bytes, check_readable, read_table
from syntf.verification.thrift import Thrift

ROWS = 500
DOCUMENTS = tables.of(
    {
        "topic": tables.strings(["cars", "pets", "", "ça"] * (ROWS // 4)),
        "sender": tables.strings([f"person {number}" for number in range(ROWS)]),
        "prototypes": tables.lists(np.arange(2 * ROWS, dtype=np.int32).reshape(ROWS, 2) % 7),
    }
)
SECRET = b"document 3 says that I resign. " * 99
ARRO3 = "arro3 version 0.0.1"
SPARK = f"parquet-mr version 1.15.2 (build {'0123456789abcdef' * 2}01234567)"


def file_of(name=ARRO3, compression="uncompressed"):
    buffer = io.BytesIO()
    write_parquet(DOCUMENTS, buffer, compression=compression, created_by=name)
    return ParquetFile(buffer.getvalue())


def checked(folder, raw):
    """Check a file as verify does: another process reads it first."""
    path = folder / "documents.parquet"
    path.write_bytes(raw)
    check_readable([path])
    return check_documents_bytes(path, read_table(path))


@pytest.mark.parametrize("name", [ARRO3, SPARK])
@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "gzip(6)", "zstd(3)", "lz4_raw"])
def test_a_file_that_is_put_together_again_passes(tmp_path, name, compression):
    assert not checked(tmp_path, file_of(name, compression).bytes())


def dictionary_entry(file):
    """A value in the dictionary that no row has."""
    file.column("topic").add(0, len(SECRET).to_bytes(4, "little") + SECRET, values=1)


def bytes_in_a_dictionary(file):
    file.column("topic").add(0, SECRET)


def bytes_in_a_page(file):
    file.column("topic").add(-1, SECRET)


def field_of_a_page(file):
    header, _ = file.column("topic").pages[-1]
    header[15] = (BINARY, SECRET)


def statistics_of_a_page(file):
    header, _ = file.column("topic").pages[-1]
    header[5][1][5] = (STRUCT, {5: (BINARY, SECRET), 6: (BINARY, b"pets")})


def statistics(file, *, at):
    file.column("topic").about[12][1][at] = (BINARY, SECRET)


def statistics_of_numbers(file):
    file.column("prototypes").about[12] = (STRUCT, {5: (BINARY, SECRET), 6: (BINARY, SECRET)})


def bloom_filter(file):
    file.column("topic").behind = SECRET
    file.column("topic").about[14] = (I64, 0)


def index(file, *, at, content):
    column = file.column("topic")
    column.behind = written(STRUCT, content) + SECRET * (content == OWN)
    column.chunk[at] = (I64, 0)


def list_of_encodings(file):
    about = file.column("topic").about
    about[2] = (LIST, (I32, [0, 3, 8] * 30))


def list_of_statistics(file):
    about = file.column("topic").about
    about[16] = (STRUCT, {3: (LIST, (I64, list(range(1000))))})


def text_in_place_of_a_number(file, *, part, at):
    parts = {
        "footer": file.footer,
        "column": file.footer[2][1][1][1],
        "row group": file.footer[4][1][1][0],
        "chunk": file.column("topic").chunk,
        "statistics": file.column("topic").about[12][1],
        "page": file.column("topic").pages[-1][0],
        "data page": file.column("topic").pages[-1][0][5][1],
    }
    parts[part][at] = (BINARY, disguised(at, SECRET))


def type_of_the_column(file, *, inner):
    file.footer[2][1][1][1][10] = (STRUCT, {1: (STRUCT, inner)})


def metadata(*entries):
    """Return a function that replaces the metadata in the footer."""
    pairs = [{1: (BINARY, name.encode()), 2: (BINARY, value.encode())} for name, value in entries]

    def change(file):
        file.footer[5] = (LIST, (STRUCT, pairs))

    return change


def schema(**changed):
    column = {"name": "topic", "type": "string", "nullable": True, "metadata": {}, **changed}
    return json.dumps({"type": "struct", "fields": [column]}, separators=(",", ":"))


MIN, MAX = SECRET[:40], SECRET[:40]
OFFSETS = {1: (LIST, (STRUCT, [{1: (I64, 4), 2: (I32, 99), 3: (I64, 0)}] * 9))}
OWN = {1: (LIST, (STRUCT, []))}
BOUNDS = {
    1: (LIST, (1, [2])), 2: (LIST, (BINARY, [MIN])), 3: (LIST, (BINARY, [MAX])), 4: (I32, 0)
}  # fmt: skip
VERSION = ("org.apache.spark.version", "4.0.1")


@pytest.mark.parametrize(
    ("hide", "told"),
    [
        (dictionary_entry, "other values than the column"),
        (bytes_in_a_dictionary, "other values than the column"),
        (bytes_in_a_page, "more than the values"),
        (field_of_a_page, "a field that no writer has"),
        (statistics_of_a_page, "that it does not have"),
        *[(partial(statistics, at=at), "that it does not have") for at in (1, 2, 5, 6)],
        (statistics_of_numbers, "that it does not have"),
        (bloom_filter, "a field that no writer has"),
        (partial(index, at=4, content=OWN), "bytes after an index"),
        (partial(index, at=4, content=OFFSETS), "other pages"),
        (partial(index, at=6, content=BOUNDS), "that it does not have"),
        (partial(index, at=6, content={9: (BINARY, SECRET)}), "a field that no writer has"),
        *[
            (partial(text_in_place_of_a_number, part=part, at=at), "another type|no writer has")
            for part, at in [
                ("footer", 1), ("column", 2), ("column", 9), ("row group", 5), ("row group", 7),
                ("chunk", 2), ("chunk", 5), ("statistics", 3), ("page", 4), ("data page", 4),
            ]
        ],
        *[
            (partial(type_of_the_column, inner=inner), "a field that no writer has")
            for inner in (
                {5: (LIST, (3, list(SECRET)))}, {at: (I64, 1 << 60) for at in range(1, 999)},
            )
        ],
        (list_of_encodings, "twice or very often"),
        (list_of_statistics, "twice or very often"),
        (metadata(VERSION, VERSION), "other metadata"),
        *[
            (metadata((parquet_file.SPARK_SCHEMA, text)), told)
            for text, told in [
                (schema(name="I resign"), "more than types"),
                (schema(type="I resign"), "more than types"),
                (schema(comment="topic"), "more than types"),
                (schema(metadata={"comment": "I resign"}), "metadata of its own"),
                (schema() + " ", "as Spark writes it"),
                (schema().replace("{", '{"type":"I resign",', 1), "as Spark writes it"),
            ]
        ],
    ],
)  # fmt: skip
def test_what_no_value_needs_is_refused(tmp_path, hide, told):
    file = file_of(SPARK)
    hide(file)
    with pytest.raises(SyntfError, match=told):
        checked(tmp_path, file.bytes())


def test_metadata_of_spark_passes(tmp_path):
    file = file_of(SPARK)
    metadata(VERSION, (parquet_file.SPARK_SCHEMA, schema()))(file)
    assert not checked(tmp_path, file.bytes())


@pytest.mark.parametrize("name", [ARRO3, SPARK])
def test_metadata_in_the_arrow_schema_is_refused(tmp_path, name):
    noted = DOCUMENTS.with_schema(DOCUMENTS.schema.with_metadata({"note": SECRET[:90].decode()}))
    buffer = io.BytesIO()
    write_parquet(noted, buffer, created_by=name)
    with pytest.raises(SyntfError, match="the description of the columns is too long"):
        checked(tmp_path, buffer.getvalue())


def packed_pages(codec):
    """The packed bytes of all pages of a file, each with its unpacked size."""
    file = file_of(compression=codec)
    return [(body, header[2][1]) for column in file.columns for header, body in column.pages]


SKIPPED_FRAME = b"\x50\x2a\x4d\x18" + len(SECRET).to_bytes(4, "little") + SECRET


@pytest.mark.parametrize(("codec", "number"), [("gzip(6)", 2), ("zstd(3)", 6), ("snappy", 1)])
def test_packed_bytes_hold_nothing_else(codec, number):
    for body, size in packed_pages(codec):
        check = partial(parquet_pages._check_packed, codec=number)
        check(body, size=size)
        hidden = []
        if number != 1:  # snappy itself refuses bytes behind the end
            hidden += [body + SECRET, body + body]
        if number == 2:  # with a comment
            hidden.append(body[:3] + b"\x10" + body[4:10] + SECRET + b"\0" + body[10:])
        if number == 6:  # a frame may or may not state its size
            hidden += [SKIPPED_FRAME + body, body + SKIPPED_FRAME]
        if number != 6:
            with pytest.raises(SyntfError, match="more than the values"):
                check(body, size=size - 1)
        for changed in hidden:
            with pytest.raises(SyntfError, match="more than the values"):
                check(changed, size=size)


@pytest.mark.parametrize("codec", ["snappy", "lz4_raw"])
@pytest.mark.parametrize("name", [ARRO3, SPARK])
@pytest.mark.parametrize("page", [0, -1])
def test_libraries_refuse_bytes_behind_packed_ones(tmp_path, codec, name, page):
    file = file_of(name, codec)
    column = file.column("topic")
    header, body = column.pages[page]
    header[3] = (I32, len(body + SECRET))
    column.pages[page] = header, body + SECRET
    with pytest.raises(SyntfError, match="cannot be read"):
        checked(tmp_path, file.bytes())


def empty_blocks_of_zstd(body):
    """Blocks of a literal that is repeated zero times, before the first block of a frame."""
    assert body[4] >> 5 == 1  # the frame states a size of one byte
    block = (3 << 3 | 2 << 1).to_bytes(3, "little") + b"\1%c\0"
    return body[:6] + b"".join(block % byte for byte in SECRET) + body[6:]


def empty_blocks_of_gzip(body):
    """Stored blocks of no bytes, each of which has five bits to spare."""
    blocks = b"".join(bytes([(byte & 31) << 3]) + b"\0\0\xff\xff" for byte in SECRET)
    return body[:10] + blocks + body[10:]


@pytest.mark.parametrize(
    ("codec", "hide"),
    [("zstd(3)", empty_blocks_of_zstd), ("gzip(6)", empty_blocks_of_gzip)],
)
def test_blocks_that_unpack_to_nothing_are_refused(tmp_path, codec, hide):
    file = file_of(SPARK, codec)
    column = file.column("topic")
    header, body = column.pages[-1]
    body = hide(body)
    header[3] = (I32, len(body))
    column.pages[-1] = header, body
    with pytest.raises(SyntfError, match="more than the values"):
        checked(tmp_path, file.bytes())


def test_a_truth_value_is_one_of_two():
    with pytest.raises(SyntfError, match="neither true nor false"):
        Thrift(bytes([1 << 4 | LIST, 1 << 4 | 1, 77, 0]), 0).struct()


def test_a_longer_form_of_a_number_is_refused():
    assert Thrift(b"\x83\x01", 0).varint() == 131
    assert Thrift(b"\x00", 0).varint() == 0
    with pytest.raises(SyntfError, match="too long"):
        Thrift(b"\x83\x81\x00", 0).varint()


def test_very_many_parts_are_refused(tmp_path):
    """The bounds of each part and page would hold some bytes of a text."""
    table = pl.DataFrame({"topic": ["cars", "pets"] * 500})
    table.write_parquet(tmp_path / "many.parquet", row_group_size=10)
    raw = (tmp_path / "many.parquet").read_bytes()
    with pytest.raises(SyntfError, match="very many"):
        parquet_pages.check_pages(raw, parquet_file._footer(raw), raw)


@pytest.mark.parametrize(
    ("bound", "known"),
    [
        (b"", True),
        (b"person", True),
        ("ça".encode(), True),
        ("ç".encode(), True),
        (b"persoo", True),  # "person" rounded up
        ("çb".encode(), True),
        ("è".encode(), True),
        ("persoo\U0010ffff\U0010ffff".encode(), True),  # as Spark rounds up
        (b"persoo\0", True),
        (b"pertain", False),
        (b"person 9ab", False),
        ("\U0010ffff".encode(), False),
        (b"zebra", False),
    ],
)
def test_bounds_are_values_or_shortened_values(bound, known):
    values = parquet_pages._Values.of(pl.Series(["ça", "person 9", None, "a"]))
    assert values.has(bound) is known


def odd_values():
    long = ["é" * 100, "\U0010ffff" * 40, "z" * 64 + "\x7f", "x" * 70_000, "", "日本語" * 30]
    floats = [0.0, -0.0, float("nan"), 1.5, float("inf"), 2.5]
    return pl.DataFrame(
        {
            "long": long * 200,
            "bytes": [text.encode() for text in long] * 200,
            "number": floats * 200,
            "none": pl.Series([None] * 1200, dtype=pl.String),
            "list": [["a", None], [], None, ["b"], ["a"], ["c", "c"]] * 200,
            "lists": [[[1, 2], []], None, [[3]], [], [None], [[4]]] * 200,
            "struct": [{"a": "x", "b": [1]}, {"a": None, "b": []}, None] * 400,
            "id": [f"person {number}" for number in range(1200)],
            "flag": [True, False, None] * 400,
        }
    )


@pytest.mark.parametrize(
    "chosen",
    [{}, {"compression": "snappy"}, {"compression": "gzip"}, {"compression": "lz4"},
     {"row_group_size": 600},
     {"data_page_size": 20_000}, {"statistics": "full"}, {"compression": "uncompressed"}],
)  # fmt: skip
@pytest.mark.parametrize("rows", [0, 1, 1200])
def test_files_by_polars_pass(chosen, rows):
    buffer = io.BytesIO()
    odd_values()[:rows].write_parquet(buffer, **chosen)
    raw = buffer.getvalue()
    parquet_pages.check_pages(raw, parquet_file._footer(raw), raw)


@pytest.mark.parametrize(
    "chosen",
    [{}, {"compression": "snappy"}, {"compression": "gzip(6)"}, {"max_row_group_size": 700},
     {"writer_version": "parquet_2_0"}, {"dictionary_enabled": False},
     {"writer_version": "parquet_2_0", "dictionary_enabled": False},
     {"data_page_size_limit": 4000}, {"encoding": "plain"}],
)  # fmt: skip
@pytest.mark.parametrize("rows", [0, 1, 1200])
def test_files_by_arro3_pass(chosen, rows):
    buffer = io.BytesIO()
    write_parquet(tables.from_polars(odd_values()[:rows]), buffer, **chosen)
    raw = buffer.getvalue()
    parquet_pages.check_pages(raw, parquet_file._footer(raw), raw)
