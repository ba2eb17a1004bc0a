"""Read single e-mail messages: the body as plain text, and some headers."""

from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from syntf.inputs.files import without_surrogates
from syntf.inputs.formats.html_text import html_to_text

HEADERS = ("subject", "from", "date")

_PARSER = BytesParser(policy=policy.default)


def read_message(raw: bytes) -> list[str]:
    """Return the body of a message and its headers `HEADERS`, each a text."""
    message = _PARSER.parsebytes(raw)
    return [_body(message), *(_header(message, header) for header in HEADERS)]


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
    charset = part.get_content_charset() or "utf-8"
    try:
        text = content.decode(charset, "replace")
    except LookupError:
        text = content.decode("latin-1")
    if part.get_content_subtype() == "html":
        text = html_to_text(text)
    return without_surrogates(text)


def _header(message: EmailMessage, name: str) -> str:
    try:
        return without_surrogates(str(message.get(name, "")))
    except Exception:  # the parser of headers raises many things on broken ones
        return ""
