"""What is worked out from public things alone, remembered between runs.

Kept are the sums and extremes of a table, the neighbours of words as numbers, public vectors as
int8, and which forms of the lexicon count as which words, as numbers; never a text. Of a
vocabulary fitted on texts nothing is kept (:mod:`syntf.mechanisms`): with the word vectors, the
numbers of neighbours tell most of its words. A damaged file is made anew. An entry forged with
its checksum could misstate a loss, so the folder is made for its owner alone; no row outside what
an entry says is drawn from (:mod:`syntf.mechanism`), forged neighbours are bad ones, at a loss
that is measured on them (:mod:`syntf.neighbourhood`), and forged tokens are words misread, at no
loss at all.
"""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from hashlib import file_digest, sha256
from os import PathLike
from pathlib import Path

import numpy as np
import platformdirs
from numpy.typing import NDArray

from syntf import lexicon, nearest, vector_files
from syntf.analysis import Analyzer
from syntf.mechanism import ExponentialMechanism, Extremes, table_key
from syntf.nearest import Neighbours
from syntf.parallel import Progress
from syntf.rating import Rating
from syntf.stages import Stages, silent
from syntf.token_table import TokenTable
from syntf.vectors import WordVectors

_CHECK = sha256().digest_size
_KINDS = ("table", "neighbours", "vectors", "tokens")
_VECTORS = "syntf vectors 1"
"""Changes with whatever changes the table that a file of vectors is read as."""
_TOKENS = "syntf tokens 1"
"""Changes with whatever changes the table of tokens for the same words and settings."""


def folder() -> Path:
    """Where measurements are kept: $SYNTF_CACHE, or the system's place for caches."""
    return Path(os.environ.get("SYNTF_CACHE") or platformdirs.user_cache_path("syntf"))


def mechanism(
    rating: Rating,
    epsilon: float,
    progress: Progress | None = None,
    device: str | None = None,
) -> ExponentialMechanism:
    """The mechanism for a rating, measured now unless it was before."""
    path = folder() / f"{table_key(rating, epsilon)}.table"
    rows, columns = rating.shape
    raw = _read(path, 8 * (rows + 2 * columns))
    known = None if raw is None else _extremes(raw, rows, columns)
    made = ExponentialMechanism(
        rating, epsilon=epsilon, extremes=known, device=device, progress=progress
    )
    if known is None:
        numbers = np.concatenate(list(vars(made.extremes).values()))
        _keep(path, numbers.astype("<i8").tobytes())
    return made


def neighbours(
    rating: Rating, count: int, progress: Progress | None = None, device: str | None = None
) -> Neighbours:
    """The outputs nearest to each input of a rating, found now unless they were before."""
    parts = [nearest.SCHEME, count, rating.shape, rating.digest]
    path = folder() / f"{sha256(json.dumps(parts).encode()).hexdigest()}.neighbours"
    known = _read(path, 4 * rating.shape[0] * count)
    if known is not None:
        return np.frombuffer(known, dtype="<i4").reshape(-1, count)
    made = nearest.nearest(rating, count, progress, device)
    _keep(path, made.astype("<i4").tobytes())
    return made


def vectors(path: str | PathLike[str], stages: Stages = silent) -> WordVectors:
    """The word vectors in a file, read now unless the same bytes were before.

    Remembered ones are memory-mapped. The file is hashed again after it was read: if it
    changed meanwhile, nothing is kept.
    """
    kind = vector_files.kind(path)  # it may depend on the file's name
    digest = _file_digest(path)
    key = sha256(f"{_VECTORS}\n{kind}\n".encode() + digest).hexdigest()
    entry = folder() / f"{key}.vectors"
    known = _read_vectors(entry)
    if known is not None:
        return known
    made = WordVectors.read(path, stages)
    if _file_digest(path) == digest:
        about = json.dumps({"words": list(made.words), "notes": made.notes}).encode()
        shape = np.array(made.matrix.shape, dtype="<i8").tobytes()
        _keep(entry, shape, np.ascontiguousarray(made.matrix).data, about)
    return made


def tokens(analyzer: Analyzer, inputs: Sequence[str]) -> TokenTable:
    """What tokens count as, for public inputs: worked out now unless it was before.

    Kept are numbers, no words; memory-mapped.
    """
    lemmas = lexicon.digest() if analyzer.morphology == "lemma" else ""
    about = [
        _TOKENS, sys.byteorder, analyzer.morphology, analyzer.numbers,
        sorted(analyzer.stop_words), lemmas, len(inputs),
    ]  # fmt: skip
    key = sha256(json.dumps(about).encode())
    key.update(np.fromiter(map(len, inputs), dtype="<i4", count=len(inputs)).data)
    key.update("".join(inputs).encode("utf-8", "surrogatepass"))
    path = folder() / f"{key.hexdigest()}.tokens"
    raw = _mapped(path)
    known = None if raw is None else TokenTable.kept(raw, analyzer, inputs)
    if known is not None:
        return known
    made = TokenTable.build(analyzer, inputs)
    _keep(path, *(part.data for part in made.parts()))
    return made


def clear() -> int:
    """Forget all measurements, neighbours, vectors and tokens; returns how many there were."""
    found = (path for kind in _KINDS for path in folder().glob(f"*.{kind}"))
    entries = [path for path in found if len(path.stem) == 64]
    for path in entries:
        path.unlink(missing_ok=True)
    return len(entries)


def _read(path: Path, size: int) -> bytes | None:
    """The `size` bytes that :func:`_keep` wrote; None for anything else."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    kept = raw[_CHECK:]
    return kept if len(kept) == size and raw[:_CHECK] == sha256(kept).digest() else None


def _extremes(raw: bytes, rows: int, columns: int) -> Extremes:
    values = np.frombuffer(raw, dtype="<i8").astype(np.int64)
    return Extremes(*np.split(values, [rows, rows + columns]))


def _file_digest(path: str | PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        return file_digest(file, "sha256").digest()


def _read_vectors(path: Path) -> WordVectors | None:
    """The table that was kept there: its shape, its int8 numbers, and words and notes as JSON."""
    raw = _mapped(path)
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


def _mapped(path: Path) -> NDArray[np.uint8] | None:
    """The bytes that :func:`_keep` wrote, memory-mapped; None for anything else."""
    try:
        raw = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError):  # not there, or empty
        return None
    kept: NDArray[np.uint8] = np.asarray(raw)[_CHECK:]
    return kept if raw[:_CHECK].tobytes() == sha256(kept.data).digest() else None


def _keep(path: Path, *parts: bytes | memoryview) -> None:
    """A checksum, then these bytes; whole or not at all.

    A cache that cannot be written is no reason to stop.
    """
    check = sha256()
    for part in parts:
        check.update(part)
    draft = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            draft = file.name
            file.writelines([check.digest(), *parts])
        os.replace(draft, path)
    except OSError:
        if draft is not None:
            Path(draft).unlink(missing_ok=True)
