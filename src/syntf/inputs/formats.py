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


def format_of(place: Place, chosen: str | None) -> str:
    """Return the format of an input: the chosen one, or what its name ends in."""
    if chosen is not None:
        one_of("input_format", chosen, INPUT_FORMATS)
    if place.is_database:
        return "postgresql"
    if place.is_folder and chosen is None:
        return "folder"
    if place == Place(STDIN) and chosen is None:
        raise SyntfError("say what standard input holds: --input-format csv, tsv or jsonl")
    format = chosen or _format_by_name(place)
    if format in WHOLE_FILES and (place == Place(STDIN) or place.suffix in (*COMPRESSED, ARCHIVE)):
        raise SyntfError(f"cannot read {format} from {place.shown}: give a file, unpacked")
    return format


def _format_by_name(place: Place) -> str:
    name = place.name
    if place.suffix == ARCHIVE:
        with place.open() as raw, open_archive(raw, place.shown) as inner:
            name = PurePath(str(inner.name)).name
    suffix, _ = suffixes(name)
    format = FORMATS.get(suffix) or ("document" if suffix in DOCUMENTS else None)
    if format is None:
        known = ", ".join((*FORMATS, *DOCUMENTS))
        raise SyntfError(
            f"cannot tell the format of {place.name}: say it with --input-format, or save it as "
            f"one of {known} ({', '.join((*COMPRESSED, ARCHIVE))} may follow)"
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


def suffixes(name: str) -> tuple[str, str]:
    """Return what a name ends in, and what says how the file is packed.

    >>> suffixes("a.b.csv.gz"), suffixes("photo.PNG"), suffixes("README")
    (('.csv', '.gz'), ('.png', ''), ('', ''))
    """
    path = PurePath(name)
    packed = path.suffix.lower() if path.suffix.lower() in COMPRESSED else ""
    return PurePath(path.stem if packed else path.name).suffix.lower(), packed
