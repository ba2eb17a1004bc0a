"""Write files and folders atomically, and hash files."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from os import PathLike
from pathlib import Path
from typing import IO


def sha256_of(path: str | PathLike[str]) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


@contextmanager
def replacing(path: Path, *, durable: bool = False, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a new file that takes the place of `path` when the context ends without an error.

    Until then it has another name in the same folder, which no error mentions; after an error it is
    removed.

    Parameters
    ----------
    durable : wait until the bytes and then the name are on the disk.
    private : let nobody but the owner read the file.
    """
    new = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        mode = 0o600 if private else 0o666
        with open(new, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file
        if durable:
            sync(new)
        os.replace(new, path)
        if durable:
            sync(path.parent)
    except OSError as error:
        if error.filename == str(new):
            error.filename = str(path)
        raise
    finally:
        new.unlink(missing_ok=True)


def place_folder(new: Path, target: Path) -> None:
    """Rename the folder `new` to `target`.

    An older folder there is replaced, or kept if this fails.
    """
    old = _set_aside(new)
    try:
        if target.exists():
            target.rename(old)
        new.rename(target)
        sync(target.absolute().parent)
    finally:
        if old.exists() and not target.exists():
            old.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def restore_folder(new: Path, target: Path) -> bool:
    """Undo a :func:`place_folder` that was killed halfway, and remove what it left behind.

    Returns whether an older folder was moved back to `target`.
    """
    old = _set_aside(new)
    lost = old.is_dir() and not target.exists()
    if lost:
        old.rename(target)
    for path in (old, new):
        shutil.rmtree(path, ignore_errors=True)
    return lost


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    windows = os.name == "nt"
    if path.is_dir() and windows:
        return  # Windows cannot open a folder
    opened = os.open(path, os.O_RDWR if windows else os.O_RDONLY)  # it syncs what may be written
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _set_aside(new: Path) -> Path:
    """Return where an older folder is while a new one takes its place."""
    return new.with_name(f"{new.name}-old")
