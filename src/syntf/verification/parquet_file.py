"""Check that a Parquet file holds nothing but its table.

A library writes the same bytes for the same table, so a file is written again and compared. Another
version of the library, or Spark, writes other bytes. Then the structure is checked: the column
chunks and indexes must cover the file without gaps, and the footer must have no other metadata than
these programs write. :mod:`syntf.verification.parquet_pages` reads what stands between the values.
Such a file can still hide something in how its values are encoded.
"""

import json
import re
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from arro3.core import Table

from syntf.core import tables
from syntf.core.errors import SyntfError
from syntf.inputs.formats.parquet import TRIAL, WHOLE, try_files
from syntf.releases.contents.writers import write_documents
from syntf.verification.parquet_fields import FOOTER
from syntf.verification.result import NotCheckedError, one_line
from syntf.verification.thrift import Thrift, fits

MAGIC = b"PAR1"
LARGEST_FOOTER = 1 << 26
SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"
ARROW_SCHEMA = "ARROW:schema"
ALLOWED_METADATA = {ARROW_SCHEMA, "org.apache.spark.version", SPARK_SCHEMA}
SPARE_SCHEMA_BYTES = 16
"""Bytes per column by which two versions of a library may describe a schema differently."""
BY_POLARS = b"Polars"
"""How polars names itself in a file. It wrote the documents of earlier releases."""

BY_ARRO3 = b"arro3"

LARGEST_TABLE = 1 << 31
"""Bytes of the table of one file at most. syntf writes about 65,536 documents to a file.

Comparing the file takes several times as much memory.
"""
MOST_MEMORY = 4 * LARGEST_TABLE
"""Bytes of memory that the process may use in which arro3 tries files."""

ARRO3_TRIAL = """
import os
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # write no image of the memory
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
except (ImportError, ValueError, OSError):
    pass
from arro3.io import read_parquet
if __name__ == "__main__":
    for source in os.fsdecode(sys.stdin.buffer.read()).split("\\0"):
        print(read_parquet(source).read_all().nbytes, flush=True)
"""
"""The program of the other process. It prints the size of each table."""

WIDTHS = {0: 1, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 16}
"""Bytes of a value of each physical type; for strings, besides the string itself."""
REPEATED = 2
"""How a column says that a row can have several of its values."""

_NUMBERS = rb"[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}"
_VERSION = _NUMBERS + rb"(-(alpha|beta|rc)\.?[0-9]{1,3})?"
_BUILD = rb"\(build [0-9a-f]{40}\)"
WRITERS = re.compile(
    rb"arro3 version " + _VERSION
    + rb"|Polars( \((python|rust)\) version " + _VERSION + rb" " + _BUILD + rb")?"
    + rb"|parquet-mr version " + _NUMBERS
    + rb"(-(databricks|amzn)-?[0-9]{1,6})? " + _BUILD
)  # fmt: skip
"""How arro3, polars and Spark name themselves in a file. Old versions of polars have no number."""

SPARK_KEYS = frozenset(
    "type fields nullable metadata elementType containsNull keyType valueType valueContainsNull "
    "class pyClass sqlType".split()
)
SPARK_TYPES = re.compile(
    r"struct|array|map|udt|string|binary|boolean|byte|short|integer|long|float|double|date|void"
    r"|timestamp(_ntz)?|time\([0-9]\)|decimal\([0-9]{1,2},-?[0-9]{1,2}\)"
    r"|interval (year|month|day|hour|minute|second)( to (month|hour|minute|second))?"
    r"|(org\.apache\.spark|pyspark)\.ml(lib)?\.linalg\.VectorUDT"
)
"""What the schema that Spark writes consists of, besides the names of columns."""

ROOTS = {b"arrow_schema", b"root", b"spark_schema"}
"""How arro3, polars and Spark name the root of all columns."""
PARTS = {
    b"list", b"element", b"item", b"array", b"bag", b"array_element", b"map", b"key_value",
    b"key", b"value",
}  # fmt: skip
"""How they name the parts of a list or a map; versions differ."""


def rows_of(path: Path) -> int:
    """Return how many rows a file claims to hold."""
    return int(_footer(path.read_bytes())[3])


def check_sizes(path: Path) -> int:
    """Refuse a file whose claims differ, or that would take too much memory; return its rows.

    Call it before a library decodes the file: a library believes what the file claims.
    """
    footer = _footer(path.read_bytes())
    leaves, rows, size = _leaves(footer[2]), footer[3], 0
    groups = footer.get(4, [])
    in_groups = sum(group[3] for group in groups)
    if in_groups != rows or any(group[3] < 0 for group in groups):
        raise SyntfError(f"{path.name} claims {in_groups:,} rows in its parts and {rows:,} in all")
    for group in groups:
        if len(group[1]) != len(leaves):
            raise SyntfError(f"{path.name} claims {len(group[1])} columns, not {len(leaves)}")
        for chunk, (width, repeated) in zip(group[1], leaves, strict=True):
            values, packed = chunk[3][5], chunk[3][6]
            if values < group[3] or (values > group[3] and not repeated) or packed < 0:
                raise SyntfError(
                    f"{path.name} claims {values:,} values in a column of {group[3]:,} rows"
                )
            size += values * width + packed
    _check_memory(path, size)
    return int(rows)


