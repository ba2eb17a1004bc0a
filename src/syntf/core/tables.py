"""Arrow tables: the columns that are released beside the counts.

arro3 makes them and writes their files. Importing it takes some milliseconds. polars takes as long
as a whole run on a short file, so only a run that reads Parquet or the like imports it.

A table becomes the same bytes wherever its rows were divided before, so a file does not tell how
the input was read.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from arro3.core import Array, ChunkedArray, DataType, Field, Table, list_array, list_flatten
from arro3.io import __version__ as version
from arro3.io import read_ipc_stream, read_parquet, write_ipc_stream, write_parquet
from numpy.typing import NDArray

from syntf.core.errors import InputError, SyntfError, printable

if TYPE_CHECKING:
    import polars as pl

Column = Array | ChunkedArray

STRING = DataType.large_string()
INTEGER_LIST = DataType.large_list(Field("item", DataType.int32()))
"""The types of strings and of lists that polars writes, too."""

SIMPLE_TYPES = (STRING, INTEGER_LIST, DataType.bool(), DataType.int64())
"""The types of columns that arro3 reads (:func:`from_simple_parquet`)."""

COMPRESSION: Any = "zstd(3)"

PLAIN_TYPES = frozenset(
    "Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float16 Float32 Float64 Decimal Boolean "
    "String Binary Null Date Time Datetime Duration".split()
)
"""The types of polars, besides nested ones, that stand for nothing but their values."""

_IN_A_DAY = {"ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
_DATES = (date.min - date(1970, 1, 1)).days, (date.max - date(1970, 1, 1)).days
_DURATIONS = timedelta.min.days, timedelta.max.days
"""The dates and durations that Python has, in days."""

CREATED_BY = f"arro3 version {version}"
"""How a Parquet file names the library that wrote it. Another version may write other bytes."""


def strings(values: Sequence[str]) -> Array:
    """Return a column of strings."""
    return Array(values, STRING)


def numbers(values: NDArray[Any]) -> Array:
    """Return a column of numbers, or of true and false."""
    return Array.from_numpy(values)


def lists(values: NDArray[np.int32] | Sequence[NDArray[np.int32]]) -> Array:
    """Return a column of lists of integers.

    >>> lists([np.array([4, 5], dtype=np.int32), np.array([6], dtype=np.int32)]).to_pylist()
    [[4, 5], [6]]
    """
    if isinstance(values, np.ndarray):
        ends, flat = np.arange(len(values) + 1) * values.shape[1], values.ravel()
    else:
        ends = np.cumsum([0, *map(len, values)])
        flat = np.concatenate([np.empty(0, dtype=np.int32), *values])
    ends = ends.astype(np.int64, copy=False)
    return list_array(numbers(ends), numbers(flat), type=INTEGER_LIST)


def from_polars(frame: "pl.DataFrame") -> Table:
    """Return the rows of a frame, with types that older readers of Arrow know, too.

    Raises
    ------
    SyntfError
        If a column has a type that carries more than its values, such as the categories of an enum
        or the metadata of an extension type. Nobody would see them in a release. Types and names
        that arro3 cannot hold are refused, too.
    """
    from polars import CompatLevel

    for name, kind in frame.schema.items():
        require_name(name)
        if not _is_plain(kind):
            raise SyntfError(
                f"a release cannot hold the column {printable(name)!r}, because of its type, "
                f"{type(kind).__name__}: leave it out or convert it"
            )
    stream = io.BytesIO()
    frame.rechunk().write_ipc_stream(stream, compat_level=CompatLevel.oldest())
    stream.seek(0)
    return joined([read_ipc_stream(stream).read_all()])


def leaves(column: "pl.Series") -> "Iterator[pl.Series]":
    """Yield the values inside lists and structures, without missing ones."""
    import polars as pl

    kind = column.dtype
    if isinstance(kind, pl.List | pl.Array):
        yield from leaves(column.drop_nulls().explode())
    elif isinstance(kind, pl.Struct):
        for one in kind.fields:
            yield from leaves(column.struct.field(one.name))
    elif type(kind).__name__ == "Map":  # older versions of polars have none
        pairs = pl.Struct({"key": kind.key, "value": kind.value})  # type: ignore[attr-defined]
        yield from leaves(column.cast(pl.List(pairs)))
    else:
        yield column.drop_nulls()


def require_dates(column: "pl.Series") -> None:
    """Refuse dates and durations that Python does not have, such as the year 10000.

    Writing them as text, or looking for what they tell, would fail after the release was drawn.
    """
    if not all(map(_has_known_dates, leaves(column))):
        raise InputError(
            f"the column {printable(column.name)!r} holds a date outside the years 1 to 9999, or a "
            "duration of more than 999,999,999 days: leave the column out or correct it"
        )


def _has_known_dates(leaf: "pl.Series") -> bool:
    import polars as pl

    kind = leaf.dtype
    if not isinstance(kind, pl.Date | pl.Datetime | pl.Duration):
        return True
    in_a_day = 1 if isinstance(kind, pl.Date) else _IN_A_DAY[kind.time_unit]
    days = leaf.to_physical() // in_a_day
    first, last = _DURATIONS if isinstance(kind, pl.Duration) else _DATES
    if not days.is_between(first, last).all():
        return False
    zoned = isinstance(kind, pl.Datetime) and kind.time_zone is not None
    return not zoned or _has_known_dates(leaf.dt.replace_time_zone(None))


def large_integers(frame: "pl.DataFrame") -> str | None:
    """Return the name of a column with integers of 128 bits, which arro3 cannot hold."""
    large = {"Int128", "UInt128"}
    found = (name for name, kind in frame.schema.items() if large & set(_type_names(kind)))
    return next(found, None)


def _type_names(kind: Any) -> Iterator[str]:
    """Yield the name of a type of polars, and those of all types inside it."""
    name = type(kind).__name__
    yield name
    if name in ("List", "Array"):
        yield from _type_names(kind.inner)
    elif name == "Struct":
        for one in kind.fields:
            yield from _type_names(one.dtype)


def _is_plain(kind: Any) -> bool:
    """Tell whether a type of polars stands for nothing but its values."""
    name = type(kind).__name__  # versions of polars differ in the types that they know
    if name == "Array" and not kind.size:
        return False  # polars panics where it takes such a column from arro3
    if name in ("List", "Array"):
        return _is_plain(kind.inner)
    if name == "Map":
        return _is_plain(kind.key) and _is_plain(kind.value)
    if name == "Struct":
        plain = ("\0" not in one.name and _is_plain(one.dtype) for one in kind.fields)
        return bool(kind.fields) and all(plain)
    return name in PLAIN_TYPES


def require_name(name: str) -> None:
    """Refuse a name of a column that would end the process in arro3."""
    if "\0" in name:
        raise SyntfError(
            f"a release cannot hold the column {printable(name)!r}, because its name has a NUL "
            "character: rename it"
        )


def of(columns: Mapping[str, Column]) -> Table:
    """Return a table of columns of the same length."""
    return Table.from_arrays(list(columns.values()), names=list(columns))


def joined(parts: Sequence[Table]) -> Table:
    """Return the rows of tables with the same columns, at least one, in order and in one piece."""
    batches = [batch for part in parts for batch in part.to_batches()]
    return Table.from_batches(batches, schema=parts[0].schema).combine_chunks()


def taken(table: Table, places: NDArray[np.integer[Any]]) -> Table:
    """Return the rows at some places."""
    wanted = numbers(places.astype(np.uint64))
    batches = [batch.take(wanted) for batch in joined([table]).to_batches()]
    return Table.from_batches(batches, schema=table.schema)


def types(table: Table) -> dict[str, DataType]:
    """Return the type of each column, by its name."""
    return {name: table.schema.field(name).type for name in table.column_names}


def is_list(kind: DataType) -> bool:
    return DataType.is_list(kind) or DataType.is_large_list(kind)


def is_string(kind: DataType) -> bool:
    return DataType.is_string(kind) or DataType.is_large_string(kind)


def inner(kind: DataType) -> DataType:
    """Return the type of the values of a list; any other type as it is."""
    return (kind.value_type or kind) if is_list(kind) else kind


def values_of(table: Table, name: str) -> list[Any]:
    """Return the values of a column as objects of Python."""
    return [value for chunk in table.column(name).chunks for value in chunk.to_pylist()]


def flat_lists(table: Table, name: str) -> NDArray[Any]:
    """Return the numbers of a column of lists, one list after the other."""
    parts = [list_flatten(chunk).to_numpy() for chunk in table.column(name).chunks]
    return np.concatenate([np.empty(0, dtype=np.int32), *parts])


def as_parquet(table: Table, ascending: Sequence[str] = ()) -> bytes:
    """Return a table as a Parquet file.

    ascending : columns of integers in ascending order. Their differences are stored. A column of
        another type is stored as any other, because arro3 panics at strings.
    """
    file = io.BytesIO()
    found = types(table)
    stored = [name for name in ascending if name in found and DataType.is_int64(found[name])]
    write_parquet(
        joined([table]), file, compression=COMPRESSION, created_by=CREATED_BY,
        column_encoding=dict.fromkeys(stored, "delta_binary_packed"),
        column_dictionary_enabled=dict.fromkeys(stored, False),
    )  # fmt: skip
    return file.getvalue()


def from_parquet(raw: bytes) -> Table:
    """Return the table of a Parquet file.

    polars reads it: arro3 0.9 ends the whole process at some damaged files.
    """
    import polars as pl

    return from_polars(pl.read_parquet(io.BytesIO(raw)))


def has_simple_columns(path: Path) -> bool:
    """Tell whether all columns of a Parquet file are of the types that this module makes.

    These are strings, true and false, integers and lists of integers. Such types hold nothing but
    what is known of them, so :func:`from_simple_parquet` reads the file.
    """
    schema = read_parquet(path).schema
    return not schema.metadata and all(
        any(schema.field(name).equals(Field(name, kind)) for kind in SIMPLE_TYPES)
        for name in schema.names
    )


def from_simple_parquet(path: Path) -> Table:
    """Return the table of a Parquet file of simple columns.

    arro3 reads the file, which ends the process at some damaged files, so another process must
    have read it before.
    """
    return joined([read_parquet(path).read_all()])


def as_stream(table: Table) -> bytes:
    """Return a table as a stream of Arrow, for temporary files."""
    stream = io.BytesIO()
    write_ipc_stream(table, stream, compression=None)
    return stream.getvalue()


def from_stream(raw: bytes) -> Table:
    """Return the table of a stream that :func:`as_stream` has made."""
    return read_ipc_stream(io.BytesIO(raw)).read_all()
