"""Read files that are one document each: plain text, e-mail, HTML, PDF, Word; folders of them.

Names decide which files of a folder are read, never their contents. Hidden files and links are left
out: a link may lead out of the folder, or to a document that is read anyway. A file that cannot be
read as what its name says is an empty document.
"""

import io
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

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


def single_document(place: Place) -> Document:
    """Return a file as a document; refuse it if the package that reads it is not installed."""
    with needed_for(f"reading {place.shown}", "files"):
        if package := _PACKAGES.get(kind_of(place.name) or ""):
            import_module(package)
    return place, place.name


def list_folder(folder: Path, note: Note) -> list[Document]:
    """Return the documents of a folder; refuse a folder of tables, or of no documents."""
    documents: list[Document] = []
    tables: list[Path] = []
    left_out: Counter[str] = Counter()
    needed = ""
    for path in _entries_below(folder):
        kind = kind_of(path.name)
        if path.is_symlink():
            left_out["links"] += 1
        elif kind is not None and (kind not in _PACKAGES or find_spec(_PACKAGES[kind])):
            documents.append((Place(str(path)), shown_path(path.relative_to(folder))))
        else:
            left_out["".join(suffixes(path.name))] += 1
            tables += [path] * (suffixes(path.name)[0] in FORMATS)
            if kind is not None:
                needed = " (the extra 'files' reads .pdf and .docx)"
    shown = shown_path(folder)
    if tables and len(tables) >= len(documents):
        ending = Counter("".join(suffixes(path.name)) for path in tables).most_common(1)[0][0]
        inside = any(path.parent != folder for path in tables)
        pattern = shown_path(folder / f"{'**/' * inside}*{ending}")
        raise SyntfError(
            f"the folder {shown} holds {ending} files, which have many documents each: give them "
            f"as '{pattern}', in quotes"
        )
    counted = ", ".join(f"{number:,} {kind}" for kind, number in sorted(left_out.items()))
    notice = counted and f"left out of the folder {shown}: {counted}{needed}"
    if not documents:
        raise SyntfError(f"the folder {shown} holds no documents{notice and f'; {notice}'}")
    if notice:
        note(notice)
    return documents


def _entries_below(folder: Path) -> list[Path]:
    """Return files and links in a folder and its subfolders, sorted, without hidden ones."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        found += [Path(place, name) for name in (*names, *links) if not name.startswith(".")]
    return sorted(found)


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