def _check_memory(path: Path, size: int) -> None:
    if size > LARGEST_TABLE:
        raise NotCheckedError(
            f"{path.name} takes more than {LARGEST_TABLE / 1e9:.1f} GB of memory: ask the sender "
            "to release fewer documents in one file, or shorter kept columns"
        )


def _leaves(schema: list[dict[int, Any]]) -> list[tuple[int, bool]]:
    """Return the bytes of a value in each column, and whether a row can have several values."""
    found, open_groups = list[tuple[int, bool]](), [(schema[0].get(5, 0), False)]
    for column in schema[1:]:
        while open_groups and open_groups[-1][0] == 0:
            open_groups.pop()
        if not open_groups:
            raise SyntfError("the footer has columns outside the table")
        left, repeated = open_groups.pop()
        open_groups.append((left - 1, repeated))
        repeated = repeated or column.get(3) == REPEATED
        if column.get(5):
            open_groups.append((column[5], repeated))
        elif 1 in column:
            found.append((WIDTHS.get(column[1]) or max(0, column.get(2, 0)), repeated))
    return found


def check_readable(paths: Sequence[Path]) -> None:
    """Refuse files that a library cannot decode, before this process decodes them.

    On some damaged files arro3 and polars end the process that reads them, so another one reads
    them first. With arro3 this takes 0.02 seconds for all files together, with polars 0.2.
    """
    for path in paths:
        check_sizes(path)
    _check_trial([path for path in paths if _is_by_arro3(path)], ARRO3_TRIAL, str(MOST_MEMORY))
    others = [path for path in paths if not _is_simple(path)]
    _check_trial(others, TRIAL, str(WHOLE), "parquet")


def _check_trial(paths: Sequence[Path], program: str, *arguments: str) -> None:
    found = try_files(paths, program, *arguments) if paths else []
    for path, size in zip(paths, found, strict=False):
        _check_memory(path, int(size or 0))
    if len(found) < len(paths):
        raise SyntfError(f"{paths[len(found)].name} cannot be read: it is damaged or was changed")


def _is_by_arro3(path: Path) -> bool:
    return bool(_footer(path.read_bytes()).get(6, b"").startswith(BY_ARRO3))


def _is_simple(path: Path) -> bool:
    """Tell whether arro3 can read a file, which has survived its trial, without loss."""
    return _is_by_arro3(path) and tables.has_simple_columns(path)


def read_table(path: Path) -> Table:
    """Return the table of a file that has passed :func:`check_readable`."""
    rows = check_sizes(path)
    simple = _is_simple(path)
    table = tables.from_simple_parquet(path) if simple else _table_of_polars(path)
    if table.num_rows != rows:
        raise SyntfError(f"{path.name} has {table.num_rows:,} rows and claims {rows:,}")
    if len(set(table.column_names)) < len(table.column_names):  # one would be hidden
        raise SyntfError(f"{path.name} has two columns of the same name")
    return table


def _table_of_polars(path: Path) -> Table:
    import polars as pl

    frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
    _check_memory(path, int(frame.estimated_size()))  # polars repeats no string in memory
    if (name := tables.large_integers(frame)) is not None:
        raise NotCheckedError(
            f"the column {one_line(name)!r} has a type that this version cannot compare, integers "
            "of 128 bits: ask the sender for a release without it"
        )
    return tables.from_polars(frame)


def check_documents_bytes(path: Path, documents: Table) -> bool:
    """Refuse a file with hidden contents; `documents` is the table that it holds.

    Returns whether every byte was compared.
    """
    if _footer(path.read_bytes()).get(6, b"").startswith(BY_POLARS):
        import polars as pl

        from syntf.verification.counts_parquet import write_frame

        frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
        return check_bytes(path, lambda file: write_frame(file, frame))
    return check_bytes(path, lambda file: write_documents(file, documents))


def values_of(path: Path, column: str) -> int:
    """Return how many values a file claims to hold in a column, inside lists too."""
    footer = _footer(path.read_bytes())
    chunks = [chunk[3] for group in footer.get(4, []) for chunk in group[1]]
    return sum(about[5] for about in chunks if about[3][0] == column.encode())


def check_bytes(path: Path, write: Callable[[IO[bytes]], None]) -> bool:
    """Refuse a file with hidden contents; `write` writes what it should hold.

    Returns whether every byte was compared; if not, another program or version wrote the file.
    """
    buffer = BytesIO()
    write(buffer)
    raw, again = path.read_bytes(), buffer.getvalue()
    if raw == again:
        return True
    footer, own = _footer(raw), _footer(again)
    if footer.get(6) == own.get(6):  # created_by
        raise SyntfError("the bytes are not those that syntf writes for this table")
    _check_writer(footer.get(6, b""))
    _check_fields(footer)
    _check_names(footer, own)
    _check_structure(raw, footer, own)
    from syntf.verification.parquet_pages import check_pages  # imported here: it needs polars

    check_pages(raw, footer, again)
    return False


