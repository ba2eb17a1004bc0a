"""Read JSON: lines of one object each, ended by a newline and by nothing else, or an array."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import polars as pl

from syntf.core.errors import SyntfError
from syntf.inputs.columns import require
from syntf.inputs.encodings import without_surrogates
from syntf.inputs.tables import Note, Row, as_text, frames

FIRST_ROWS = 1000
"""Objects that tell which columns there are."""


def read_json(
    file: io.BufferedReader,
    codec: str,
    name: str,
    columns: Sequence[str] | None,
    needed: Sequence[str],
    array: bool,
    note: Note,
) -> Iterator[pl.DataFrame]:
    """Read objects of JSON, every column as strings.

    A value that is no object, such as a string, is a text: the column `text`. A line that is not
    JSON is an empty document. A column that an object lacks is null there.

    Parameters
    ----------
    columns : the columns to read; None for those of the first thousand objects.
    needed : columns that one of the first thousand objects must have.
    array : the file holds one array, which is held in memory as a whole. If the file begins with an
        object, it is read as lines nevertheless.
    """
    with io.TextIOWrapper(file, codec, errors="replace", newline="\n") as opened:
        values = _array(opened.read(), name) if array else _lines(opened)
        first = list(islice(values, FIRST_ROWS))
        if not first:
            raise SyntfError(f"{name} is empty")
        found = [one for one in first if one is not None]
        if not found:
            raise SyntfError(f"cannot read {name}: line 1 is not JSON")
        if len(first) == 1 and all(isinstance(one, list | dict) for one in found[0].values()):
            raise SyntfError(
                f"{name} is one object, not a list of objects: save the list of the documents as a "
                "file of its own, or as pandas does by orient='records'"
            )
        known = [key for key in dict.fromkeys(chain(*found)) if key == without_surrogates(key)]
        require(needed, known)
        header = known if columns is None else columns
        missing = set(header) - set(known)
        broken = 0

        def rows() -> Iterator[Row]:
            nonlocal broken
            for one in chain(first, values):
                broken += one is None
                missing.difference_update(one or ())
                yield [as_text((one or {}).get(column)) for column in header]

        yield from frames(header, rows())
        require(sorted(missing), known)
    if broken:
        note(f"{name}: lines that are not JSON, which are documents with an empty text: {broken:,}")


def _lines(lines: Iterable[str]) -> Iterator[dict[str, Any] | None]:
    """Yield the objects of lines that are not blank; None for a line that is not JSON."""
    for line in filter(str.strip, lines):
        try:
            yield _as_object(json.loads(line))
        except (ValueError, RecursionError):
            yield None


def _array(content: str, name: str) -> Iterator[dict[str, Any] | None]:
    """Yield the objects of an array. A broken array cannot be divided into objects."""
    if content.lstrip().startswith("{"):
        return _lines(io.StringIO(content, newline="\n"))
    try:
        whole = json.loads(content or "[]")
    except (ValueError, RecursionError) as error:
        whole = error
    if not isinstance(whole, list):
        line = getattr(whole, "lineno", 1)
        raise SyntfError(f"cannot read {name}: line {line} is not well-formed JSON of an array")
    return map(_as_object, whole)


def _as_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"text": value}
