"""Read files that are one document each: plain text, e-mail, HTML, PDF, Word; folders of them.

Names decide which files of a folder are read, never their contents. Hidden files and links are left
out: a link may lead out of the folder, or to a document that is read anyway. A file that cannot be
read as what its name says is an empty document.
"""

import io
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from syntf.core.errors import SyntfError
from syntf.core.extras import needed_for
from syntf.inputs.encodings import marked_codec
from syntf.inputs.formats import FORMATS, kind_of, suffixes
from syntf.inputs.html_text import decode_html, html_to_text
from syntf.inputs.mail import HEADERS, read_message
from syntf.inputs.packed import unpacked
from syntf.inputs.places import Place, plain_errors, shown_path
from syntf.inputs.tables import Note, Row, frames

_PACKAGES = {"pdf": "pypdf", "docx": "docx"}
"""The packages that read a kind, by the names under which they are imported."""

Document = tuple[Place, str]
"""Where a document is, and the path to call it by."""


def read_documents(documents: Sequence[Document], codec: str, note: Note) -> Iterator[pl.DataFrame]:
    """Read documents, each a row of its path and its text.

    If one of them is a mail, by its name, there are columns for the headers of mails. They are null
    for all other documents.
    """
    mails = any(kind_of(place.name) == "mail" for place, _ in documents)
    header = ["path", "text", *(HEADERS if mails else ())]
    yield from frames(header, _rows(documents, codec, len(header), note))


def _rows(documents: Iterable[Document], codec: str, width: int, note: Note) -> Iterator[Row]:
    damaged = 0
    for place, path in documents:
        with (
            plain_errors(place),
            place.open() as raw,
            unpacked(raw, place.suffix, place.shown) as plain,
        ):
            content = plain.read()
        kind = kind_of(place.name) or "text"
        headers: Sequence[str] = ()
        if kind == "mail":
            text, *headers = read_message(content)
        elif kind == "html":
            text = html_to_text(decode_html(content, marked_codec(content, codec)))
        elif kind == "text":
            text = content.decode(marked_codec(content, codec), "replace")
        else:
            try:
                text = (_read_pdf if kind == "pdf" else _read_docx)(content)
            except Exception:  # these packages raise many things
                text = ""
                damaged += 1
        yield [path, text, *headers, *[None] * (width - 2 - len(headers))]
    if damaged:
        note(
            "damaged or encrypted PDF and Word files, which are documents with an empty text: "
            f"{damaged:,}"
        )


def single_document(place: Place, path: str | None = None) -> Document:
    """Return a file as a document; refuse it if the package that reads it is not installed."""
    with needed_for(f"reading {place.shown}", "files"):
        if package := _PACKAGES.get(kind_of(place.name) or ""):
            import_module(package)
    return place, path or place.name


def list_folder(folder: Path, note: Note) -> list[Document]:
    """Return the documents of a folder; refuse a folder of tables, or of no documents."""
    documents: list[Document] = []
    left_out: Counter[str] = Counter()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        is_link = path.is_symlink()
        if any(part.startswith(".") for part in inside.parts) or (path.is_dir() and not is_link):
            continue
        if is_link or kind_of(path.name) is None:
            left_out["links" if is_link else "".join(suffixes(path.name))] += 1
        else:
            documents.append(single_document(Place(str(path)), shown_path(inside)))
    shown = shown_path(folder)
    tables = [ending for ending in left_out if suffixes(f"a{ending}")[0] in FORMATS]
    if sum(left_out[ending] for ending in tables) >= max(1, len(documents)):
        ending = max(tables, key=left_out.__getitem__)
        raise SyntfError(
            f"the folder {shown} holds {ending} files, which have many documents each: give them "
            f"as '{shown}/**/*{ending}', in quotes"
        )
    counted = ", ".join(f"{number:,} {kind}" for kind, number in sorted(left_out.items()))
    if not documents:
        raise SyntfError(f"the folder {shown} holds no documents, but {counted or 'nothing'}")
    if counted:
        note(f"left out of the folder {shown}: {counted}")
    return documents


def _read_pdf(raw: bytes) -> str:
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # its warnings may quote the file
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(raw)).pages)


def _read_docx(raw: bytes) -> str:
    from docx import Document
    from docx.oxml.ns import qn
    from docx.text.paragraph import Paragraph

    body: Any = Document(io.BytesIO(raw)).element.body
    return "\n".join(Paragraph(one, None).text for one in body.iter(qn("w:p")))  # in tables, too
