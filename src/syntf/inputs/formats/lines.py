"""Read a text file of which every line is a document."""

import io
from collections.abc import Iterator
from typing import Any

from syntf.inputs.rows import Rows

SIZE = 1 << 22
"""Characters after which rows are handed on."""


def frames(file: Any, *, encoding: str, most: int) -> Iterator[Rows]:
    """Yield the lines of a binary file in a column ``text``; an empty line is an empty document.

    A line ends with a newline and with nothing else.
    """
    with io.TextIOWrapper(file, encoding, errors="replace", newline="\n") as lines:
        rows: list[str] = []
        size = 0
        for line in lines:
            rows.append(line.removesuffix("\n").removesuffix("\r"))
            size += len(line)
            if len(rows) == most or size >= SIZE:
                yield Rows({"text": rows}, len(rows))
                rows, size = [], 0
        if rows:
            yield Rows({"text": rows}, len(rows))
