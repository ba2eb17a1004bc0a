"""JSON lines: one object a line, ended by a newline and by nothing else."""

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from syntf.core.characters import UTF_8, whole
from syntf.core.errors import SyntfError

SIZE = 1 << 25
"""Characters handed on at once: many, as what a column holds is told from all of them."""


def frames(
    file: Any, *, name: str, encoding: str, most: int, fault: Callable[[int, str], None]
) -> Iterator[pl.DataFrame]:
    """The objects of a binary file as rows, in pieces of at most `most`.

    What is no object is left out, if `fault`, told its line, returns.
    """
    with io.TextIOWrapper(file, encoding, errors="replace", newline="\n") as lines:
        rows: list[dict[str, Any]] = []
        found, size = False, 0
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            found = True
            row = _parsed(line, encoding)
            if not isinstance(row, dict):
                fault(number, "is not a JSON object")
                continue
            rows.append(row)
            size += len(line)
            if len(rows) == most or size >= SIZE:
                yield _frame(rows)
                rows, size = [], 0
        if not found:
            raise SyntfError(f"{name} is empty")
        if rows:
            yield _frame(rows)


def _parsed(line: str, encoding: str) -> Any:
    # In UTF-8 half a surrogate pair can only be spelt: no bytes are decoded to one.
    halves = encoding != UTF_8 or "\\ud" in line or "\\uD" in line
    try:
        return json.loads(line, object_hook=_whole_characters if halves else None)
    except (ValueError, RecursionError):
        return None


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.from_dicts(rows, infer_schema_length=None, strict=False)


def _whole_characters(row: dict[str, Any]) -> dict[str, Any]:
    return {whole(key): whole(value) for key, value in row.items()}
