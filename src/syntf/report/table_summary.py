"""A few figures on what a mechanism does to words, from the public table alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from syntf.mechanism.base import Mechanism
    from syntf.vocabulary.vocabulary import Vocabulary

DELTA = 1e-6
"""The δ at which a report states ε beside the loss."""

AUTHOR_DOCUMENTS = 50
"""Documents of the example author in the README, in reports and in ``syntf bounds``."""

SAMPLED_WORDS = 50
"""Frequent words over which the mean chances are taken."""

EXAMPLE_WORDS = 12
"""Frequent words shown with their substitutes."""

GRADED_NEAR = 10
"""Output words that count as near under the Exponential mechanism, which has no k."""

SUBSTITUTES = 3
"""Substitutes shown for each example word."""


@dataclass(frozen=True)
class Chances:
    """The chances that a drawn word stays, becomes a near word, or becomes any other word."""

    stays: float
    near: float
    other: float


@dataclass(frozen=True)
class WordExample:
    """A public word, its chances, and the likeliest near words with their chances."""

    word: str
    chances: Chances
    becomes: Sequence[tuple[str, float]]


@dataclass(frozen=True)
class TableSummary:
    """What a report says about a table. All shares are exact fractions, rounded once.

    `near` is the number of output words that count as near. `chances` is the mean over the
    `sampled` most frequent words. `epsilons` are ε at :data:`DELTA` for one document and for an
    author of :data:`AUTHOR_DOCUMENTS` documents.
    """

    near: int
    sampled: int
    chances: Chances
    examples: Sequence[WordExample]
    epsilons: tuple[float, float]


def summarize_table(
    mechanism: "Mechanism", vocabulary: "Vocabulary", *, length: int
) -> TableSummary:
    """Summarize the rows of the most frequent output words, in the order of the word vectors.

    No document plays a part in the choice of words. `length` is the number of words per document.

    >>> from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
    >>> from syntf.vectors.word_vectors import WordVectors
    >>> from syntf.vocabulary.vocabulary import Vocabulary
    >>> vectors = WordVectors.quantize(["cat", "dog", "car"], np.eye(3))
    >>> words = Vocabulary.given(["cat", "dog", "car"], vectors)
    >>> mechanism = NeighbourhoodMechanism([[1], [0], [1]], outputs=3, epsilon=4.0)
    >>> summarize_table(mechanism, words, length=10).examples[0].becomes
    [('dog', 0.7869860421615985)]
    """
    from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
    from syntf.privacy.accounting import quick_epsilons

    outputs = vocabulary.outputs
    near = GRADED_NEAR
    if isinstance(mechanism, NeighbourhoodMechanism):
        near = mechanism.shares.size
    near = min(near, len(outputs))
    frequent = sorted(range(len(outputs)), key=vocabulary.output_rows.__getitem__)[:SAMPLED_WORDS]
    rows = [mechanism.weights(vocabulary.inputs.index(outputs[column])) for column in frequent]
    sum_stays, sum_near = 0, 0
    examples = []
    for rank, (column, weights) in enumerate(zip(frequent, rows, strict=True)):
        stays, nearest = _split_weights(weights, column, near)
        sum_stays, sum_near = sum_stays + stays, sum_near + nearest
        if rank < EXAMPLE_WORDS:
            order = np.argsort(-weights, kind="stable")[:near].tolist()
            likely = [place for place in order if place != column][:SUBSTITUTES]
            becomes = [(outputs[at], _share(int(weights[at]), mechanism.total)) for at in likely]
            chances = _chances(stays, nearest, mechanism.total)
            examples.append(WordExample(outputs[column], chances, becomes))
    document, author = quick_epsilons(mechanism, [length, AUTHOR_DOCUMENTS * length], DELTA)
    return TableSummary(
        near=near,
        sampled=len(frequent),
        chances=_chances(sum_stays, sum_near, mechanism.total * len(frequent)),
        examples=examples,
        epsilons=(document, author),
    )


def _split_weights(weights: np.typing.NDArray[np.int64], own: int, near: int) -> tuple[int, int]:
    """Return the weight of the word itself, and that of its `near` likeliest words without it."""
    least = weights.min()
    # np.partition is slow on equal values, and most weights of a neighbourhood are the least one.
    above = np.append(weights[weights > least], [least] * near)
    best = np.partition(above, above.size - near)[above.size - near :]
    stays = int(weights[own])
    within = stays >= int(best[0])
    return stays, sum(map(int, best)) - stays * within


def _chances(stays: int, near: int, total: int) -> Chances:
    return Chances(*(_share(part, total) for part in (stays, near, total - stays - near)))


def _share(part: int, total: int) -> float:
    return float(Fraction(part, total))
