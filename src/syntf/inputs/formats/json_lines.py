"""Read JSON: lines of one object each, ended by a newline and by nothing else, or an array.

Each value becomes text by itself, so that no row changes how another one is read. A column that
a row lacks is null there.
"""

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TextIO

import polars as pl

from syntf.core.errors import SyntfError
from syntf.inputs.columns import LISTED_COLUMNS, require
from syntf.inputs.encodings import UTF_8
from syntf.inputs.files import without_surrogates

_BLANKS = re.compile(r"[ \t\r\n]*")

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
    array: bool = False,
) -> Iterator[pl.DataFrame]:
    """Yield the objects of a binary file as rows, every column as strings.

    Parameters
    ----------
    name : the file, for messages.
    columns : the columns to read; None for all columns of all rows, in one piece.
    text : the column that must hold no list and no object.
    most : the largest number of rows in a piece.
    broken : called with the number of a line that is left out, and what is wrong with it.
    array : the file holds one array of objects. The whole file is then held in memory. If it begins
        with an object it is read as JSON lines nevertheless.
    """
    rows: list[dict[str, str | None]] = []
    found = readable = tabular = False
    size = 0
    missing = dict.fromkeys(columns or ())
    seen: dict[str, None] = {}
    listed = ""
    with io.TextIOWrapper(file, encoding, errors="replace", newline="\n") as opened:
        parsed = _parsed_array(opened, encoding, name) if array else _parsed_lines(opened, encoding)
        for number, length, row in parsed:
            tabular = array and not found and _is_table(row)
            found = True
            if row is None:
                broken(number, "is not a JSON object")
                continue
            if text is not None and isinstance(row.get(text), dict | list):
                broken(number, "has a list or an object where the text should be")
                continue
            readable = True
            if missing and len(seen) < LISTED_COLUMNS:
                seen.update(dict.fromkeys(row))
                listed = listed or _list_of_objects(row)
            for key in row.keys() & missing.keys():
                del missing[key]
            wanted = row.keys() if columns is None else row.keys() & set(columns)
            try:
                rows.append({key: _as_text(row[key]) for key in row if key in wanted})
            except RecursionError:
                broken(number, "is nested too deeply")
                continue
            size += length
            if columns is not None and (len(rows) == most or size >= SIZE):
                yield _frame(rows, columns)
                rows, size = [], 0
    if not found:
        raise SyntfError(f"{name} is empty")
    if tabular and not listed and (missing or not readable):
        raise SyntfError(
            f"{name} is one object, not a list of objects: save it as one, as pandas does by "
            "orient='records'"
        )
    if missing and readable:
        if listed:
            raise SyntfError(
                f"{name} is one object, and its documents seem to be the list {listed!r}: save "
                "this list as a file of its own"
            )
        require(list(missing), list(seen))
    if rows:
        yield _frame(rows, columns or list(dict.fromkeys(key for row in rows for key in row)))


def _list_of_objects(row: Mapping[str, Any]) -> str:
    """Return the name of a list of objects in a row; empty if there is none."""
    for key, value in row.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return key
    return ""


def _is_table(row: Mapping[str, Any] | None) -> bool:
    """Return whether an object holds lists or objects alone, as a table by columns does."""
    return bool(row) and all(isinstance(value, list | dict) for value in (row or {}).values())


_Parsed = Iterator[tuple[int, int, dict[str, Any] | None]]
"""Lines, lengths and objects of a file; None in place of what is no object."""


def _parsed_lines(lines: Iterable[str], encoding: str) -> _Parsed:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, len(line), _parse(line, encoding)


def _parsed_array(file: TextIO, encoding: str, name: str) -> _Parsed:
    """Yield the members of an array one by one; nothing is read after a mistake in its JSON."""
    content = file.read()
    if content.lstrip().startswith("{"):
        yield from _parsed_lines(io.StringIO(content, newline="\n"), encoding)
        return
    decoder = _decoder(surrogates=encoding != UTF_8 or "\\ud" in content.lower())
    at, line, counted = _after_blanks(content, 0), 1, 0
    if not content[at:]:
        return
    opened, wanted = content[at] == "[", ","
    at = _after_blanks(content, at + 1)
    more = opened and content[at : at + 1] != "]"
    try:
        while more:
            line, counted = line + content.count("\n", counted, at), at
            value, end = decoder.raw_decode(content, at)
            yield line, end - at, value if isinstance(value, dict) else None
            at = _after_blanks(content, end)
            more = content[at : at + 1] == wanted
            if more:
                at = _after_blanks(content, at + 1)
        whole = opened and content[at : at + 1] == "]" and not content[at + 1 :].strip()
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        line += content.count("\n", counted, at)
        raise SyntfError(f"cannot read {name}: line {line} is not well-formed JSON of an array")


def _after_blanks(content: str, at: int) -> int:
    """Return the place of the first character from `at` on that is no blank."""
    found = _BLANKS.match(content, at)
    return found.end() if found else at


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
        row = _decoder(surrogates=surrogates).decode(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


@cache
def _decoder(*, surrogates: bool) -> json.JSONDecoder:
    """Return a decoder that keeps the spelling of numbers, and replaces lone surrogates."""
    return json.JSONDecoder(
        object_hook=_clean_object if surrogates else None,
        parse_int=_Number,
        parse_float=_number,
        parse_constant=_Number,
    )


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
