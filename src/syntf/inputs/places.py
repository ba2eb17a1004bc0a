"""Where an input is: a path, an object in a cloud, or a database."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from syntf.core.errors import SyntfError, UnavailableError

STDIN = "-"

CLOUDS = {
    "s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs",
    "abfss": "adlfs", "memory": "fsspec",
}  # fmt: skip
"""Schemes of addresses in a cloud, and the package that each needs."""

_DATABASES = ("postgresql", "postgres")
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_CREDENTIALS = re.compile(r"//[^/@]*@")


@dataclass(frozen=True)
class Remote:
    """A file in a cloud, read through fsspec."""

    url: str

    @property
    def name(self) -> str:
        return PurePosixPath(self.url).name

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.url).suffix

    @property
    def size(self) -> int:
        return int(self._info().get("size") or 0)

    @property
    def stamp(self) -> str:
        """Return what changes whenever the file does, as the cloud tells it."""
        system, path = file_system(self.url)
        return str(system.ukey(path))

    def open(self) -> IO[bytes]:
        """Open the file to read its bytes."""
        self._info()  # the file is missing or refused: say so before it is read
        system, path = file_system(self.url)
        return system.open(path, "rb")  # type: ignore[no-any-return]

    def _info(self) -> dict[str, Any]:
        system, path = file_system(self.url)
        with _plain_errors(self.url):
            info: dict[str, Any] = system.info(path)
        if info.get("type") == "directory":
            raise SyntfError(
                f"{shown(self.url)} is a folder: name its files with a pattern, such as "
                f"'{shown(self.url).rstrip('/')}/*.csv'"
            )
        return info


@dataclass(frozen=True)
class Database:
    """A PostgreSQL database, read with a query."""

    url: str


Place = Path | Remote | Database


def parse(given: str) -> list[Place] | None:
    """Return the places that an address stands for; None if it is no address but a path."""
    match = _ADDRESS.match(given)
    if match is None:
        return None
    scheme = match[1].lower()
    if scheme in _DATABASES:
        return [Database(given)]
    if scheme == "sqlite":  # sqlite:///relative.db and sqlite:////absolute.db
        from urllib.parse import unquote

        return [Path(unquote(given[match.end() :].removeprefix("/")))]
    if scheme not in CLOUDS:
        known = ", ".join(f"{name}://" for name in (*CLOUDS, "postgresql", "sqlite"))
        raise SyntfError(f"cannot read {shown(given)}: an address begins with {known}")
    if not any(sign in given for sign in "*?["):
        return [Remote(given)]
    system, pattern = file_system(given)
    with _plain_errors(given):
        found = sorted(system.glob(pattern))
    if not found:
        raise SyntfError(f"no file matches {shown(given)}")
    return [Remote(system.unstrip_protocol(path)) for path in found]


def file_system(url: str) -> tuple[Any, str]:
    """Return fsspec's file system of an address, and the path in it."""
    scheme = url.partition("://")[0].lower()
    try:
        from fsspec.core import url_to_fs

        return url_to_fs(url)  # type: ignore[no-any-return]
    except ImportError:
        raise SyntfError(
            f"{scheme}:// needs the package {CLOUDS[scheme]}: pip install 'syntf[cloud]'"
        ) from None
    except Exception as error:
        raise _unreachable(url, error) from None


@contextmanager
def local_copy(place: Place) -> Iterator[Path]:
    """Give a path to read from; a file in a cloud is copied to a temporary file meanwhile."""
    if isinstance(place, Path):
        yield place
        return
    if isinstance(place, Database):
        raise TypeError("a database is no file")
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory(prefix="syntf-") as folder:  # readable by its owner alone
        copy = Path(folder, place.name)
        with place.open() as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target)
        yield copy


def shown(url: str) -> str:
    """Return an address for messages, without a user name or password.

    >>> shown("postgresql://me:secret@db/mails?password=x")
    'postgresql://db/mails'
    """
    return _CREDENTIALS.sub("//", url).partition("?")[0]


@contextmanager
def _plain_errors(url: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise UnavailableError(f"no file at {shown(url)}") from None
    except PermissionError:
        message = f"access to {shown(url)} is denied: check your credentials"
        raise UnavailableError(message) from None
    except SyntfError:
        raise
    except Exception as error:  # clouds raise many things
        raise _unreachable(url, error) from None


def _unreachable(url: str, error: Exception) -> UnavailableError:
    return UnavailableError(
        f"cannot reach {shown(url)} ({type(error).__name__}): check the address, the network and "
        "your credentials"
    )
