"""Read CSV files with any delimiter. The csv module says what a row is.

A compiled loop (``_separated.c``) reads plain rows. It stops before the first row that is not
plain, for instance one with too few fields, and the csv module goes on from there. So rows and
error messages are the same with and without the loop. A row ends with a newline. A carriage return
without a newline after it, outside quotes, makes a row broken: the row must not become two
documents.
"""

import codecs
import csv
import io
import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

from syntf import native
from syntf.core.errors import SyntfError
from syntf.inputs.encodings import UTF_8
from syntf.inputs.files import without_surrogates
from syntf.inputs.rows import Rows, named

_compiled = native.load("_separated")

BLOCK = 1 << 20
"""Bytes read, and characters handed on, at once."""

LONGEST_ROW = 1 << 26
"""The largest number of bytes that the loop reads in search of the end of a row."""

DELIMITERS = ",;\t|"
"""The delimiters that are found by themselves; where two fit equally, the first is taken."""

_LONGEST_HEADER = 1 << 20
_BYTE_ORDER_MARK = "\ufeff".encode()
_BARE_RETURN = re.compile("\r(?!\n)")

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))

Broken = Callable[[int, str], None]
"""Called with the line of a broken row, and what is wrong with it."""


def frames(
    file: Any,
    *,
    delimiter: str | None,
    name: str,
    encoding: str,
    most: int,
    broken: Broken,
    likely: Callable[[], str] = str,
) -> Iterator[Rows]:
    """Yield the rows of a binary file, at most `most` at once, every column as strings.

    All columns are strings: an id 007 stays 007. The first row names the columns. The last rows may
    be none. A broken row is left out, unless
    `broken` raises an error. Without a delimiter, the first line decides: no text changes how
    another is read. If no line names columns, `likely` says which other format the file may have.
    """
    if delimiter is None:
        line, read = _first_line(file, encoding)
        delimiter = find_delimiter(line)
        file = io.BufferedReader(_Joined(read, file))
    rest = _Rest(None, 0, b"")
    if _compiled is not None and encoding == UTF_8:
        rest = yield from _plain_rows(file, delimiter, name, most)
        file, encoding = io.BufferedReader(_Joined(rest.unread, file)), "utf-8"
    with io.TextIOWrapper(file, encoding, errors="replace", newline="\n") as lines:
        yield from _other_rows(lines, delimiter, name, most, broken, rest, likely)


def find_delimiter(header: str) -> str:
    """Return the delimiter that divides a header line into most fields; the comma if none does.

    A delimiter is not considered if it divides a quoted name, or if the line ends inside a quote.

    >>> find_delimiter('id;"a, b, c";text'), find_delimiter("text")
    (';', ',')
    """
    fields = dict.fromkeys(DELIMITERS, 0)
    for delimiter in DELIMITERS:
        with suppress(csv.Error):
            found = next(csv.reader([header], delimiter=delimiter, strict=True))
            if not any(field.count('"') % 2 for field in found):
                fields[delimiter] = len(found)
    return max(fields, key=fields.__getitem__)


