"""The mechanism that the parameters choose, remembered between runs."""

import json
from hashlib import sha256

import numpy as np

from syntf.core import cache_store
from syntf.core.parallel import Progress
from syntf.core.progress import Stages, silent
from syntf.mechanism import nearest
from syntf.mechanism.calibration import epsilon_for_loss
from syntf.mechanism.exponential import (
    ExponentialMechanism,
    Extremes,
    Mechanism,
    table_key,
)
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.rating import Rating, WithEmptyDocument


def build(
    words: Rating,
    *,
    epsilon: float,
    loss: float | None = None,
    neighbours: int | None = None,
    device: str | None = None,
    keep: bool = True,
    stages: Stages = silent,
) -> Mechanism:
    """A mechanism for words rated so, with one more input for the document without any.

    With a wanted `loss`, ε is found for it: by search, or, with `neighbours`, as twice the loss.
    A `device` of PyTorch works out what the cache does not know: the same integers, sooner.
    Without `keep` nothing is asked of the cache or left there: whoever has the word vectors can
    tell most outputs from the numbers of neighbours, so those of private words are not for it.
    """
    if neighbours is not None:
        with stages("finding neighbours", words.shape[0]) as advance:
            find = cached_neighbours if keep else nearest.nearest
            found = find(words, int(neighbours), advance, device)
        return NeighbourhoodMechanism(
            found,
            outputs=words.shape[1],
            epsilon=epsilon if loss is None else 2 * loss,
            rating_digest=words.digest,
        )
    rating = WithEmptyDocument(words)

    def measure(epsilon: float) -> ExponentialMechanism:
        with stages("measuring the loss", rating.shape[0]) as advance:
            if keep:
                return cached_exponential(rating, epsilon, advance, device)
            return ExponentialMechanism(rating, epsilon=epsilon, device=device, progress=advance)

    return measure(epsilon) if loss is None else epsilon_for_loss(loss, measure)


def cached_exponential(
    rating: Rating,
    epsilon: float,
    progress: Progress | None = None,
    device: str | None = None,
) -> ExponentialMechanism:
    """Build the Exponential mechanism of a rating, with its extremes from the cache if they are
    there."""
    path = cache_store.folder() / f"{table_key(rating, epsilon)}.table"
    rows, columns = rating.shape
    raw = cache_store.read(path, 8 * (rows + 2 * columns))
    known = None if raw is None else _extremes(raw, rows, columns)
    made = ExponentialMechanism(
        rating, epsilon=epsilon, extremes=known, device=device, progress=progress
    )
    if known is None:
        numbers = np.concatenate(list(vars(made.extremes).values()))
        cache_store.store(path, numbers.astype("<i8").tobytes())
    return made


def cached_neighbours(
    rating: Rating, count: int, progress: Progress | None = None, device: str | None = None
) -> nearest.Neighbours:
    """Return the outputs nearest to each input of a rating, from the cache if they are there."""
    parts = [nearest.SCHEME, count, rating.shape, rating.digest]
    path = cache_store.folder() / f"{sha256(json.dumps(parts).encode()).hexdigest()}.neighbours"
    known = cache_store.read(path, 4 * rating.shape[0] * count)
    if known is not None:
        return np.frombuffer(known, dtype="<i4").reshape(-1, count)
    made = nearest.nearest(rating, count, progress, device)
    cache_store.store(path, made.astype("<i4").tobytes())
    return made


def _extremes(raw: bytes, rows: int, columns: int) -> Extremes:
    values = np.frombuffer(raw, dtype="<i8").astype(np.int64)
    return Extremes(*np.split(values, [rows, rows + columns]))
