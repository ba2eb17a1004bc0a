"""Which format an input has, by its name; no content decides it, for that would be seen."""

from pathlib import PurePath

from syntf.core.checks import one_of
from syntf.core.errors import SyntfError
from syntf.inputs.packed import ARCHIVE, COMPRESSED, open_archive
from syntf.inputs.places import STDIN, Place

FORMATS = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".json": "json", ".parquet": "parquet", ".feather": "arrow", ".arrow": "arrow",
    ".ipc": "arrow", ".xlsx": "xlsx", ".mbox": "mbox", ".sqlite": "sqlite", ".sqlite3": "sqlite",
    ".db": "sqlite",
}  # fmt: skip
"""Formats with many documents in a file, by what names end in."""

INPUT_FORMATS = (*dict.fromkeys(FORMATS.values()), "lines", "document")
"""What a person may choose as the format of all inputs."""

DOCUMENTS = {
    ".txt": "text", ".text": "text", ".md": "text", ".rst": "text", ".log": "text",
    ".tex": "text", ".eml": "mail", ".html": "html", ".htm": "html", ".xhtml": "html",
    ".pdf": "pdf", ".docx": "docx",
}  # fmt: skip
"""Kinds of files that are one document each, by what names end in."""

WHOLE_FILES = ("parquet", "arrow", "sqlite")
"""Formats that are read from a plain file only, neither packed nor from a pipe."""

_SAVE_AS = {
    ".xls": "open it in Excel and save it as .xlsx",
    ".ods": "open it in LibreOffice and save it as .xlsx or .csv",
    ".doc": "open it in Word and save it as .docx",
    ".pst": "export its mails as .mbox or .eml files",
    ".msg": "save it as .eml",
}
"""What to do about formats that are not read."""

_SIGNATURES = (
    (b"PAR1", "a Parquet file", "parquet"), (b"ARROW1", "an Arrow file", "arrow"),
    (b"PK\x03\x04", "a zip archive or an Excel file", "xlsx"), (b"\x1f\x8b", "a gzip file", None),
    (b"SQLite format 3", "an SQLite file", "sqlite"), (b"From ", "an mbox file", "mbox"),
    (b"%PDF-", "a PDF file", None), (b"[", "a JSON array", "json"), (b"{", "JSON lines", "jsonl"),
)  # fmt: skip
"""How files of a format begin, what they are called in messages, and their --input-format."""


def format_of(place: Place, chosen: str | None) -> str:
    """Return the format of an input: the chosen one, or what its name ends in."""
    if chosen is not None:
        one_of("input_format", chosen, INPUT_FORMATS)
    if place.is_database:
        return "postgresql"
    if place.address == STDIN and chosen is None:
        raise SyntfError("say what standard input holds: --input-format csv, tsv or jsonl")
    if place.address == STDIN and chosen in WHOLE_FILES:
        raise SyntfError(f"a pipe cannot hold {chosen}: give the name of the file")
    if place.is_folder and chosen is None:
        return "folder"
    format = chosen or _format_by_name(place)
    if format in WHOLE_FILES and place.suffix in (*COMPRESSED, ARCHIVE):
        raise SyntfError(f"cannot read {place.shown} in this form: unpack it first")
    return format


def _format_by_name(place: Place) -> str:
    if advice := _SAVE_AS.get(place.suffix):
        raise SyntfError(f"cannot read {place.shown}: {advice}")
    name = place.name
    if place.suffix == ARCHIVE:
        with place.open() as raw, open_archive(raw, place.shown) as inner:
            name = PurePath(str(inner.name)).name
    suffix, _ = suffixes(name)
    format = FORMATS.get(suffix) or ("document" if suffix in DOCUMENTS else None)
    if format is None:
        raise SyntfError(
            f"cannot tell the format of {place.name}: it must end in {', '.join(FORMATS)}, .txt, "
            f".md, .log, .eml, .html, .pdf or .docx ({', '.join((*COMPRESSED, ARCHIVE))} may "
            "follow), or say it with --input-format"
        )
    return format


def kind_of(name: str) -> str | None:
    """Return the kind of a document by its name alone; None for names of other files.

    A name without a suffix, or with a number as in ``mail.17``, is that of a text.

    >>> kind_of("a.eml"), kind_of("page.HTML.gz"), kind_of("51121"), kind_of("photo.png")
    ('mail', 'html', 'text', None)
    """
    suffix, _ = suffixes(name)
    return "text" if suffix[1:].isdecimal() or not suffix else DOCUMENTS.get(suffix)


def likely_format(head: bytes, format: str) -> str:
    """Say which other format or encoding a file has by its first bytes; nothing if none."""
    start = head.removeprefix("\ufeff".encode()).lstrip()
    for signature, described, option in _SIGNATURES:
        same = option == format or (option == "jsonl" and format == "json")
        if start.startswith(signature) and not same:
            say = f": add --input-format {option}" if option else ""
            return f"it looks like {described}{say}"
    if format in ("csv", "tsv", "jsonl") and head[1:2] == b"\0":
        return "it looks like UTF-16: add --encoding utf-16-le"
    return ""


def suffixes(name: str) -> tuple[str, str]:
    """Return what a name ends in, and what says how the file is packed.

    >>> suffixes("a.b.csv.gz"), suffixes("photo.PNG"), suffixes("README")
    (('.csv', '.gz'), ('.png', ''), ('', ''))
    """
    path = PurePath(name)
    packed = path.suffix.lower() if path.suffix.lower() in COMPRESSED else ""
    return PurePath(path.stem if packed else path.name).suffix.lower(), packed