def _check_writer(name: bytes) -> None:
    if not WRITERS.fullmatch(name):
        raise SyntfError("neither syntf nor Spark wrote this file")


def _check_fields(footer: dict[int, Any]) -> None:
    """Refuse a footer with fields that no writer has."""
    if not fits(footer, FOOTER):
        raise SyntfError("the footer has a field that no writer has")


def _check_names(footer: dict[int, Any], own: dict[int, Any]) -> None:
    """Refuse names of columns that the table does not have; `own` is a footer for this table."""
    known = {column[4] for column in own[2][1:]} | PARTS
    names = {column[4] for column in footer[2][1:]}
    for group in footer.get(4, []):
        names |= {name for chunk in group[1] for name in chunk[3][3]}
    if footer[2][0][4] not in ROOTS or names - known:
        raise SyntfError("the footer has other names than those of the columns")


def _check_structure(raw: bytes, footer: dict[int, Any], own: dict[int, Any]) -> None:
    covered = [(0, len(MAGIC)), (len(raw) - 8 - _footer_size(raw), _footer_size(raw) + 8)]
    by_polars = footer.get(6, b"").startswith(BY_POLARS)
    for group in footer.get(4, []):
        for chunk in group[1]:
            about = chunk[3]
            if 8 in about or 1 in chunk:
                raise SyntfError("a column has metadata of its own")
            start = min(about[9], about.get(11) or about[9])  # a dictionary page comes first
            covered.append((start, about[7]))
            if by_polars:  # it repeats the metadata of a column behind the column
                end = start + about[7]
                copy = Thrift(raw, end)
                if copy.struct() != about:
                    raise SyntfError("a column has metadata of its own")
                covered.append((end, copy.place - end))
            covered += [(chunk[at], chunk[at + 1]) for at in (4, 6) if at in chunk]  # indexes
    end = 0
    for start, size in sorted(covered):
        if start != end:
            raise SyntfError("the columns do not fill the file")
        end = start + size
    _check_metadata(footer.get(5, []), own)


def _check_metadata(entries: list[dict[int, Any]], own: dict[int, Any]) -> None:
    """Refuse metadata that no writer has; `own` is a footer for this table."""
    columns = own[2]
    longest = SPARE_SCHEMA_BYTES * len(columns)
    longest += sum(len(entry[2]) for entry in own[5] if entry[1] == ARROW_SCHEMA.encode())
    names = [entry[1].decode() for entry in entries]
    if set(names) - ALLOWED_METADATA or len(set(names)) < len(names):
        raise SyntfError("the footer holds other metadata than syntf or Spark writes")
    for name, entry in zip(names, entries, strict=True):
        value = entry.get(2, b"").decode()
        if name == "org.apache.spark.version" and not re.fullmatch(r"[0-9.]{1,20}", value):
            raise SyntfError("the version of Spark is not one")
        if name == SPARK_SCHEMA:
            schema = json.loads(value)
            if json.dumps(schema, separators=(",", ":"), ensure_ascii=False) != value:
                raise SyntfError("the schema of Spark is not written as Spark writes it")
            _check_spark_schema(schema, {column[4].decode() for column in columns})
        if name == ARROW_SCHEMA and len(value) > longest:
            raise SyntfError("the description of the columns is too long")


def _check_spark_schema(schema: Any, names: set[str]) -> None:
    """Refuse anything but types and names of columns in the schema that Spark writes."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "metadata" and value:
                raise SyntfError("a column has metadata of its own")
            known = value in names if key == "name" else key in SPARK_KEYS
            if not known:
                raise SyntfError("the schema of Spark holds more than types and names")
            if key != "name":
                _check_spark_schema(value, names)
    elif isinstance(schema, list):
        for part in schema:
            _check_spark_schema(part, names)
    elif not (isinstance(schema, bool) or SPARK_TYPES.fullmatch(str(schema))):
        raise SyntfError("the schema of Spark holds more than types and names")


def _footer_size(raw: bytes) -> int:
    return int.from_bytes(raw[-8:-4], "little")


def _footer(raw: bytes) -> dict[int, Any]:
    """Return the footer: the fields of its Thrift structures by their numbers.

    Their values have the types that every library expects, or libraries would read other values.
    """
    size = _footer_size(raw)
    if raw[:4] != MAGIC or raw[-4:] != MAGIC or size > min(LARGEST_FOOTER, len(raw) - 12):
        raise SyntfError("this is not a Parquet file")
    reader = Thrift(raw, len(raw) - 8 - size)
    fields: dict[int, Any] = reader.struct()
    if reader.place != len(raw) - 8:
        raise SyntfError("there are bytes after the footer")
    if not fits(fields, FOOTER, others=True):
        raise SyntfError("the footer has a value of another type than writers write")
    return fields
