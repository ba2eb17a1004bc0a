"""Where inputs are: paths and patterns, addresses that fsspec opens, PostgreSQL, standard input."""

import glob
import gzip
import lzma
import os
import re
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from syntf.core.errors import SyntfError
from syntf.core.extras import MissingPackage

STDIN = "-"
CLOUDS = ("s3", "gs", "gcs", "az", "abfs", "abfss", "memory")

_LONGEST_NAME = 255  # of a file, in all common file systems
_DATABASES = ("postgresql", "postgres")
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile)
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_CREDENTIALS = re.compile("//[^/]*@")


@dataclass(frozen=True)
class Place:
    """One input: a file or folder, an object in a cloud, a database, or standard input.

    address : the path, the URL, or ``-``.
    scheme : the scheme of the URL; empty for paths and standard input.
    """

    address: str
    scheme: str = ""

    @property
    def name(self) -> str:
        """The last part of the address, which tells the format."""
        return PurePosixPath(self.shown).name

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix.lower()

    @property
    def shown(self) -> str:
        """The address for messages, without user name, password and query."""
        if self.scheme:
            return _CREDENTIALS.sub("//", self.address).partition("?")[0]
        return "standard input" if self.address == STDIN else shown_path(self.address)

    @property
    def is_database(self) -> bool:
        return self.scheme in _DATABASES

    @property
    def is_folder(self) -> bool:
        return not self.scheme and self.address != STDIN and os.path.isdir(self.address)

    def size(self) -> int:
        """Return the bytes of a file; 0 for what has no size, such as a database or a pipe."""
        if self.scheme and not self.is_database:
            system, path = _file_system(self)
            with plain_errors(self):
                return int(system.size(path) or 0)
        return os.path.getsize(self.address) if os.path.isfile(self.address) else 0

    def open(self) -> IO[bytes]:
        """Open the file to read its bytes as they are."""
        if self.scheme:
            system, path = _file_system(self)
            with plain_errors(self):
                opened: IO[bytes] = system.open(path, "rb")
                return opened
        if self.address == STDIN:
            return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
        return open(self.address, "rb")

    @contextmanager
    def local(self) -> Iterator[Path]:
        """Give a path to read from; a file in a cloud is copied to a temporary file meanwhile."""
        if not self.scheme:
            yield Path(self.address)
            return
        with tempfile.TemporaryDirectory(prefix="syntf-") as folder:  # readable by its owner alone
            copy = Path(folder, self.name)
            with self.open() as source, copy.open("wb") as target:
                shutil.copyfileobj(source, target)
            yield copy


def expand(inputs: Sequence[str | os.PathLike[str]]) -> list[Place]:
    """Return the places that paths, patterns, addresses and ``-`` stand for, each once."""
    found = [place for given in inputs for place in _places_of(os.fspath(given))]
    if not found:
        raise SyntfError("there is no input: give files, a folder, an address or -")
    if len(found) > 1 and Place(STDIN) in found:
        raise SyntfError("standard input (-) must be the only input: give files or -, not both")
    known: set[object] = set()
    for place in found:
        is_path = not place.scheme and place.address != STDIN
        status = os.stat(place.address) if is_path else None
        key = place if status is None else (status.st_dev, status.st_ino)
        if key in known:
            raise SyntfError(f"{place.shown} is given twice: its documents would be released twice")
        known.add(key)
    return found


def shown_path(path: str | os.PathLike[str]) -> str:
    """Return a path for messages and columns; bytes that are not UTF-8 are replaced."""
    return os.fsencode(Path(path).as_posix()).decode("utf-8", "replace")


def _places_of(given: str) -> list[Place]:
    match = _ADDRESS.match(given)
    place = Place(given, match[1].lower() if match else "")
    if place.is_database or given == STDIN:
        return [place]
    if place.scheme and place.scheme not in CLOUDS:
        known = ", ".join(f"{name}://" for name in (*CLOUDS, "postgresql"))
        raise SyntfError(f"cannot read {place.shown}: an address begins with {known}")
    if place.scheme:
        system, pattern = _file_system(place)
        if not glob.has_magic(given):
            return [place]
        with plain_errors(place):
            matches = [system.unstrip_protocol(path) for path in system.glob(pattern)]
    elif max(map(len, given.split("/"))) > _LONGEST_NAME or "\n" in given:
        raise SyntfError("an input is not a path: give paths, not texts")
    elif os.path.exists(given):
        matches = [given]
    else:
        matches = [path for path in glob.glob(given, recursive=True) if os.path.exists(path)]
    if not matches:
        missing = "no file matches" if glob.has_magic(given) else "no file or folder at"
        raise SyntfError(f"{missing} {place.shown}")
    return [Place(path, place.scheme) for path in sorted(matches)]


def _file_system(place: Place) -> tuple[Any, str]:
    """Return fsspec's file system of an address, and the path in it."""
    try:
        from fsspec.core import url_to_fs

        with plain_errors(place):
            system, path = url_to_fs(place.address)
    except ImportError as error:
        raise MissingPackage(
            f"{place.scheme}:// needs a package that is not installed: install the extra 'cloud', "
            "for example by pip install '.[cloud]' in the clone"
        ) from error
    return system, path


@contextmanager
def plain_errors(place: Place) -> Iterator[None]:
    """Turn the errors of a place that cannot be reached, read or unpacked into one message."""
    try:
        yield
    except (SyntfError, ImportError):
        raise
    except FileNotFoundError:
        raise SyntfError(f"no file at {place.shown}") from None
    except Exception as error:  # clouds raise many things
        if isinstance(error, _DAMAGED) or (type(error) is OSError and error.errno is None):
            reason = "it is cut short or not compressed so"
        elif place.scheme:
            reason = f"{type(error).__name__}: check the address, the network and your credentials"
        elif isinstance(error, OSError):
            reason = error.strerror or "it cannot be opened"
        else:
            raise
        raise SyntfError(f"cannot read {place.shown}: {reason}") from None
