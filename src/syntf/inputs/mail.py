"""Read e-mail: single messages, and mbox files with many.

In an mbox file a message ends where its Content-Length says, if a separator or the end of the file
follows there. Otherwise it ends at the next separator: a line ``From ADDRESS DATE`` after an empty
line. Programs that write mbox quote such a line in a body (``>From ``). The format leaves open what
an unquoted one means: here it begins another message.
"""

import re
from collections import deque
from collections.abc import Iterator
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import EmailPolicy
from typing import IO, cast

import polars as pl

from syntf.core.errors import SyntfError
from syntf.inputs.encodings import decoded
from syntf.inputs.html_text import html_to_text
from syntf.inputs.tables import frames

HEADERS = ("subject", "from", "date")
"""The headers that are columns, beside the text."""

LONGEST_BODY = 1 << 26
"""The largest Content-Length that is followed."""

LONGEST_HEADER = 2000
"""Characters of a header that are read: the standard library takes hours for very long ones."""

_SEPARATOR = re.compile(rb"From .*\b\d{1,2}:\d\d(:\d\d)?\b.*\b\d{4}\b")
_CONTENT_LENGTH = re.compile(rb"content-length:\s*(\d{1,9})\s*$", re.IGNORECASE)


class _Policy(EmailPolicy):
    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:LONGEST_HEADER]


_PARSER = BytesParser(policy=_Policy())


def read_message(raw: bytes) -> list[str]:
    """Return the body of a message as plain text, and its headers `HEADERS`; never fails.

    If the standard library cannot take a message apart, such as one with a thousand parts inside
    one another, all that follows its headers is the body.
    """
    try:
        message = cast(EmailMessage, _PARSER.parsebytes(raw))
        return [_body(message), *(_header(message, header) for header in HEADERS)]
    except Exception:  # the parser raises many things on broken messages
        body = raw.replace(b"\r\n", b"\n").partition(b"\n\n")[2]
        return [body.decode("utf-8", "replace"), *("" for _ in HEADERS)]


def _body(message: EmailMessage) -> str:
    """Return the body of a message; without markup if it has nothing but HTML."""
    try:
        part = message.get_body(("plain", "html"))
    except (AttributeError, KeyError, ValueError):
        part = message
    if part is None:
        return ""
    raw = part.get_payload(decode=True)
    content = raw if isinstance(raw, bytes) else b""
    text = decoded(content, part.get_content_charset() or "utf-8", "latin-1")
    return html_to_text(text) if part.get_content_subtype() == "html" else text


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(message.get(name, ""))
    except Exception:  # the parser of headers raises many things on broken ones
        return ""


def read_mbox(file: IO[bytes], name: str) -> Iterator[pl.DataFrame]:
    """Read an mbox file: columns text (the body), subject, from and date."""
    messages = map(read_message, _messages(_Lines(file), name))
    yield from frames(["text", *HEADERS], messages)


class _Lines:
    """The lines of a file, some of which can be put back to be read again."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._again: deque[bytes] = deque()

    def next(self) -> bytes:
        """Return the next line with its end, or nothing after the last one."""
        return self._again.popleft() if self._again else self._file.readline()

    def put_back(self, lines: list[bytes]) -> None:
        self._again.extendleft(reversed(lines))


def _messages(lines: _Lines, name: str) -> Iterator[bytes]:
    """Yield the bytes of each message, from its first header to its last body line."""
    line = lines.next()
    while line and not line.strip():
        line = lines.next()
    if line and not _SEPARATOR.match(line):
        raise SyntfError(f"cannot read {name}: its first line is no separator of an mbox file")
    while line:  # a separator
        head = _head(lines)
        body = _by_content_length(lines, head)
        if body is not None:
            line = lines.next()
        else:
            body, line = _by_separator(lines)
        yield b"".join(head + body)


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


def _by_separator(lines: _Lines) -> tuple[list[bytes], bytes]:
    """Read a body up to the next separator; return both. At the end of the file it is empty."""
    body: list[bytes] = []
    while line := lines.next():
        if _SEPARATOR.match(line) and (not body or not body[-1].strip()):
            break
        body.append(line)
    if body and not body[-1].strip():
        body.pop()  # the empty line before a separator
    return body, line
