"""Read a sheet of an Excel file (.xlsx), every cell by itself."""

import io
from collections.abc import Iterator
from typing import IO, Any

import polars as pl

from syntf.core.errors import SyntfError, suggestion
from syntf.core.extras import needed_for
from syntf.inputs.columns import named
from syntf.inputs.tables import Note, as_text, frames


def read_excel(file: IO[bytes], name: str, sheet: str | None, note: Note) -> Iterator[pl.DataFrame]:
    """Read a sheet, every column as strings; the first row names the columns.

    A blank row is an empty document, also at the end: leaving it out would show that a text is
    empty. Cells beyond the last named column are left out.
    """
    with needed_for(f"reading {name}", "files"):
        from openpyxl import load_workbook
    try:
        seekable = file if file.seekable() else io.BytesIO(file.read())
        book = load_workbook(seekable, read_only=True, data_only=True, keep_links=False)
        rows = _sheet(book, sheet, name, note).iter_rows(values_only=True)
        header = [as_text(value) or "" for value in next(rows, ())]
        while header and not header[-1]:
            header.pop()
        if not header:
            raise SyntfError(
                f"{name}: the first row of the sheet names no columns: remove the rows above the "
                "names"
            )
        width = len(header)
        cells = ([as_text(value) for value in row[:width]] for row in rows)
        padded = ([*row, *[None] * (width - len(row))] for row in cells)
        yield from frames(named(header, name), padded)
        book.close()
    except SyntfError:
        raise
    except Exception:  # openpyxl raises many things, and may quote a cell
        raise SyntfError(
            f"cannot read {name}: it is not an Excel file (.xlsx), or damaged"
        ) from None


def _sheet(book: Any, wanted: str | None, name: str, note: Note) -> Any:
    titles = [sheet.title for sheet in book.worksheets]
    if wanted is not None and wanted not in titles:
        hint = suggestion(wanted, titles)
        raise SyntfError(f"{name} has no sheet {wanted!r}; it has {', '.join(titles)}{hint}")
    if wanted is None and len(titles) > 1:
        note(f"{name}: read the first of {len(titles)} sheets; --sheet NAME reads another")
    return book.worksheets[titles.index(wanted) if wanted else 0]
