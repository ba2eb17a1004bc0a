"""Tables, column by column: frames from rows of any format, Parquet and Arrow, lines.

Every value becomes text by itself, so that no row changes how another one is read.
"""

import datetime
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import IO, Any

import polars as pl
from polars.selectors import by_name

from syntf.core.errors import SyntfError
from syntf.inputs.columns import named, require
from syntf.inputs.encodings import without_surrogates

BATCH = 1 << 15
"""The largest number of rows in a frame."""

SIZE = 1 << 22
"""Characters after which a frame is full, whatever the number of its rows."""

Note = Callable[[str], None]
"""Called with a sentence for the owner of the texts."""

Row = Sequence[str | None]


def frames(header: Sequence[str], rows: Iterable[Row]) -> Iterator[pl.DataFrame]:
    """Collect rows into frames of strings, each of a limited number of rows and characters."""
    held: list[Row] = []
    size = 0
    for row in rows:
        held.append(row)
        size += sum(map(len, filter(None, row)))
        if len(held) == BATCH or size >= SIZE:
            yield _frame(header, held)
            held, size = [], 0
    if held:
        yield _frame(header, held)


def _frame(header: Sequence[str], rows: Sequence[Row]) -> pl.DataFrame:
    columns = zip(header, zip(*rows, strict=True), strict=True)
    return pl.DataFrame([_strings(name, values) for name, values in columns])


def _strings(name: str, values: Row) -> pl.Series:
    try:
        return pl.Series(name, values, pl.String)
    except UnicodeEncodeError:
        clean = [value and without_surrogates(value) for value in values]
        return pl.Series(name, clean, pl.String)


def as_text(value: Any) -> str | None:
    """Return a value of JSON, Excel or SQLite as text; whole numbers are without decimals.

    >>> [as_text(value) for value in (None, "007", 17.0, 2.5, True, ["a", 1])]
    [None, '007', '17', '2.5', 'true', '["a", 1]']
    """
    match value:
        case None | str():
            return value
        case bool() | list() | dict():
            with suppress(RecursionError):
                return json.dumps(value, ensure_ascii=False)
            return None
        case bytes():
            return value.decode("utf-8", "replace")
        case float() if value.is_integer() and abs(value) < 1 << 53:
            return str(int(value))
        case datetime.date() | datetime.time():
            return value.isoformat()
        case _:
            return str(value)


def read_lines(file: io.BufferedReader, codec: str) -> Iterator[pl.DataFrame]:
    """Read a file of which every line is a document; an empty line is an empty document.

    A line ends with a newline and with nothing else.
    """
    with io.TextIOWrapper(file, codec, errors="replace", newline="\n") as lines:
        yield from frames(["text"], ([line.rstrip("\r\n")] for line in lines))


def read_columnar(
    file: IO[bytes], name: str, format: str, columns: Sequence[str] | None
) -> Iterator[tuple[float, pl.DataFrame]]:
    """Read a Parquet or Arrow file; yield frames, and the share of the rows that was read.

    The file stays open, so that no other file takes its place meanwhile.
    """
    try:
        table = (pl.scan_parquet if format == "parquet" else pl.scan_ipc)(file)
        found = table.collect_schema().names()
        header = named(found, name)
        require(columns or (), header)
        names = zip(found, header, strict=True)
        table = table.select(by_name(old).alias(new) for old, new in names)  # never a pattern
        rows = table.select(pl.len()).collect().item()
        for start in range(0, rows, BATCH):
            wanted = map(by_name, columns or header)
            frame = table.select(wanted).slice(start, BATCH).collect()
            yield min(1.0, (start + BATCH) / rows), frame
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        # The message of polars may quote a text: do not pass it on.
        kind = "a Parquet file" if format == "parquet" else "an Arrow file (Feather version 2)"
        raise SyntfError(f"cannot read {name}: it is not {kind}, or damaged") from None
