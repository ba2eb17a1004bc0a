"""Write tables as CSV files, completely or not at all, without cells that a spreadsheet would run.

Text cells can hold words of a corpus or of a file that was evaluated. A cell that begins like a
formula gets an apostrophe in front, which spreadsheets read as plain text. Numbers stay unchanged.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from syntf.core.files import replacing

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""At the start of a file, it tells spreadsheets that the file is UTF-8."""

_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
_FORMULA_START = frozenset("=+-@＝＋－＠'\t\n")


def write_table(path: Path, header: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a header and rows to a CSV file; None becomes an empty cell."""
    with replacing(path) as file:
        file.write(as_csv(header, rows))


def as_csv(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> bytes:
    """Return the contents of a CSV file with this header and these rows."""
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(map(escape_cell, header))
    table.writerows(map(escape_cell, row) for row in rows)
    return text.getvalue().encode()


def escape_cell(cell: Any) -> Any:
    """Return the cell, with an apostrophe in front if it is text that begins like a formula.

    >>> escape_cell("=1+1"), escape_cell("top5-any"), escape_cell(-1.5), escape_cell("-1.5")
    ("'=1+1", 'top5-any', -1.5, '-1.5')
    """
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    cell = cell.replace("\r", " ")  # the csv module would write it unquoted, and it ends a line
    return f"'{cell}" if _FORMULA_START & {cell[:1], cell.lstrip()[:1]} else cell


def cell_text(cell: Any) -> str:
    """Return a cell as it stands in a CSV file, escaped and quoted where that is needed.

    >>> cell_text("cat"), cell_text("one, two"), cell_text("=x")
    ('cat', '"one, two"', "'=x")
    """
    return as_csv([cell], []).decode()[:-1]


def unescape_cell(cell: str) -> str:
    """Undo :func:`escape_cell`."""
    return cell[1:] if cell.startswith("'") else cell
