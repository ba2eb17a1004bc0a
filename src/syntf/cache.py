"""Measurements of tables, remembered between runs.

Kept are the sums and extremes of a table, never a text. A damaged file is measured anew;
an entry that is wrong all the same can make a run fail, never a loss wrong: see
:mod:`syntf.mechanism`.
"""

import os
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import platformdirs

from syntf.mechanism import ExponentialMechanism, Extremes, Progress, table_key
from syntf.rating import Rating


def folder() -> Path:
    """Where measurements are kept: $SYNTF_CACHE, or the system's place for caches."""
    return Path(os.environ.get("SYNTF_CACHE") or platformdirs.user_cache_path("syntf"))


def mechanism(
    rating: Rating, epsilon: float, progress: Progress | None = None
) -> ExponentialMechanism:
    """The mechanism for a rating, measured now unless it was before."""
    path = folder() / f"{table_key(rating, epsilon)}.npz"
    known = _read(path, rating.shape)
    made = ExponentialMechanism(rating, epsilon=epsilon, extremes=known, progress=progress)
    if known is None:
        _write(path, made.extremes)
    return made


def clear() -> int:
    """Forget all measurements; returns how many there were."""
    entries = [path for path in folder().glob("*.npz") if len(path.stem) == 64]
    for path in entries:
        path.unlink(missing_ok=True)
    return len(entries)


def _read(path: Path, shape: tuple[int, int]) -> Extremes | None:
    try:
        with np.load(path, allow_pickle=False) as stored:
            found = Extremes(stored["sums"], stored["low"], stored["high"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    shapes = [array.shape for array in (found.sums, found.low, found.high)]
    whole = shapes == [(shape[0],), (shape[1],), (shape[1],)]
    return found if whole and all(a.dtype == np.int64 for a in vars(found).values()) else None


def _write(path: Path, extremes: Extremes) -> None:
    """Whole or not at all; a cache that cannot be written is no reason to stop."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            np.savez(file, **vars(extremes))
        os.replace(file.name, path)
    except OSError:
        pass
