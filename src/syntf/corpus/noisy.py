"""Noisy sums: everything that was measured in a corpus, public from here on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from syntf.corpus.public import PublicWords
from syntf.corpus.sums import Integers
from syntf.privacy import zcdp
from syntf.topics.integers import Vectors

SIZE, LABELS, FIRST, WORDS = "size", "labels", "first", "words"
"""The names of measurements."""

_ARRAYS = {"size": "<i8", "counts": "<i8", "first": "<i8", "columns": "<i4", "words": "<i8"}


@dataclass(frozen=True)
class Measurement:
    """One noisy sum: what a document adds to it at most, and the variance of its noise."""

    name: str
    coordinates: int
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
            return public.topics(len(self.labels) - 1)[1]
        pairs = zip(self.labels, self.meanings, strict=True)
        return public.directions([meaning or label for label, meaning in pairs])

    def arrays(self) -> dict[str, NDArray[np.integer]]:
        """Return the numbers, to be stored."""
        return {name: getattr(self, name).astype(kind) for name, kind in _ARRAYS.items()}

    def header(self) -> dict[str, Any]:
        """Return everything else as JSON types."""
        return {
            "labels": list(self.labels),
            "meanings": list(self.meanings),
            "is_by_topic": self.is_by_topic,
            "measurements": [asdict(each) for each in self.measurements],
        }

    @classmethod
    def of(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[np.integer]]) -> Self:
        """Return what :meth:`header` and :meth:`arrays` describe."""
        return cls(
            labels=tuple(header["labels"]),
            meanings=tuple(header["meanings"]),
            is_by_topic=header["is_by_topic"],
            measurements=tuple(Measurement(**each) for each in header["measurements"]),
            **{name: np.asarray(arrays[name]).astype(kind) for name, kind in _ARRAYS.items()},
        )
