"""Read a sheet of an Excel file (.xlsx), every cell by itself."""

import datetime
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import polars as pl

from syntf.core.errors import SyntfError, suggestion
from syntf.inputs.files import without_surrogates
from syntf.inputs.rows import named

SIZE = 1 << 22
"""Characters after which rows are handed on."""


def frames(
    file: Any, *, name: str, sheet: str | None, most: int, note: Callable[[str], None]
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a sheet, every column as strings; the first row names the columns.

    A blank row is an empty document, also at the end: leaving it out would show that a text is
    empty. `note` is called if there are several sheets, or blank rows at the end.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise SyntfError(
            f"cannot read {name}: an Excel file needs pip install 'syntf[files]'"
        ) from None
    try:
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
    except Exception:  # it raises many things, and may quote a cell
        raise _damaged(name) from None
    try:
        rows = _rows(_sheet(book, sheet, name, note), name)
        header = _header(next(rows, ()), name)
        held: list[list[str | None]] = []
        size = blank = 0
        for row in rows:
            cells = [_as_text(value) for value in row]
            blank = 0 if any(cells) else blank + 1
            if any(cells[len(header) :]):
                raise SyntfError(
                    f"cannot read {name}: a row has more cells than the first row has names"
                )
            held.append([*cells[: len(header)], *[None] * (len(header) - len(cells))])
            size += sum(len(cell or "") for cell in cells)
            if len(held) == most or size >= SIZE:
                yield _frame(header, held)
                held, size = [], 0
        yield _frame(header, held)
        if blank:
            note(f"{name}: the last {blank:,} rows are blank; they are empty documents")
    finally:
        book.close()


def _sheet(book: Any, wanted: str | None, name: str, note: Callable[[str], None]) -> Any:
    titles = [sheet.title for sheet in book.worksheets]
    if wanted is not None and wanted not in titles:
        hint = suggestion(wanted, titles)
        raise SyntfError(f"{name} has no sheet {wanted!r}; it has {', '.join(titles)}{hint}")
    if not titles:
        raise SyntfError(f"{name} has no sheet of cells")
    if wanted is None and len(titles) > 1:
        note(f"{name}: read the first of {len(titles)} sheets; --sheet NAME reads another")
    return book.worksheets[titles.index(wanted) if wanted else 0]


def _rows(sheet: Any, name: str) -> Iterator[Sequence[Any]]:
    try:
        yield from sheet.iter_rows(values_only=True)
    except Exception:
        raise _damaged(name) from None


def _header(cells: Sequence[Any], name: str) -> list[str]:
    names = [_as_text(value) or "" for value in cells]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise SyntfError(
            f"{name}: the first row of the sheet names no columns: remove the rows above the names"
        )
    return named(names, name)


def _as_text(value: Any) -> str | None:
    """Return a cell as text, by itself: whole numbers without decimals, dates as in ISO 8601."""
    match value:
        case None | str():
            return value if value is None else without_surrogates(value)
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer() and abs(value) < 1 << 53:
            return str(int(value))
        case datetime.date() | datetime.time():
            return value.isoformat()
        case _:
            return str(value)


def _damaged(name: str) -> SyntfError:
    return SyntfError(f"cannot read {name}: it is not an Excel file (.xlsx), or damaged")


def _frame(header: Sequence[str], rows: Sequence[Sequence[str | None]]) -> pl.DataFrame:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    return pl.DataFrame(
        [pl.Series(n, list(c), pl.String) for n, c in zip(header, columns, strict=True)]
    )
