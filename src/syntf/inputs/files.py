"""Find, open and decode input files."""

import glob
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from hashlib import sha256
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import IO, Any

from syntf.core.errors import SyntfError
from syntf.core.files import sha256_of
from syntf.inputs import places
from syntf.inputs.archives import ARCHIVE, COMPRESSED, inner_name, unpacked
from syntf.inputs.places import STDIN, Database, Place, Remote, shown

DOCUMENTS = {
    ".txt": "text", ".text": "text", ".md": "text", ".rst": "text", ".log": "text",
    ".tex": "text", ".eml": "mail", ".html": "html", ".htm": "html", ".xhtml": "html",
    ".pdf": "pdf", ".docx": "docx",
}  # fmt: skip
"""Kinds of files that are one document each, by what names end in."""

FORMATS = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".json": "json", ".parquet": "parquet", ".feather": "arrow", ".arrow": "arrow",
    ".ipc": "arrow", ".xlsx": "xlsx", ".mbox": "mbox", ".sqlite": "sqlite", ".sqlite3": "sqlite",
    ".db": "sqlite",
}  # fmt: skip
"""Formats with many documents in a file, by what names end in."""

_SAVE_AS = {
    ".xls": "open it in Excel and save it as .xlsx",
    ".ods": "open it in LibreOffice and save it as .xlsx or .csv",
    ".doc": "open it in Word and save it as .docx",
    ".pst": "export its mails as .mbox or .eml files",
    ".msg": "save it as .eml",
}
"""What to do about formats that are not read."""

_UNCOMPRESSED = ("parquet", "arrow", "sqlite")
"""Formats that are read from a plain file only."""


_SIGNATURES = (
    (b"PAR1", "a Parquet file", "parquet"), (b"ARROW1", "an Arrow file", "arrow"),
    (b"PK\x03\x04", "a zip archive or an Excel file", "xlsx"), (b"\x1f\x8b", "a gzip file", None),
    (b"SQLite format 3", "an SQLite file", "sqlite"), (b"From ", "an mbox file", "mbox"),
    (b"%PDF-", "a PDF file", None), (b"[", "a JSON array", "json"), (b"{", "JSON lines", "jsonl"),
)  # fmt: skip
"""How files of a format begin, what they are called in messages, and their --input-format."""


def format_advice(place: Place, format: str) -> str:
    """Say what to check if most rows of a file are broken."""
    if likely := likely_format(place, format):
        return likely
    if format in ("folder", "document"):
        return "check that the files are what their names say"
    if format in ("csv", "tsv"):
        return "check what its fields are separated by, and say it with --delimiter"
    return "check its format, and say it with --input-format"


def likely_format(place: Place, format: str) -> str:
    """Say which other format or encoding a file has by its first bytes; nothing if none."""
    if format in ("folder", "document", "postgresql") or str(place) == STDIN:
        return ""
    with open_raw(place) as raw, unpack(raw, place) as plain:
        head = plain.read(64).removeprefix("\ufeff".encode()).lstrip()
    for start, described, option in _SIGNATURES:
        read_already = option == format or (option == "jsonl" and format == "json")
        if head.startswith(start) and not read_already:
            say = f": add --input-format {option}" if option else ""
            return f"it looks like {described}{say}"
    if format in ("csv", "tsv", "jsonl") and head[1:2] == b"\0":
        return "it looks like UTF-16: add --encoding utf-16-le"
    return ""


def expand(inputs: Sequence[str | PathLike[str]]) -> list[Place]:
    """Return the files and folders that paths, patterns and ``-`` stand for, each once."""
    found: list[Place] = []
    for given in map(str, inputs):
        addresses = places.parse(given)
        if addresses is not None:
            found.extend(addresses)
            continue
        path = Path(given)
        if given == STDIN or _exists(path):
            found.append(path)
        elif glob.has_magic(given):
            matches = sorted(Path(match) for match in glob.glob(given, recursive=True))
            if not matches:
                raise SyntfError(f"no file matches {given}")
            found.extend(matches)
        else:
            raise SyntfError(f"no file or folder at {given}")
    if STDIN in map(str, found):
        if len(found) > 1:
            raise SyntfError("standard input (-) must be the only input: give files or -, not both")
        return found
    known: set[Any] = set()
    for place in found:
        key: Any = place
        if isinstance(place, Path):
            if not place.exists():
                raise SyntfError(f"no file or folder at {place}")
            if not (place.is_file() or place.is_dir()):
                # A pipe would be opened several times, and its first rows would be lost.
                raise SyntfError(
                    f"{display_name(place)} is not a file; to read a pipe, redirect it to standard "
                    "input and give - in its place"
                )
            key = (place.stat().st_dev, place.stat().st_ino)
        if key in known:
            raise SyntfError(
                f"{display_name(place)} is given twice: its documents would be released twice"
            )
        known.add(key)
    return found


def _exists(path: Path) -> bool:
    """Return whether there is a file or folder. A text in place of a path is not repeated."""
    try:
        return path.exists()
    except OSError as error:  # such as a name that is too long
        raise SyntfError(
            f"an input cannot be read: {error.strerror}: give paths, not texts"
        ) from None


