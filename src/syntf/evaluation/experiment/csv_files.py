"""Tables as CSV files: whole or not at all, and with no cell that a spreadsheet would execute.

Cells of text can be words of whoever ran an evaluation, or of a file that was evaluated. One
that begins like a formula gets an apostrophe in front, which spreadsheets take for "as it is".
"""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from syntf.core.files import replacing

_FORMULA = frozenset("=+-@＝＋－＠'\t\n")


def write(path: Path, head: Sequence[str], lines: Iterable[Iterable[Any]]) -> None:
    """A file of these lines; None is an empty cell."""
    with replacing(path) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
        table = csv.writer(text, lineterminator="\n")
        table.writerow(map(inert, head))
        table.writerows(map(inert, line) for line in lines)


def inert(cell: Any) -> Any:
    """The cell, or, where text begins like a formula, the same after an apostrophe.

    >>> inert("=1+1"), inert("top5-any"), inert(-1.5)
    ("'=1+1", 'top5-any', -1.5)
    """
    if not isinstance(cell, str):
        return cell
    cell = cell.replace("\r", " ")  # which would end the line unquoted
    return f"'{cell}" if _FORMULA & {cell[:1], cell.lstrip()[:1]} else cell


def meant(cell: str) -> str:
    """What :func:`inert` was given."""
    return cell[1:] if cell.startswith("'") else cell
