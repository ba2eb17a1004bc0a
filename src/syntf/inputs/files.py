"""Find, open and decode input files."""

import glob
import os
import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import IO, Any

from syntf.core.errors import SyntfError
from syntf.core.files import sha256_of

STDIN = "-"

_FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
            ".parquet": "parquet", ".mbox": "mbox"}  # fmt: skip
_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}


_SIGNATURES = (
    (b"PAR1", "a Parquet file", "parquet"), (b"ARROW1", "an Arrow file", "arrow"),
    (b"PK\x03\x04", "a zip archive or an Excel file", None), (b"\x1f\x8b", "a gzip file", None),
    (b"SQLite format 3", "an SQLite file", "sqlite"), (b"From ", "an mbox file", "mbox"),
    (b"%PDF-", "a PDF file", None), (b"[", "a JSON array", "json"), (b"{", "JSON lines", "jsonl"),
)  # fmt: skip
"""How files of a format begin, what they are called in messages, and their --input-format."""


def format_advice(path: Path, format: str) -> str:
    """Say what to check if most rows of a file are broken."""
    if likely := likely_format(path, format):
        return likely
    if format in ("csv", "tsv"):
        return "check what its fields are separated by, and say it with --delimiter"
    return "check its format, and say it with --input-format"


def likely_format(path: Path, format: str) -> str:
    """Say which other format or encoding a file has by its first bytes; nothing if none."""
    if str(path) == STDIN or path.is_dir():
        return ""
    with open_raw(path) as raw, decompressed(raw, path) as plain:
        head = plain.read(64).removeprefix("\ufeff".encode()).lstrip()
    for start, described, option in _SIGNATURES:
        if head.startswith(start) and option != format:
            say = f": add --input-format {option}" if option else ""
            return f"it looks like {described}{say}"
    if format in ("csv", "tsv", "jsonl") and head[1:2] == b"\0":
        return "it looks like UTF-16: add --encoding utf-16-le"
    return ""


def expand(inputs: Sequence[str | PathLike[str]]) -> list[Path]:
    """Return the files and folders that paths, patterns and ``-`` stand for, each once."""
    paths: list[Path] = []
    for given in map(str, inputs):
        path = Path(given)
        if given == STDIN or path.exists():
            paths.append(path)
        elif glob.has_magic(given):
            found = sorted(Path(match) for match in glob.glob(given, recursive=True))
            if not found:
                raise SyntfError(f"no file matches {given}")
            paths.extend(found)
        else:
            raise SyntfError(f"no file or folder at {given}")
    if STDIN in map(str, paths):
        if len(paths) > 1:
            raise SyntfError("standard input (-) must be the only input: give files or -, not both")
        return paths
    known: set[tuple[int, int]] = set()
    for path in paths:
        found_at = path.stat()
        if (found_at.st_dev, found_at.st_ino) in known:
            raise SyntfError(
                f"{display_name(path)} is given twice: its documents would be released twice"
            )
        known.add((found_at.st_dev, found_at.st_ino))
    return paths


def format_of(path: Path) -> str:
    """Return the format of an input, by what its name ends in."""
    if str(path) == STDIN:
        raise SyntfError("say what standard input holds: --input-format csv, tsv or jsonl")
    if path.is_dir():
        return "folder"
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    found = _FORMATS.get(suffixes[-1]) if suffixes else None
    if found is None:
        raise SyntfError(
            f"cannot tell the format of {path.name}: it must end in {', '.join(_FORMATS)} "
            f"({', '.join(_COMPRESSED)} may follow), or say it with --input-format"
        )
    return found


def open_raw(path: Path) -> IO[bytes]:
    """Open a file, or standard input, without decompressing it."""
    return os.fdopen(os.dup(sys.stdin.fileno()), "rb") if str(path) == STDIN else path.open("rb")


def decompressed(raw: IO[bytes], path: Path) -> Any:
    """Return a file that reads the bytes of `raw`, decompressed if the name says so."""
    module = _COMPRESSED.get(path.suffix.lower())
    opener: Callable[[Any], Any] = import_module(module).open if module else lambda file: file
    return opener(raw)


def files_below(folder: Path) -> list[Path]:
    """Return all files in a folder and its subfolders, sorted."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def digest(path: str | PathLike[str]) -> str:
    """Return the SHA-256 of a file, or of the names and digests of all files in a folder."""
    source = Path(path)
    if not source.is_dir():
        return sha256_of(source)
    lines = (
        f"{sha256_of(file)} {display_name(file.relative_to(source))}\n"
        for file in files_below(source)
    )
    return sha256("".join(lines).encode()).hexdigest()


def stamps(path: Path) -> list[tuple[str, int, int]]:
    """Return name, size and time of a file, or of all files in a folder, to notice changes."""
    files = files_below(path) if path.is_dir() else [path]
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


def display_name(path: Path) -> str:
    """Return a path for messages; bytes that are not UTF-8 are replaced."""
    if str(path) == STDIN:
        return "standard input"
    return os.fsencode(path.as_posix()).decode("utf-8", "replace")


def without_surrogates(value: str) -> str:
    """Replace halves of surrogate pairs, which some formats can spell but no file can hold.

    >>> without_surrogates("caf\\u00e9"), without_surrogates("a\\ud83d")
    ('café', 'a?')
    """
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
