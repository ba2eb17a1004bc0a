"""Where inputs are: paths and patterns, objects in a cloud, databases, standard input."""

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
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import unquote

from syntf.core.errors import SyntfError
from syntf.core.extras import needed_for

STDIN = "-"

CLOUDS = {
    "s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs",
    "abfss": "adlfs", "memory": "fsspec",
}  # fmt: skip
"""Schemes of addresses in a cloud, and the package that each needs."""

_LONGEST_NAME = 255  # of a file, in all common file systems
_DATABASES = ("postgresql", "postgres")
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile)
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_CREDENTIALS = re.compile(r"//[^/@]*@")


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
        return PurePosixPath(self.address.replace(os.sep, "/")).name

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix.lower()

    @property
    def shown(self) -> str:
        """The address for messages, without user name, password and query."""
        if self.scheme:
            return _CREDENTIALS.sub("//", self.address).partition("?")[0]
        if self.address == STDIN:
            return "standard input"
        return shown_path(self.address)

    @property
    def is_database(self) -> bool:
        return self.scheme in _DATABASES

    @property
    def is_folder(self) -> bool:
        return not self.scheme and self.address != STDIN and Path(self.address).is_dir()

    def size(self) -> int:
        """Return the bytes of a file; 0 for what has no size, such as a database or a pipe."""
        if self.is_database or self.address == STDIN:
            return 0
        if not self.scheme:
            return os.stat(self.address).st_size if os.path.isfile(self.address) else 0
        system, path = _file_system(self)
        with plain_errors(self):
            info: dict[str, Any] = system.info(path)
        if info.get("type") == "directory":
            pattern = f"'{self.shown.rstrip('/')}/*.csv'"
            raise SyntfError(
                f"{self.shown} is a folder: name its files with a pattern, such as {pattern}"
            )
        return int(info.get("size") or 0)

    def open(self) -> IO[bytes]:
        """Open the file to read its bytes as they are."""
        if self.address == STDIN:
            return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
        if not self.scheme:
            return open(self.address, "rb")
        self.size()  # a missing file or a folder is refused
        system, path = _file_system(self)
        opened: IO[bytes] = system.open(path, "rb")
        return opened

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
        raise SyntfError("there is no input: give files, a folder, an address or - ")
    if len(found) > 1 and any(place.address == STDIN for place in found):
        raise SyntfError("standard input (-) must be the only input: give files or -, not both")
    known: set[object] = set()
    for place in found:
        key: object = place
        if not place.scheme and place.address != STDIN:
            status = os.stat(place.address)
            key = (status.st_dev, status.st_ino)
        if key in known:
            raise SyntfError(f"{place.shown} is given twice: its documents would be released twice")
        known.add(key)
    return found


def shown_path(path: str | os.PathLike[str]) -> str:
    """Return a path for messages and columns; bytes that are not UTF-8 are replaced."""
    return os.fsencode(Path(path).as_posix()).decode("utf-8", "replace")


def _places_of(given: str) -> list[Place]:
    match = _ADDRESS.match(given)
    if match is not None:
        return _addresses(given, match[1].lower(), given[match.end() :])
    if max(map(len, given.split("/"))) > _LONGEST_NAME or "\n" in given:
        raise SyntfError("an input is not a path: give paths, not texts")
    if given == STDIN or os.path.exists(given):
        return [Place(given)]
    if not glob.has_magic(given):
        raise SyntfError(f"no file or folder at {shown_path(given)}")
    matches = sorted(filter(os.path.exists, glob.glob(given, recursive=True)))
    if not matches:
        raise SyntfError(f"no file matches {shown_path(given)}")
    return [Place(one) for one in matches]


def _addresses(given: str, scheme: str, rest: str) -> list[Place]:
    place = Place(given, scheme)
    if scheme in _DATABASES:
        return [place]
    if scheme == "sqlite":  # sqlite:///relative.db and sqlite:////absolute.db
        return _places_of(unquote(rest.removeprefix("/")))
    if scheme not in CLOUDS:
        known = ", ".join(f"{name}://" for name in (*CLOUDS, "postgresql", "sqlite"))
        raise SyntfError(f"cannot read {place.shown}: an address begins with {known}")
    if not glob.has_magic(given):
        return [place]
    system, pattern = _file_system(place)
    with plain_errors(place):
        matches = sorted(system.glob(pattern))
    if not matches:
        raise SyntfError(f"no file matches {place.shown}")
    return [Place(system.unstrip_protocol(path), scheme) for path in matches]


def _file_system(place: Place) -> tuple[Any, str]:
    """Return fsspec's file system of an address, and the path in it."""
    with needed_for(f"{place.scheme}://", "cloud"):
        from fsspec.core import url_to_fs

        import_module(CLOUDS[place.scheme])
    with plain_errors(place):
        system, path = url_to_fs(place.address)
    return system, path


@contextmanager
def plain_errors(place: Place) -> Iterator[None]:
    """Turn the errors of a place that cannot be reached, read or unpacked into one message."""
    try:
        yield
    except SyntfError:
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
