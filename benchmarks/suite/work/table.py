"""Measure a mechanism over a vocabulary, or draw from it, with the vectors in memory."""

from collections.abc import Callable

from suite.work.embedded import first_words, rating, zipf
from syntf.mechanism import kernels
from syntf.mechanism.base import Mechanism
from syntf.mechanism.build import cached_exponential, cached_neighbours
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.nearest import nearest
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.rating import WordRating

EPSILON = {"paper": 47.5, "neighbourhood": 20.0}
DRAWS = {"paper": 250_000, "neighbourhood": 4_000_000}


def prepare(
    kind: str, step: str, count: str, loops: str = "compiled"
) -> Callable[[], dict[str, float]]:
    if loops == "numpy":
        kernels._compiled = None
    return _drawing(kind, int(count)) if step == "draw" else _measuring(kind, int(count))


def _measuring(kind: str, count: int) -> Callable[[], dict[str, float]]:
    words, matrix = first_words(count)

    def once() -> dict[str, float]:
        rated = WordRating(words, matrix, words, matrix, spelling=0.3)
        made: Mechanism
        if kind == "paper":
            made = ExponentialMechanism(rated, epsilon=EPSILON[kind])
        else:
            made = NeighbourhoodMechanism(nearest(rated, 1), outputs=count, epsilon=EPSILON[kind])
        return {"loss": made.loss}

    return once


def _drawing(kind: str, count: int) -> Callable[[], dict[str, float]]:
    """Return a round that draws; the mechanism comes from the cache."""
    rated = rating(count)
    made: Mechanism
    if kind == "paper":
        made = cached_exponential(rated, EPSILON[kind])
    else:
        made = NeighbourhoodMechanism(
            cached_neighbours(rated, 1), outputs=count, epsilon=EPSILON[kind]
        )
    rows = zipf(count, DRAWS[kind])

    def once() -> dict[str, float]:
        made.sample(rows)
        return {"amount": len(rows)}

    return once
