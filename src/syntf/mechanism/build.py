"""Build the mechanism for a rating: the one place where this happens.

Measuring a table or finding neighbours takes from seconds to minutes. The results depend on public
inputs alone, so they are kept in the cache.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from math import inf

import numpy as np

from syntf.core import cache_store
from syntf.core.errors import SyntfError
from syntf.core.parallel import Progress
from syntf.core.progress import Stages, silent
from syntf.mechanism import nearest
from syntf.mechanism.base import Mechanism
from syntf.mechanism.exponential import ExponentialMechanism, Extremes, table_key
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.rating import Rating, WithEmptyDocument

LOSS_TOLERANCE = 0.002
"""Stop the search for ε when the measured loss is within this share of the wanted one."""
MAX_SEARCH_STEPS = 16


def build(
    words: Rating,
    *,
    epsilon: float,
    loss: float | None = None,
    neighbours: int | None = None,
    device: str | None = None,
    cache: bool = True,
    stages: Stages = silent,
) -> Mechanism:
    """Build the mechanism for words with this rating, plus one input for the empty document.

    Parameters
    ----------
    words : the rating of input words by output words.
    epsilon : the privacy parameter ε, used if no `loss` is given.
    loss : the wanted loss of one draw. The Exponential mechanism is searched for the largest ε
        that keeps to it; for the neighbourhood mechanism ε is twice the loss.
    neighbours : k of the neighbourhood mechanism; None for the Exponential mechanism.
    device : a GPU such as ``cuda``. It gives the same integers, sooner.
    cache : read from the cache and write to it. Use False for a vocabulary that was fitted on
        private texts: from neighbours and word vectors, most output words can be inferred.
    stages : reports progress.

    Guarantee
    ---------
    The loss of the result is measured on its integers. A forged cache can make draws fail, but no
    row outside the stated loss is drawn from.
    """
    if neighbours is not None:
        with stages("finding neighbours", words.shape[0]) as advance:
            find = cached_neighbours if cache else nearest.nearest
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
            if cache:
                return cached_exponential(rating, epsilon, advance, device)
            return ExponentialMechanism(rating, epsilon=epsilon, device=device, progress=advance)

    return measure(epsilon) if loss is None else search_epsilon(loss, measure)


def search_epsilon(
    loss: float, measure: Callable[[float], ExponentialMechanism]
) -> ExponentialMechanism:
    """Find the mechanism with the largest ε whose *measured* loss is at most `loss`.

    ε = `loss` keeps to it except for rounding to integers, since the loss never exceeds ε. From
    there the search uses false position between the largest ε that keeps to the loss and the
    smallest that exceeds it: the loss is close to linear in ε, so a few measurements suffice.
    """
    best = measure(loss)
    if best.loss > loss:
        best = measure(loss / 2)
    if best.loss > loss:
        raise SyntfError(f"a loss of {loss:g} per word is below what whole numbers can express")
    exceeding: ExponentialMechanism | None = None
    for _ in range(MAX_SEARCH_STEPS):
        if best.loss >= loss * (1 - LOSS_TOLERANCE) or best.loss == 0:
            break
        if exceeding is None:
            guess = min(best.epsilon * (loss / best.loss), 2 * best.epsilon)
        else:
            slope = (exceeding.loss - best.loss) / (exceeding.epsilon - best.epsilon)
            guess = best.epsilon + (loss * (1 - LOSS_TOLERANCE / 4) - best.loss) / slope
        guess = float(f"{guess:.9g}")
        if not best.epsilon < guess < (exceeding.epsilon if exceeding else inf):
            break
        candidate = measure(guess)
        if candidate.loss > loss:
            exceeding = candidate
        elif candidate.loss > best.loss:
            best = candidate
        else:
            break
    return best


def cached_exponential(
    rating: Rating,
    epsilon: float,
    progress: Progress | None = None,
    device: str | None = None,
) -> ExponentialMechanism:
    """Build the Exponential mechanism of a rating, with its extremes from the cache if possible."""
    path = cache_store.folder() / f"{table_key(rating, epsilon)}.table"
    rows, columns = rating.shape
    raw = cache_store.read(path, 8 * (rows + 2 * columns))
    known = None
    if raw is not None:
        values = np.frombuffer(raw, dtype="<i8").astype(np.int64)
        known = Extremes(*np.split(values, [rows, rows + columns]))
    mechanism = ExponentialMechanism(
        rating, epsilon=epsilon, extremes=known, device=device, progress=progress
    )
    if known is None:
        values = np.concatenate(list(vars(mechanism.extremes).values()))
        cache_store.store(path, values.astype("<i8").tobytes())
    return mechanism


def cached_neighbours(
    rating: Rating, count: int, progress: Progress | None = None, device: str | None = None
) -> nearest.Neighbours:
    """Return the outputs nearest to each input of a rating, from the cache if they are there."""
    parts = [nearest.SCHEME, count, rating.shape, rating.digest]
    path = cache_store.folder() / f"{sha256(json.dumps(parts).encode()).hexdigest()}.neighbours"
    raw = cache_store.read(path, 4 * rating.shape[0] * count)
    if raw is not None:
        return np.frombuffer(raw, dtype="<i4").reshape(-1, count)
    neighbours = nearest.nearest(rating, count, progress, device)
    cache_store.store(path, neighbours.astype("<i4").tobytes())
    return neighbours
