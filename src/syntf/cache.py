"""Measurements of tables, remembered between runs.

Kept are the sums and extremes of a table, never a text. A damaged file is measured anew.
An entry forged with its checksum could misstate a loss, so the folder is made for its
owner alone; no row outside what an entry says is drawn from (:mod:`syntf.mechanism`).
"""

import os
import tempfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import platformdirs

from syntf.mechanism import ExponentialMechanism, Extremes, Progress, table_key
from syntf.rating import Rating

_CHECK = sha256().digest_size


def folder() -> Path:
    """Where measurements are kept: $SYNTF_CACHE, or the system's place for caches."""
    return Path(os.environ.get("SYNTF_CACHE") or platformdirs.user_cache_path("syntf"))


def mechanism(
    rating: Rating, epsilon: float, progress: Progress | None = None
) -> ExponentialMechanism:
    """The mechanism for a rating, measured now unless it was before."""
    path = folder() / f"{table_key(rating, epsilon)}.table"
    known = _read(path, rating.shape)
    made = ExponentialMechanism(rating, epsilon=epsilon, extremes=known, progress=progress)
    if known is None:
        _write(path, made.extremes)
    return made


def clear() -> int:
    """Forget all measurements; returns how many there were."""
    entries = [path for path in folder().glob("*.table") if len(path.stem) == 64]
    for path in entries:
        path.unlink(missing_ok=True)
    return len(entries)


def _read(path: Path, shape: tuple[int, int]) -> Extremes | None:
    """What :func:`_write` wrote for a table of this shape; None for anything else."""
    rows, columns = shape
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    numbers = raw[_CHECK:]
    if len(numbers) != 8 * (rows + 2 * columns) or raw[:_CHECK] != sha256(numbers).digest():
        return None
    values = np.frombuffer(numbers, dtype="<i8").astype(np.int64)
    return Extremes(*np.split(values, [rows, rows + columns]))


def _write(path: Path, extremes: Extremes) -> None:
    """A checksum, then all numbers; whole or not at all.

    A cache that cannot be written is no reason to stop.
    """
    numbers = np.concatenate(list(vars(extremes).values())).astype("<i8").tobytes()
    draft = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            draft = file.name
            file.write(sha256(numbers).digest() + numbers)
        os.replace(draft, path)
    except OSError:
        if draft is not None:
            Path(draft).unlink(missing_ok=True)
