"""Read a file that is one document: plain text, an e-mail, HTML, PDF or Word."""

import io
import logging
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import PurePath

from syntf.core.errors import SyntfError
from syntf.inputs.archives import COMPRESSED
from syntf.inputs.encodings import Undecodable, codec_of_document, decode
from syntf.inputs.files import DOCUMENTS, without_surrogates

EXTRA = "pip install 'syntf[files]'"

_PACKAGES = {"pdf": "pypdf", "docx": "docx"}
"""The packages that read a kind, by the names under which they are imported."""
_DESCRIBED = {"pdf": "a PDF file", "docx": "a Word file"}


class DamagedDocument(Exception):
    """A file is not what its name says; the message ends a sentence that begins with its name."""


def kind_of(name: str) -> str | None:
    """Return the kind of a document by its name alone; None for names of other files.

    A name without a suffix, or with a number as in ``mail.17``, is that of a text. No name tells
    what is in a file, and no content decides whether the file is read: that would be seen.

    >>> kind_of("a.eml"), kind_of("page.HTML.gz"), kind_of("51121"), kind_of("photo.png")
    ('mail', 'html', 'text', None)
    """
    path = PurePath(name)
    suffix = path.suffix.lower()
    if suffix in COMPRESSED:
        suffix = PurePath(path.stem).suffix.lower()
    return "text" if suffix[1:].isdecimal() or not suffix else DOCUMENTS.get(suffix)


def is_installed(kind: str) -> bool:
    """Return whether the package that reads a kind of document is installed."""
    return kind not in _PACKAGES or find_spec(_PACKAGES[kind]) is not None


def require_installed(kind: str, name: str) -> None:
    """Refuse a document if the package that reads it is not installed."""
    if not is_installed(kind):
        raise SyntfError(f"cannot read {name}: {_DESCRIBED[kind]} needs {EXTRA}")


def read_document(raw: bytes, kind: str, *, name: str, codec: str, undecodable: Undecodable) -> str:
    """Return the text of a document.

    codec : the codec of texts and pages; a byte order mark at the beginning of this document
        replaces the default, UTF-8, for this document alone.

    Raises DamagedDocument if the file is not of its kind, and SyntfError for undecodable bytes.
    """
    codec = codec_of_document(raw, codec)
    if kind == "text":
        return decode(raw, codec, name, undecodable)
    if kind == "mail":
        from syntf.inputs.formats.mail import read_message

        return read_message(raw)[0]
    if kind == "html":
        from syntf.inputs.formats.html_text import decode_html, html_to_text

        return html_to_text(decode_html(raw, codec, name, undecodable))
    read: Callable[[bytes], str] = _read_pdf if kind == "pdf" else _read_docx
    try:
        return without_surrogates(read(raw))
    except Exception:  # these packages raise many things, and may quote the file
        raise DamagedDocument(f"is not {_DESCRIBED[kind]}, or damaged or encrypted") from None


def _read_pdf(raw: bytes) -> str:
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # its warnings may quote the file
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(raw)).pages)


def _read_docx(raw: bytes) -> str:
    from docx import Document
    from docx.table import Table

    def texts(container: object) -> list[str]:
        found: list[str] = []
        for item in container.iter_inner_content():  # type: ignore[attr-defined]
            if isinstance(item, Table):
                found += [text for row in item.rows for cell in row.cells for text in texts(cell)]
            else:
                found.append(item.text)
        return found

    return "\n".join(texts(Document(io.BytesIO(raw))))
