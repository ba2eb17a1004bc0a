"""CSV and TSV: the csv module says what a row is; plain rows are taken by a compiled loop.

The loop (``_separated.c``) stops before the first row that is not plain, for instance one
with too few fields, and the csv module goes on from there. So the rows are the same with and
without it, and what is broken is told in the same words.
"""

import csv
import io
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any

import polars as pl

from syntf import native
from syntf.core.characters import UTF_8, whole
from syntf.core.errors import SyntfError

_compiled = native.load("_separated")

BLOCK = 1 << 20
"""Bytes read, and characters handed on, at once."""

LONGEST = 1 << 26
"""Bytes of a row that the loop waits for the end of."""

_MARK = "\ufeff".encode()

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))

Fault = Callable[[int, str], None]
"""Told of the line of a broken row, and what is wrong with it."""


def frames(
    file: Any, *, delimiter: str, name: str, encoding: str, most: int, fault: Fault
) -> Iterator[pl.DataFrame]:
    """The rows of a binary file in pieces of at most `most`, every column as strings.

    The first row names the columns. The last piece may be empty. Broken rows are left out, if
    `fault` returns.
    """
    rest = Rest(None, 0, b"")
    if _compiled is not None and encoding == UTF_8:
        rest = yield from _plain_rows(file, delimiter, name, most)
        file, encoding = io.BufferedReader(_Joined(rest.unread, file)), "utf-8"
    with io.TextIOWrapper(file, encoding, errors="replace", newline="") as lines:
        yield from _rows(lines, delimiter, name, most, fault, rest)


class Rest:
    """Where the loop stopped: the names of the columns, the lines before, the bytes taken since."""

    def __init__(self, header: Sequence[str] | None, lines: int, unread: bytes) -> None:
        self.header = header
        self.lines = lines
        self.unread = unread


def _plain_rows(
    file: Any, delimiter: str, name: str, most: int
) -> Generator[pl.DataFrame, None, Rest]:
    header: Sequence[str] | None = None
    block, lines, final = file.read(BLOCK), 0, False
    at = len(_MARK) if block.startswith(_MARK) else 0
    while True:
        columns, at, ended, odd = _compiled.rows(
            block, at, final, delimiter, len(header or ()), 1 if header is None else most
        )
        found = columns and columns[0]
        if found and header is None:
            header = _header([column[0] for column in columns], name)
        elif found:
            yield _frame(header or (), columns)
        lines += ended
        if odd or (not found and (final or len(block) - at > LONGEST)):
            return Rest(header, lines, block[at:])
        if not found:
            more = file.read(max(BLOCK, len(block) - at))
            block, at, final = block[at:] + more, 0, not more


class _Joined(io.RawIOBase):
    """Bytes that were taken from a file, and the rest of it."""

    def __init__(self, first: bytes, file: Any) -> None:
        self._first, self._file = memoryview(first), file

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        taken = self._first[: len(into)] or self._file.read(len(into))
        self._first = self._first[len(taken) :]
        into[: len(taken)] = taken
        return len(taken)


def _rows(
    lines: Iterable[str], delimiter: str, name: str, most: int, fault: Fault, rest: Rest
) -> Iterator[pl.DataFrame]:
    """What is left, by the csv module."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    header = rest.header
    rows: list[list[str]] = []
    size = 0
    while True:
        start = rest.lines + reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            if "end of data" in str(error):  # swallowed all the rest: never to be skipped
                raise SyntfError(
                    f"cannot read {name}: the quote opened in line {start} is not closed"
                ) from None
            fault(start, "has a quote in the wrong place")
            continue
        if not row:
            continue
        if header is None:
            header = _header(row, name)
        elif len(row) != len(header):
            wrong = "too many fields" if len(row) > len(header) else "too few fields"
            fault(start, f"has {wrong}: {len(row)} instead of {len(header)}")
        else:
            rows.append(row)
            size += sum(map(len, row))
            if len(rows) == most or size >= BLOCK:
                yield _frame(header, _columns(rows))
                rows, size = [], 0
    if header is None:
        raise SyntfError(f"{name} is empty")
    yield _frame(header, _columns(rows) if rows else [()] * len(header))


def _header(names: list[str], file: str) -> list[str]:
    if len(set(names)) < len(names):
        raise SyntfError(f"{file} has two columns of the same name")
    return names


def _columns(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[whole(value) for value in column] for column in zip(*rows, strict=True)]


def _frame(header: Sequence[str], columns: Sequence[Sequence[str]]) -> pl.DataFrame:
    """All columns as strings: what is kept is kept as it is, an id 007 too."""
    return pl.DataFrame([pl.Series(n, c, pl.String) for n, c in zip(header, columns, strict=True)])
