"""Noisy sums: everything that was measured in a corpus, public from here on."""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from syntf.corpus.public import PublicWords
from syntf.corpus.sums import Integers
from syntf.privacy import zcdp
from syntf.topics.integers import Vectors

SIZE, LABELS, FIRST, WORDS = "size", "labels", "first", "words"
"""The names of measurements."""


@dataclass(frozen=True)
class Measurement:
    """One noisy sum: what a document adds to it at most, and the variance of its noise."""

    name: str
    squared_length: int
    variance: int

    @property
    def rho(self) -> Fraction:
        """The zCDP loss of a document that is added or removed."""
        return zcdp.rho(self.squared_length, self.variance)


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisySums:
    """What was measured.

    labels : the labels, or the names of public topics that take their place; never none.
    meanings : for each label a text that says what it means; empty where its name does.
    is_by_topic : whether the labels are public topics.
    size : the noisy number of documents, alone in an array.
    counts : the noisy number of documents of each label, if labels were selected by it.
    first : the first sum.
    columns : rows of the word vectors: the columns of the sum of words; empty without this sum.
    words : the sum of words, labels × columns.
    measurements : how each was measured, in order.
    """

    labels: tuple[str, ...]
    meanings: tuple[str, ...]
    is_by_topic: bool
    size: Integers
    counts: Integers
    first: Integers
    columns: NDArray[np.int32]
    words: Integers
    measurements: tuple[Measurement, ...]

    def sigma(self, name: str) -> float:
        """Return the standard deviation of the noise of a measurement."""
        return sqrt(next(each.variance for each in self.measurements if each.name == name))

    def directions(self, public: PublicWords) -> Vectors:
        """Return where the meanings of labels point; zeros where that is unknown."""
        if self.is_by_topic:
            vectors = public.topics(len(self.labels) - 1)[0].vectors
            return np.vstack([vectors, np.zeros_like(vectors[:1])])
        pairs = zip(self.labels, self.meanings, strict=True)
        return public.directions([meaning or label for label, meaning in pairs])
