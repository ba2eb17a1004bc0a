"""Word vectors from a file, kept in the cache as int8 once they have been read."""

import json
from hashlib import sha256
from os import PathLike
from pathlib import Path

import numpy as np

from syntf.core import cache_store
from syntf.core.files import sha256_of
from syntf.core.progress import Stages, silent
from syntf.vectors import files
from syntf.vectors.word_vectors import WordVectors

_VECTORS = "syntf vectors 1"
"""Change this whenever the same file would be read as another table."""


def read_cached(path: str | PathLike[str], stages: Stages = silent) -> WordVectors:
    """The word vectors in a file, read now unless the same bytes were before.

    Remembered ones are memory-mapped. The file is hashed again after it was read: if it
    changed meanwhile, nothing is kept.
    """
    kind = files.kind(path)  # it may depend on the file's name
    digest = sha256_of(path)
    key = sha256(f"{_VECTORS}\n{kind}\n".encode() + bytes.fromhex(digest)).hexdigest()
    entry = cache_store.folder() / f"{key}.vectors"
    known = _entry(entry)
    if known is not None:
        return known
    made = WordVectors.read(path, stages)
    if sha256_of(path) == digest:
        about = json.dumps({"words": list(made.words), "notes": made.notes}).encode()
        shape = np.array(made.matrix.shape, dtype="<i8").tobytes()
        cache_store.store(entry, shape, np.ascontiguousarray(made.matrix).data, about)
    return made


def _entry(path: Path) -> WordVectors | None:
    """The table that was kept there: its shape, its int8 numbers, and words and notes as JSON."""
    raw = cache_store.mapped(path)
    if raw is None:
        return None
    start = 16
    try:
        rows, columns = raw[:start].view("<i8").tolist()
        end = start + rows * columns
        about = json.loads(raw[end:].tobytes())
        matrix = raw[start:end].view(np.int8).reshape(rows, columns)
        return WordVectors(about["words"], matrix, about["notes"])
    except (ValueError, KeyError, TypeError, RecursionError):  # not by this program
        return None
