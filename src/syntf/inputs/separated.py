"""Read CSV and TSV files with any delimiter.

The csv module says what a row is, and not polars: polars stops at a quote in the wrong place, with
a message that quotes the text, and leaves out the last fields of a row that has too many. The csv
module reads 300 MB in 4 seconds.
"""

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

import polars as pl

from syntf.core.errors import SyntfError
from syntf.inputs.columns import named
from syntf.inputs.tables import Note, Row, frames

BLOCK = 1 << 20
"""Characters that are parsed at once."""

LONGEST_ROW = 1 << 26
"""Characters after which a quote counts as one that is never closed."""

DELIMITERS = ",;\t|"
"""The delimiters that are found by themselves; where two fit equally, the first is taken."""

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
_BARE_RETURN = re.compile("\r(?!\n)")
_RETURN = "\udcff"  # for a bare return; no decoded text has half a surrogate pair


def read_csv(
    file: io.BufferedReader, codec: str, name: str, delimiter: str | None, note: Note
) -> Iterator[pl.DataFrame]:
    """Read a file, every column as strings; the first row that is not blank names them.

    What a row is, whatever it holds:

    - It ends with a newline outside quotes. A carriage return alone is a letter.
    - A quote opens a field at its beginning alone, and the next quote that is not doubled closes
      it. If a letter follows there, or the file or 64 million characters end before, then these
      quotes are not those of CSV, and the row is one line.
    - A row with more or fewer fields than the header is a document with an empty text: nothing
      tells which column each field belongs to. If there is one column, the row is its text.
    - A blank line is an empty document if there is one column, and otherwise no row.

    The format leaves open what an unquoted newline or a lone quote means. A text that is written
    so can therefore become several documents, or be joined to the next one.
    """
    with io.TextIOWrapper(file, codec, errors="replace", newline="\n") as lines:
        block = lines.readlines(BLOCK)
        while block and not block[0].strip("\r\n"):
            block = block[1:] or lines.readlines(BLOCK)
        if not block:
            raise SyntfError(f"{name} is empty")
        separator = delimiter or find_delimiter(block[0].rstrip("\r\n"))
        rows = _rows(block, lines, separator)
        header = named(next(rows), name)
        yield from frames(header, _fitting(rows, len(header), separator, name, note))


def find_delimiter(header: str) -> str:
    """Return the delimiter that divides a header line into most fields; the comma if none does.

    The header alone decides: no text changes how another is read. A delimiter is not considered if
    it divides a quoted name, or if the line ends inside a quote.

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


def _rows(block: list[str], lines: io.TextIOWrapper, delimiter: str) -> Iterator[list[str]]:
    """Yield the fields of all rows as the csv module divides them; none for a blank line."""
    held: list[str] = []  # the beginning of a row that did not end in the block before
    returns = False
    while block or held:
        final = not block
        if any("\r" in line and _BARE_RETURN.search(line) for line in block):
            returns = True  # the csv module would take such a return for the end of a row
            block = [_BARE_RETURN.sub(_RETURN, line) for line in block]
        held += block
        long = sum(map(len, held)) > LONGEST_ROW
        done = 0
        while done < len(held):
            some = map(held.__getitem__, range(done, len(held)))
            reader = csv.reader(some, delimiter=delimiter, strict=True)
            read = 0
            try:
                for row in reader:
                    yield [one.replace(_RETURN, "\r") for one in row] if returns else row
                    read = reader.line_num
                done = len(held)
            except csv.Error as error:
                done += read
                if "end of data" in str(error) and not final and not long:
                    break  # the row goes on in the next block
                (row,) = csv.reader([held[done].rstrip("\r\n")], delimiter=delimiter)
                yield [one.replace(_RETURN, "\r") for one in row]
                done += 1
        held = held[done:]
        block = lines.readlines(max(BLOCK, sum(map(len, held))))


def _fitting(
    rows: Iterable[list[str]], width: int, delimiter: str, name: str, note: Note
) -> Iterator[Row]:
    """Yield a row for each document, whatever the number of its fields."""
    unfit = 0
    for row in rows:
        if len(row) == width:
            yield row
        elif width == 1:
            yield [delimiter.join(row)]
        elif row:
            unfit += 1
            yield [None] * width
    if unfit:
        note(
            f"{name}: rows with more or fewer fields than the header, which are documents with an "
            f"empty text: {unfit:,}; if there are many, check the delimiter"
        )
