"""Read an mbox file: messages as rows, with their bodies as plain text.

A message ends where its Content-Length says, if a separator or the end of the file follows there.
Otherwise it ends at the next separator: a line ``From ADDRESS DATE`` after an empty line. A body
line that begins with ``From `` must be quoted (``>From ``). A message with an unquoted one is
broken, since nothing tells its text from the beginning of another message.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import IO

import polars as pl

from syntf.core.errors import SyntfError
from syntf.inputs.formats.mail import HEADERS, read_message

SIZE = 1 << 22
"""Characters after which rows are handed on."""

LONGEST_BODY = 1 << 26
"""The largest Content-Length that is followed."""

_SEPARATOR = re.compile(rb"From .*\b\d{1,2}:\d\d(:\d\d)?\b.*\b\d{4}\b")
_CONTENT_LENGTH = re.compile(rb"content-length:\s*(\d{1,9})\s*$", re.IGNORECASE)


def frames(
    file: IO[bytes], *, name: str, most: int, broken: Callable[[int, str], None]
) -> Iterator[pl.DataFrame]:
    """Yield columns text (the body), subject, from and date, at most `most` messages at once.

    `broken` is called with the line that makes a message broken, and what is wrong with it.
    """
    rows: list[list[str]] = []
    size = 0
    for raw in _messages(_Lines(file), name, broken):
        rows.append(read_message(raw))
        size += len(rows[-1][0])
        if len(rows) == most or size >= SIZE:
            yield _frame(rows)
            rows, size = [], 0
    if rows:
        yield _frame(rows)


class _Lines:
    """The lines of a file, some of which can be put back to be read again."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._again: deque[bytes] = deque()
        self.number = 0
        """The number of the last line read."""

    def next(self) -> bytes:
        """Return the next line with its end, or nothing after the last one."""
        line = self._again.popleft() if self._again else self._file.readline()
        self.number += bool(line)
        return line

    def put_back(self, lines: list[bytes]) -> None:
        self._again.extendleft(reversed(lines))
        self.number -= len(lines)


def _messages(lines: _Lines, name: str, broken: Callable[[int, str], None]) -> Iterator[bytes]:
    """Yield the bytes of each message, from its first header to its last body line."""
    line = lines.next()
    while line and not line.strip():
        line = lines.next()
    if line and not _SEPARATOR.match(line):
        raise SyntfError(f"cannot read {name}: line {lines.number} is no separator of an mbox file")
    while line:  # a separator
        head = _head(lines)
        body = _by_content_length(lines, head)
        if body is not None:
            yield b"".join(head + body)
            line = lines.next()
            continue
        body, line, wrong = _by_separator(lines)
        if wrong is None:
            yield b"".join(head + body)
        else:
            broken(wrong, "begins with 'From ' and is no separator: quote it as '>From '")


def _head(lines: _Lines) -> list[bytes]:
    """Read the headers and the empty line after them."""
    head: list[bytes] = []
    while line := lines.next():
        if line.startswith(b"From "):  # a message of no headers and no body
            lines.put_back([line])
            break
        head.append(line)
        if not line.strip():
            break
    return head


def _by_content_length(lines: _Lines, head: list[bytes]) -> list[bytes] | None:
    """Read the body that Content-Length announces; None, with nothing read, if that is wrong."""
    matches = [match for match in map(_CONTENT_LENGTH.match, head) if match]
    length = int(matches[0][1]) if len(matches) == 1 else -1
    if not 0 <= length <= LONGEST_BODY or not head or head[-1].strip():
        return None
    body: list[bytes] = []
    size = 0
    while size < length and (line := lines.next()):
        body.append(line)
        size += len(line)
    after: list[bytes] = []
    while (line := lines.next()) and not line.strip():
        after.append(line)
    if size == length and (not line or _SEPARATOR.match(line)):
        if line:
            lines.put_back([line])
        return body
    lines.put_back([*body, *after, *([line] if line else [])])
    return None


def _by_separator(lines: _Lines) -> tuple[list[bytes], bytes, int | None]:
    """Read a body up to the next separator.

    Returns the body, the separator (empty at the end of the file), and the number of the first
    line that begins with ``From `` without being a separator.
    """
    body: list[bytes] = []
    wrong = None
    while line := lines.next():
        if line.startswith(b"From "):
            if _SEPARATOR.match(line) and (not body or not body[-1].strip()):
                break
            wrong = wrong or lines.number
        body.append(line)
    if body and not body[-1].strip():
        body.pop()  # the empty line before a separator
    return body, line, wrong


def _frame(rows: list[list[str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, dict.fromkeys(("text", *HEADERS), pl.String), orient="row")
