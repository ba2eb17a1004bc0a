"""What a mechanism does to words, in a few figures: of the public table, never of a document."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from syntf.mechanism.base import Mechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.privacy.accounting import quick_epsilons
from syntf.vocabulary.vocabulary import Vocabulary

DELTA = 1e-6
"""The δ that an ε is given at, beside the loss."""

DOCUMENTS = 50
"""Documents by one author, as the README and ``syntf bounds`` count them."""

SAMPLED = 50
"""Frequent words that the chances to stay, to become near or any other are the mean of."""

SHOWN = 12
"""The most frequent of them, shown with what they become."""

GRADED = 10
"""Words that count as near where similarity is graded and no number of neighbours is given."""

SUBSTITUTES = 3


@dataclass(frozen=True)
class Fate:
    """The chances that a drawn word stays, becomes one of its nearest, or any other."""

    stays: float
    near: float
    other: float


@dataclass(frozen=True)
class Substitution:
    """A public word, its fate, and the likeliest of the words that are near it."""

    word: str
    fate: Fate
    becomes: Sequence[tuple[str, float]]


@dataclass(frozen=True)
class Portrait:
    """All that a report says of a table. Fractions of its integers, so the same everywhere.

    `near` is how many words count as near. `epsilons` are those of a document and of an author
    of fifty at δ = 1e-6 (:func:`syntf.privacy.accounting.quick_epsilons`).
    """

    near: int
    sampled: int
    fate: Fate
    substitutions: Sequence[Substitution]
    epsilons: tuple[float, float]


def portrait(mechanism: Mechanism, vocabulary: Vocabulary, *, length: int) -> Portrait:
    """Look at the rows of the outputs whose vectors stand first: frequent words, as in a file.

    >>> from syntf.vectors.word_vectors import WordVectors
    >>> vectors = WordVectors.quantize(["cat", "dog", "car"], np.eye(3))
    >>> words = Vocabulary.given(["cat", "dog", "car"], vectors)
    >>> mechanism = NeighbourhoodMechanism([[1], [0], [1]], outputs=3, epsilon=4.0)
    >>> portrait(mechanism, words, length=10).substitutions[0].becomes
    [('dog', 0.7869860421615985)]
    """
    outputs = vocabulary.outputs
    near = min(_near(mechanism), len(outputs))
    frequent = sorted(range(len(outputs)), key=vocabulary.output_rows.__getitem__)[:SAMPLED]
    staying, nearby = 0, 0
    shown = []
    for rank, own in enumerate(frequent):
        weights = mechanism.weights(vocabulary.inputs.index(outputs[own]))
        stays, nearest = _split(weights, own, near)
        staying, nearby = staying + stays, nearby + nearest
        if rank < SHOWN:
            order = np.argsort(-weights, kind="stable")[:near].tolist()
            likely = [place for place in order if place != own][:SUBSTITUTES]
            becomes = [(outputs[at], _share(int(weights[at]), mechanism.total)) for at in likely]
            fate = _fate(stays, nearest, mechanism.total)
            shown.append(Substitution(outputs[own], fate, becomes))
    draws = [length, DOCUMENTS * length]
    document, author = quick_epsilons(mechanism, draws, DELTA)
    return Portrait(
        near=near,
        sampled=len(frequent),
        fate=_fate(staying, nearby, mechanism.total * len(frequent)),
        substitutions=shown,
        epsilons=(document, author),
    )


def _near(mechanism: Mechanism) -> int:
    if isinstance(mechanism, NeighbourhoodMechanism):
        return mechanism.shares.size
    return GRADED


def _split(weights: np.typing.NDArray[np.int64], own: int, near: int) -> tuple[int, int]:
    """The weight of the word itself, and that of its `near` likeliest outputs without it."""
    least = weights.min()
    # Most outputs of a neighbourhood weigh the least, and equals are slow to part.
    above = np.append(weights[weights > least], [least] * near)
    best = np.partition(above, above.size - near)[above.size - near :]
    stays = int(weights[own])
    within = stays >= int(best[0])
    return stays, sum(map(int, best)) - stays * within


def _fate(stays: int, near: int, total: int) -> Fate:
    return Fate(*(_share(part, total) for part in (stays, near, total - stays - near)))


def _share(part: int, total: int) -> float:
    return float(Fraction(part, total))
