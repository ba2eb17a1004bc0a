"""Which files are meant, what they hold by their names, and what tells that one has changed."""

import glob
import os
import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from syntf.core.errors import SyntfError
from syntf.core.files import sha256_of

STDIN = "-"

_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
             ".parquet": "parquet", ".mbox": "mbox"}  # fmt: skip
_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}


def expand(inputs: Sequence[str | Path]) -> list[Path]:
    """The files and folders that paths, patterns and ``-`` stand for, each once."""
    paths: list[Path] = []
    for given in inputs:
        path = Path(given)
        if str(given) == STDIN or path.exists():
            paths.append(path)
        elif glob.has_magic(str(given)):
            found = sorted(Path(match) for match in glob.glob(str(given), recursive=True))
            if not found:
                raise SyntfError(f"no file matches {given}")
            paths.extend(found)
        else:
            raise SyntfError(f"no file or folder at {given}")
    if STDIN in map(str, paths) and len(paths) > 1:
        raise SyntfError("standard input (-) stands alone: give files or -, not both")
    known: set[tuple[int, int]] = set()
    for path in paths if str(paths[0]) != STDIN else ():
        found_at = path.stat()
        if (found_at.st_dev, found_at.st_ino) in known:
            raise SyntfError(f"{shown(path)} is given twice: its documents would lose twice")
        known.add((found_at.st_dev, found_at.st_ino))
    return paths


def kind(path: Path) -> str:
    """The format that a name tells of."""
    if str(path) == STDIN:
        raise SyntfError("say what standard input holds: --input-format csv, tsv or jsonl")
    if path.is_dir():
        return "folder"
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    found = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if found is None:
        raise SyntfError(
            f"cannot tell the format of {path.name}: it must end in {', '.join(_SUFFIXES)} "
            f"({', '.join(_COMPRESSED)} may follow), or say it with --input-format"
        )
    return found


def opened(path: Path) -> IO[bytes]:
    """A file, or standard input, as it is."""
    return os.fdopen(os.dup(sys.stdin.fileno()), "rb") if str(path) == STDIN else path.open("rb")


def decompressed(raw: IO[bytes], path: Path) -> Any:
    """The bytes that a file holds, compressed or not as its name says."""
    module = _COMPRESSED.get(path.suffix.lower())
    opener: Callable[[Any], Any] = import_module(module).open if module else lambda file: file
    return opener(raw)


def within(folder: Path) -> list[Path]:
    """All files in a folder and below, sorted."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def digest(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, or of the names and SHA-256 of a folder's files."""
    source = Path(path)
    if not source.is_dir():
        return sha256_of(source)
    lines = (f"{digest(file)} {shown(file.relative_to(source))}\n" for file in within(source))
    return sha256("".join(lines).encode()).hexdigest()


def stamps(path: Path) -> list[tuple[str, int, int]]:
    """What tells that a file, or any file of a folder, is not what it was: its size and time."""
    every = within(path) if path.is_dir() else [path]
    return [(shown(one), one.stat().st_size, one.stat().st_mtime_ns) for one in every]


def shown(path: Path) -> str:
    """A path in letters that any file can hold."""
    if str(path) == STDIN:
        return "standard input"
    return os.fsencode(path.as_posix()).decode("utf-8", "replace")