def _first_line(file: Any, encoding: str) -> tuple[str, bytes]:
    """Read the first line that is not blank; return it and all bytes read."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    read, text = b"", ""
    while "\n" not in text and len(read) < _LONGEST_HEADER and (block := file.read(1 << 13)):
        read += block
        text = (text + decoder.decode(block)).lstrip("\r\n")
    return text.partition("\n")[0].removesuffix("\r"), read


@dataclass(frozen=True)
class _Rest:
    """Where the loop stopped: the column names, the lines before, the bytes already read."""

    header: Sequence[str] | None
    lines: int
    unread: bytes


def _plain_rows(file: Any, delimiter: str, name: str, most: int) -> Generator[Rows, None, _Rest]:
    """Yield rows as long as the compiled loop can read them; return where it stopped."""
    header: Sequence[str] | None = None
    block, lines, final = file.read(BLOCK), 0, False
    at = len(_BYTE_ORDER_MARK) if block.startswith(_BYTE_ORDER_MARK) else 0
    while True:
        columns, at, ended, odd = _compiled.rows(
            block, at, final, delimiter, len(header or ()), 1 if header is None else most
        )
        found = columns and columns[0]
        if found and header is None:
            header = _header([column[0] for column in columns], name)
        elif found:
            yield _rows(header or (), columns)
        lines += ended
        if odd or (not found and (final or len(block) - at > LONGEST_ROW)):
            return _Rest(header, lines, block[at:])
        if not found:
            more = file.read(max(BLOCK, len(block) - at))
            block, at, final = block[at:] + more, 0, not more


class _Joined(io.RawIOBase):
    """A file of bytes that were already read, followed by the rest of another file."""

    def __init__(self, first: bytes, file: Any) -> None:
        self._first, self._file = memoryview(first), file

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        if not self._first and hasattr(self._file, "readinto"):
            return int(self._file.readinto(into))
        taken = self._first[: len(into)] or self._file.read(len(into))
        self._first = self._first[len(taken) :]
        into[: len(taken)] = taken
        return len(taken)


def _other_rows(
    lines: Iterable[str],
    delimiter: str,
    name: str,
    most: int,
    broken: Broken,
    rest: _Rest,
    likely: Callable[[], str],
) -> Iterator[Rows]:
    """Yield the rows that the loop did not read, by the csv module."""
    own_lines: list[str] = []  # of the current row

    def recorded() -> Iterator[str]:
        for line in lines:
            own_lines.append(line)
            yield line

    source = recorded()
    reader = csv.reader(source, delimiter=delimiter, strict=True)
    header = rest.header
    rows: list[list[str]] = []
    skipped = size = 0
    while True:
        start = rest.lines + reader.line_num + skipped + 1
        own_lines.clear()
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            returns = "new-line character" in str(error)
            read = len(own_lines)
            if "end of data" in str(error) or not _skip_row(own_lines, source, delimiter):
                raise SyntfError(
                    f"cannot read {name}: the quote opened in line {start} is not closed"
                ) from None
            if header is None and returns:
                wrong = likely() or "its lines end in carriage returns: end them in newlines"
                raise SyntfError(f"cannot read {name}: {wrong}") from None
            wrong = "a carriage return outside quotes" if returns else "a quote in the wrong place"
            skipped += len(own_lines) - read
            broken(start, f"has {wrong}")
            continue
        if not row:
            continue
        if header is None:
            header = _header(row, name)
        elif len(row) != len(header):
            wrong = "too many fields" if len(row) > len(header) else "too few fields"
            broken(start, f"has {wrong}: {len(row)} instead of {len(header)}")
        else:
            rows.append(row)
            size += sum(map(len, row))
            if len(rows) == most or size >= BLOCK:
                yield _rows(header, _columns(rows))
                rows, size = [], 0
    if header is None:
        raise SyntfError(f"{name} is empty")
    yield _rows(header, _columns(rows) if rows else [[] for _ in header])


def _skip_row(own_lines: Sequence[str], source: Iterator[str], delimiter: str) -> bool:
    """Read a broken row to its end, so that its last lines are not taken for rows.

    A carriage return counts as a letter, and so does a quote in the wrong place. Returns whether
    the row ends before the end of the file.
    """
    end = "the end of the file"
    lines = chain(list(own_lines), source, [end])
    letters = (_BARE_RETURN.sub(" ", line) for line in lines)
    row = next(csv.reader(letters, delimiter=delimiter, strict=False))
    return not row or not row[-1].endswith(end)


def _header(names: list[str], file: str) -> list[str]:
    if names[0].lower() == "sep=":
        raise SyntfError(f"{file} begins with a line that is for Excel (sep=): remove this line")
    return named(names, file)


def _columns(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [list(map(without_surrogates, column)) for column in zip(*rows, strict=True)]


def _rows(header: Sequence[str], columns: Sequence[list[str]]) -> Rows:
    return Rows(dict(zip(header, columns, strict=True)), len(columns[0]))
