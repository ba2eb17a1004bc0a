"""An mbox: messages as rows, with their bodies as plain text."""

import mailbox
import re
from collections.abc import Iterator
from contextlib import closing
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path

import polars as pl

from syntf.core.characters import whole

SIZE = 1 << 22
"""Characters handed on at once."""

_HEADERS = ("subject", "from", "date")


def frames(source: Path, most: int) -> Iterator[pl.DataFrame]:
    """Columns text (the body), subject, from, date, in pieces of at most `most` messages."""
    parser = BytesParser(policy=policy.default)
    rows: list[list[str]] = []
    size = 0
    with closing(mailbox.mbox(source, create=False)) as box:
        keys = box.keys()
        for key in keys:
            message = parser.parsebytes(box.get_bytes(key))
            rows.append([_body(message), *(_header(message, name) for name in _HEADERS)])
            size += len(rows[-1][0])
            if len(rows) == most or size >= SIZE:
                yield _frame(rows)
                rows, size = [], 0
    if rows:
        yield _frame(rows)


def _frame(rows: list[list[str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, dict.fromkeys(("text", *_HEADERS), pl.String), orient="row")


def _body(message: EmailMessage) -> str:
    """The body of a message; markup removed where there is nothing but HTML."""
    try:
        part = message.get_body(("plain", "html"))
    except (AttributeError, KeyError, ValueError):
        part = message
    if part is None:
        return ""
    raw = part.get_payload(decode=True)
    content = raw if isinstance(raw, bytes) else b""
    charset = part.get_content_charset() or "utf-8"
    try:
        text = content.decode(charset, "replace")
    except LookupError:
        text = content.decode("latin-1")
    if part.get_content_subtype() == "html":
        text = re.sub(r"<[^>]*>", " ", text)
    return str(whole(text))


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(whole(str(message.get(name, ""))))
    except Exception:  # the parser of headers raises many things on broken ones
        return ""
