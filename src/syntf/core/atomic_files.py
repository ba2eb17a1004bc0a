"""A folder takes its place whole or not at all, and its bytes are on the disk before its name."""

import os
import shutil
from pathlib import Path


def appear(final: Path, folder: Path) -> None:
    """Take the place of the target, or leave an old release there."""
    old = _aside(final)
    try:
        if folder.exists():
            folder.rename(old)
        final.rename(folder)
        sync(folder.absolute().parent)
    finally:  # whichever step was the last
        if old.exists() and not folder.exists():
            old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def restored(final: Path, folder: Path) -> bool:
    """Whether an old release was put back, that a run killed in that moment had moved aside.

    Whatever else such a run left behind is removed.
    """
    old = _aside(final)
    lost = old.is_dir() and not folder.exists()
    if lost:
        old.rename(folder)
    for path in (old, final):
        shutil.rmtree(path, ignore_errors=True)
    return lost


def settle(new: Path, path: Path) -> None:
    """Give a file its name once its bytes are on the disk, and have the name there too."""
    sync(new)
    os.replace(new, path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no folder
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _aside(final: Path) -> Path:
    """Where an old release is for the moment in which a new one takes its place."""
    return final.with_name(f"{final.name}-old")