def format_of(place: Place) -> str:
    """Return the format of an input, by what its name ends in."""
    if isinstance(place, Database):
        return "postgresql"
    if str(place) == STDIN:
        raise SyntfError("say what standard input holds: --input-format csv, tsv or jsonl")
    if isinstance(place, Path) and place.is_dir():
        return "folder"
    name = place.name
    if place.suffix.lower() == ARCHIVE:
        with open_raw(place) as raw:
            name = PurePosixPath(inner_name(raw, display_name(place))).name
    format = _format_of_name(name)
    if advice := _SAVE_AS.get(place.suffix.lower()):
        raise SyntfError(f"cannot read {display_name(place)}: {advice}")
    packed = place.suffix.lower() in (*COMPRESSED, ARCHIVE)
    if format is None:
        raise SyntfError(
            f"cannot tell the format of {place.name}: it must end in {', '.join(FORMATS)}, .txt, "
            f".md, .log, .eml, .html, .pdf or .docx ({', '.join((*COMPRESSED, ARCHIVE))} may "
            "follow), or say it with --input-format"
        )
    if packed and format in _UNCOMPRESSED:
        raise SyntfError(f"cannot read {display_name(place)} in this form: unpack it first")
    return format


def _format_of_name(name: str) -> str | None:
    suffixes = [suffix.lower() for suffix in PurePosixPath(name).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    if not suffixes:
        return None
    return FORMATS.get(suffixes[-1]) or ("document" if suffixes[-1] in DOCUMENTS else None)


def has_rows(path: Path) -> bool:
    """Return whether a file has many documents, by its name."""
    return _format_of_name(path.name) in FORMATS.values()


def open_raw(place: Place) -> IO[bytes]:
    """Open a file, or standard input, without decompressing it."""
    if isinstance(place, Remote):
        return place.open()
    if isinstance(place, Database):
        raise TypeError("a database is no file")
    if str(place) == STDIN:
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    return place.open("rb")


def unpack(raw: IO[bytes], place: Place) -> AbstractContextManager[Any]:
    """Return a context with the bytes of `raw`, unpacked if the name says that they are packed."""
    suffix = "" if isinstance(place, Database) else place.suffix.lower()
    return unpacked(raw, suffix, display_name(place))


def size_of(place: Place) -> int:
    """Return the bytes of a file; 0 for folders, databases and standard input."""
    if isinstance(place, Remote):
        return place.size
    return place.stat().st_size if isinstance(place, Path) and place.is_file() else 0


def entries_below(folder: Path) -> list[Path]:
    """Return files and links in a folder and its subfolders, sorted, without hidden ones."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        found += [Path(place, name) for name in (*names, *links) if not name.startswith(".")]
    return sorted(found)


def files_below(folder: Path) -> list[Path]:
    """Return all files in a folder and its subfolders, sorted, without hidden ones and links."""
    return [path for path in entries_below(folder) if not path.is_symlink() and path.is_file()]


def digest(path: str | PathLike[str]) -> str:
    """Return the SHA-256 of a file, or of the names and digests of all files in a folder."""
    addresses = places.parse(str(path)) or [Path(path)]
    if len(addresses) != 1 or isinstance(addresses[0], Database):
        raise SyntfError(f"{shown(str(path))} is not one file, so it has no digest: give one file")
    with places.local_copy(addresses[0]) as source:
        return _digest_of(source)


def _digest_of(source: Path) -> str:
    if not source.is_dir():
        return sha256_of(source)
    lines = (
        f"{sha256_of(file)} {display_name(file.relative_to(source))}\n"
        for file in files_below(source)
    )
    return sha256("".join(lines).encode()).hexdigest()


def stamps(place: Place) -> list[tuple[str, int, int | str]]:
    """Return name, size and time of a file, or of all files in a folder, to notice changes."""
    if isinstance(place, Remote):
        return [(place.url, place.size, place.stamp)]
    if isinstance(place, Database):
        return []
    files = files_below(place) if place.is_dir() else [place]
    return [(display_name(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]


def check_delimiter(delimiter: str | None, formats: Sequence[str]) -> str | None:
    """Return a delimiter that a person chose, as one character; refuse what cannot be one."""
    if delimiter is None:
        return None
    if not {"csv", "tsv"} & set(formats):
        raise SyntfError("--delimiter is for CSV files, and the input has none")
    character = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if len(character) != 1 or not character.isascii() or character in '"\r\n\0':
        raise SyntfError("a delimiter is one ASCII character, such as ; or tab")
    return character


def display_name(place: Place) -> str:
    """Return a place for messages; bytes that are not UTF-8 are replaced."""
    if isinstance(place, Remote | Database):
        return shown(place.url)
    if str(place) == STDIN:
        return "standard input"
    return os.fsencode(place.as_posix()).decode("utf-8", "replace")


def without_surrogates(value: str) -> str:
    """Replace halves of surrogate pairs, which some formats can spell but no file can hold.

    >>> without_surrogates("caf\\u00e9"), without_surrogates("a\\ud83d")
    ('café', 'a?')
    """
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
