"""Read JSON lines: one object per line, ended by a newline and by nothing else.

Each value becomes text by itself, so that no row changes how another one is read. A column that
a row lacks is null there.
"""

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from syntf.core.errors import SyntfError
from syntf.inputs.encodings import UTF_8
from syntf.inputs.files import without_surrogates

SIZE = 1 << 22
"""Characters after which rows are handed on."""


def frames(
    file: Any,
    *,
    name: str,
    encoding: str,
    columns: Sequence[str] | None,
    text: str | None,
    most: int,
    broken: Callable[[int, str], None],
) -> Iterator[pl.DataFrame]:
    """Yield the objects of a binary file as rows, every column as strings.

    Parameters
    ----------
    name : the file, for messages.
    columns : the columns to read; None for all columns of all rows, in one piece.
    text : the column that must hold no list and no object.
    most : the largest number of rows in a piece.
    broken : called with the number of a line that is left out, and what is wrong with it.
    """
    with io.TextIOWrapper(file, encoding, errors="replace", newline="\n") as lines:
        rows: list[dict[str, str | None]] = []
        found = readable = False
        size = 0
        missing = dict.fromkeys(columns or ())
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            found = True
            row = _parse(line, encoding)
            if row is None:
                broken(number, "is not a JSON object")
                continue
            if text is not None and isinstance(row.get(text), dict | list):
                broken(number, "has a list or an object where the text should be")
                continue
            readable = True
            for key in row.keys() & missing.keys():
                del missing[key]
            wanted = row.keys() if columns is None else row.keys() & set(columns)
            try:
                rows.append({key: _as_text(row[key]) for key in row if key in wanted})
            except RecursionError:
                broken(number, "is nested too deeply")
                continue
            size += len(line)
            if columns is not None and (len(rows) == most or size >= SIZE):
                yield _frame(rows, columns)
                rows, size = [], 0
        if not found:
            raise SyntfError(f"{name} is empty")
        if missing and readable:
            raise SyntfError(f"no row of {name} has a column {next(iter(missing))!r}")
        if rows:
            yield _frame(rows, columns or list(dict.fromkeys(key for row in rows for key in row)))


def find_columns(file: Any, *, encoding: str, columns: Sequence[str]) -> list[str]:
    """Return the columns of a file, read only until all of `columns` were found."""
    known: dict[str, None] = {}
    with io.TextIOWrapper(file, encoding, errors="replace", newline="\n") as lines:
        for line in lines:
            known |= dict.fromkeys(_parse(line, encoding) or ())
            if known.keys() >= set(columns):
                break
    return list(known)


def _parse(line: str, encoding: str) -> dict[str, Any] | None:
    """Return the object in a line, with numbers as they are spelt, or None if it is none."""
    # UTF-8 holds half a surrogate pair only as an escape.
    surrogates = encoding != UTF_8 or "\\ud" in line or "\\uD" in line
    try:
        row = json.loads(
            line,
            object_hook=_clean_object if surrogates else None,
            parse_int=_Number,
            parse_float=_number,
            parse_constant=_Number,
        )
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


class _Number(str):
    """A number of a JSON file, as it is spelt."""


def _number(literal: str) -> _Number:
    """Spell a whole number without decimals: an id 17 exported as 17.0 stays the same id."""
    value = float(literal)
    return _Number(int(value) if value.is_integer() and abs(value) < 1 << 53 else literal)


def _as_text(value: Any) -> str | None:
    """Return a JSON value as text, by itself: strings as they are, others as JSON."""
    if type(value) is str or value is None:
        return value
    if isinstance(value, _Number):
        return str(value)
    return _as_json(value)


def _as_json(value: Any) -> str:
    match value:
        case _Number():
            return str(value)
        case list():
            return f"[{', '.join(map(_as_json, value))}]"
        case Mapping():
            pairs = (f"{json.dumps(key)}: {_as_json(one)}" for key, one in value.items())
            return f"{{{', '.join(pairs)}}}"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _clean_object(row: dict[str, Any]) -> dict[str, Any]:
    """Replace halves of surrogate pairs in an object; the objects in it were cleaned before."""
    return {without_surrogates(key): _clean(value) for key, value in row.items()}


def _clean(value: Any) -> Any:
    if type(value) is str:
        return without_surrogates(value)
    return [_clean(item) for item in value] if isinstance(value, list) else value


def _frame(rows: Sequence[Mapping[str, str | None]], columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(
        [pl.Series(column, [row.get(column) for row in rows], pl.String) for column in columns]
    )
