"""Files of the cache: results that depend on public inputs alone, kept between runs.

The cache holds measurements of mechanism tables, nearest output words, word vectors as int8 and
encoded words: numbers only, never a text. Nothing is stored for a vocabulary
that was fitted on texts. Each entry starts with a checksum; a damaged entry is computed again. A
forged entry with a valid checksum could misstate a loss, so the folder is readable by its owner
alone.
"""

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np
import platformdirs
from numpy.typing import NDArray

from syntf.core.files import replacing

_CHECK = sha256().digest_size


def folder() -> Path:
    """Return the cache folder: $SYNTF_CACHE, or the operating system's folder for caches."""
    return Path(os.environ.get("SYNTF_CACHE") or platformdirs.user_cache_path("syntf"))


def read(path: Path, size: int) -> bytes | None:
    """Return the `size` bytes that :func:`store` wrote, or None if the entry is not usable."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    kept = raw[_CHECK:]
    return kept if len(kept) == size and raw[:_CHECK] == sha256(kept).digest() else None


def mapped(path: Path) -> NDArray[np.uint8] | None:
    """Memory-map the bytes that :func:`store` wrote, or return None if the entry is not usable."""
    try:
        raw = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError):  # missing, or empty
        return None
    kept: NDArray[np.uint8] = np.asarray(raw)[_CHECK:]
    return kept if raw[:_CHECK].tobytes() == sha256(kept.data).digest() else None


def store(path: Path, *parts: bytes | memoryview) -> None:
    """Write a checksum and these bytes, atomically.

    A cache that cannot be written is ignored: the run goes on without it.
    """
    check = sha256()
    for part in parts:
        check.update(part)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replacing(path, private=True) as file:
            file.writelines([check.digest(), *parts])
