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
from itertools import dropwhile, islice
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
_HEAD = re.compile(rb".*?\n[^\S\n]*\n", re.DOTALL)  # to the first empty line
_BLANK_END = re.compile(rb"^[^\S\n]*\n\Z", re.MULTILINE)
_CONTENT_LENGTH = re.compile(rb"^content-length:\s*(\d{1,9})\s*$", re.IGNORECASE | re.MULTILINE)


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
    yield from frames(["text", *HEADERS], map(read_message, _messages(file, name)))


def _messages(file: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield the bytes of each message, from its first header to its last body line."""
    pieces = _pieces(file, name)
    held: deque[bytes] = deque()

    def take() -> bytes:
        return held.popleft() if held else next(pieces, b"")

    while first := take():
        head = _HEAD.match(first)
        lengths = _CONTENT_LENGTH.findall(head[0]) if head else []
        length = int(lengths[0]) if len(lengths) == 1 else LONGEST_BODY + 1
        end = head.end() + length if head and length <= LONGEST_BODY else 0
        parts, size = [first], len(first)
        while size < end and (part := take()):
            parts.append(part)
            size += len(part)
        whole = b"".join(parts)
        ends_a_line = whole[end - 1 : end] == b"\n" or len(whole) == end
        if end and ends_a_line and not whole[end:].strip():
            yield whole[:end].partition(b"\n")[2]
            continue
        held.extendleft(reversed(parts[1:]))
        parts = [first]
        while head and not _BLANK_END.search(parts[-1]) and (part := take()):
            parts.append(part)
        whole = b"".join(parts)
        body = head.end() if head else len(whole)
        yield (whole[:body] + _BLANK_END.sub(b"", whole[body:])).partition(b"\n")[2]


def _pieces(file: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield the bytes from each separator to the next one, wherever it stands."""
    lines = dropwhile(lambda line: not line.strip(), file)
    piece = list(islice(lines, 1))
    if piece and not _SEPARATOR.match(piece[0]):
        raise SyntfError(f"cannot read {name}: its first line is no separator of an mbox file")
    for line in lines:
        if _SEPARATOR.match(line):
            yield b"".join(piece)
            piece = []
        piece.append(line)
    yield b"".join(piece)
