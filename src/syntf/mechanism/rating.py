"""Ratings ρ(v, w): how good an output word w is as a substitute for an input word v.

A rating gives rows of integer *levels*, 0 … GRID for ratings 0 … 1. Everything the mechanism knows
about words, vectors and spelling passes through this interface. Every rating passes the suite in
``tests/mechanism/test_rating.py``.
"""

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from syntf.core.checks import fraction
from syntf.core.errors import SyntfError
from syntf.core.exact import GRID

Levels = NDArray[np.uint16]
"""Ratings as multiples of 1/GRID."""

BLOCK = 1 << 19
"""Entries of a table that a thread holds at once: few enough for a processor's cache."""

MAX_DIMENSIONS = (1 << 24) // 127**2
"""Up to here a float32 product of int8 vectors is exact, in whatever order it is summed."""

MAX_BIGRAMS = 255
"""How many distinct bigrams of a word count for its spelling: a count fits in a byte."""


class Rating(Protocol):
    """What the mechanism needs to know about the similarity of words."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of inputs and of outputs."""

    @property
    def digest(self) -> str:
        """A hash of everything the levels depend on."""

    def levels(self, rows: NDArray[np.intp]) -> Levels:
        """Return the levels of these inputs for all outputs, the same bits on every machine."""


class ArrayRating:
    """A rating given as an array, inputs × outputs, each value in [0, 1].

    Values are rounded to the nearest multiple of 1/GRID. The loss is measured on the rounded ones.
    """

    def __init__(self, ratings: Any) -> None:
        values = np.asarray(ratings, dtype=np.float64)
        if values.ndim != 2 or 0 in values.shape:
            raise SyntfError(
                f"ratings must be inputs × outputs, at least 1 × 1, not of shape {values.shape}"
            )
        bad = np.argwhere(~((values >= 0) & (values <= 1)))  # NaN fails both comparisons
        if len(bad):
            row, column = bad[0]
            raise SyntfError(
                f"ratings must lie in [0, 1]; row {row}, column {column} is {values[row, column]}"
            )
        self._levels: Levels = np.rint(values * GRID).astype(np.uint16)

    @property
    def shape(self) -> tuple[int, int]:
        return self._levels.shape[0], self._levels.shape[1]

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr(self.shape).encode() + self._levels.tobytes()).hexdigest()

    def levels(self, rows: NDArray[np.intp]) -> Levels:
        return self._levels[rows]


class WordRating:
    """The paper's rating: cosine of the word vectors minus s times the bigram overlap, in [0, 1].

    ``level(v, w) = max(0, round(GRID·cos(v, w)) − round(GRID·s·B(v, w)))``, where B is the
    Dice overlap 2|b(v) ∩ b(w)| / (|b(v)| + |b(w)|) of the sets of letter bigrams, case
    ignored. A word of one letter counts as its own bigram, so B(v, v) = 1 always.

    Vectors are int8, so their products are integers that float32 holds exactly: no BLAS, thread
    count or device can change a level. The other floating-point steps are single operations, whose
    results IEEE 754 fixes; no rounded numbers are summed. The rating is symmetric in v and w.

    Parameters
    ----------
    inputs, outputs : the words.
    vectors_in, vectors_out : int8 arrays, one row for each word.
    spelling : the factor s, in [0, 1].
    """

    def __init__(
        self,
        inputs: Sequence[str],
        vectors_in: NDArray[np.int8],
        outputs: Sequence[str],
        vectors_out: NDArray[np.int8],
        *,
        spelling: float,
    ) -> None:
        self._spelling = fraction("spelling", spelling)
        if vectors_in.shape[1] != vectors_out.shape[1] or vectors_in.shape[1] > MAX_DIMENSIONS:
            raise SyntfError(
                f"vectors must have the same number of dimensions, at most {MAX_DIMENSIONS}; "
                f"got {vectors_in.shape[1]} and {vectors_out.shape[1]}"
            )
        for words, vectors in ((inputs, vectors_in), (outputs, vectors_out)):
            _check_vectors(words, vectors)
        self.shape = (len(inputs), len(outputs))
        self._words, self._vectors = (inputs, outputs), (vectors_in, vectors_out)
        self._columns = np.ascontiguousarray(vectors_out.T, dtype=np.float32)
        self._scale_out = _scale(vectors_out)
        own = [bigrams(word) for word in outputs]
        self._number = {two: i for i, two in enumerate(dict.fromkeys(chain(*own)))}
        self._half_counts = np.array([len(each) / 2 for each in own])
        # Bigrams × outputs: not sparse, because most columns are touched by each input.
        self._incidence_out = self._incidence(own).toarray().T.copy()

    @cached_property
    def digest(self) -> str:
        """A hash of everything the levels depend on."""
        digest = hashlib.sha256(f"word rating, spelling {self._spelling.hex()}".encode())
        for words, vectors in zip(self._words, self._vectors, strict=True):
            digest.update(json.dumps([vectors.shape, list(words)]).encode())
            digest.update(np.ascontiguousarray(vectors, dtype=np.int8).data)
        return digest.hexdigest()

    def levels(self, rows: NDArray[np.intp]) -> Levels:
        vectors = self._vectors[0][rows]
        cosine = vectors.astype(np.float32) @ self._columns
        cosine *= np.multiply.outer(_scale(vectors), self._scale_out)
        levels: Levels = np.rint(cosine, out=cosine).clip(0, GRID, out=cosine).astype(np.uint16)
        own = [bigrams(self._words[0][row]) for row in rows.tolist()]
        shared = self._incidence(own) @ self._incidence_out
        mean = np.add.outer([len(each) / 2 for each in own], self._half_counts)
        penalty = np.divide(shared, mean, out=mean)  # the overlap
        penalty *= self._spelling
        penalty *= GRID
        levels -= np.minimum(levels, np.rint(penalty, out=penalty).astype(np.uint16))
        return levels

    def _incidence(self, own: Sequence[Sequence[str]]) -> csr_array:
        """Return words × bigrams of outputs, 1 where a word has the bigram."""
        known = [[self._number[two] for two in each if two in self._number] for each in own]
        starts = np.cumsum([0, *map(len, known)])
        numbers = np.array(list(chain(*known)), dtype=np.int32)
        ones = np.ones(len(numbers), dtype=np.uint8)
        return csr_array((ones, numbers, starts), shape=(len(own), len(self._number)))


class WithEmptyDocument:
    """A rating with one more input, the last: the document that has no known word.

    It rates all outputs alike, so its row is uniform. Like any other row, it is part of the
    measured loss.
    """

    def __init__(self, rating: Rating) -> None:
        self.words = rating
        self.shape = (rating.shape[0] + 1, rating.shape[1])
        self.digest = hashlib.sha256(b"with empty document " + rating.digest.encode()).hexdigest()

    def levels(self, rows: NDArray[np.intp]) -> Levels:
        words = rows < self.shape[0] - 1
        if words.all():
            return self.words.levels(rows)
        levels = np.zeros((len(rows), self.shape[1]), dtype=np.uint16)
        levels[words] = self.words.levels(rows[words])
        return levels


def bigrams(word: str) -> list[str]:
    """Return the distinct letter bigrams of a word, case ignored, in a fixed order.

    >>> bigrams("Banana"), bigrams("x")
    (['an', 'ba', 'na'], ['x'])
    """
    letters = word.lower()
    return sorted({letters[i : i + 2] for i in range(max(1, len(letters) - 1))})[:MAX_BIGRAMS]


def _check_vectors(words: Sequence[str], vectors: NDArray[np.int8]) -> None:
    """Raise if a vector has no exact cosine."""
    if vectors.min() < -127:
        raise SyntfError("vectors must lie in -127 … 127 to be exact; -128 occurs")
    zero = ~vectors.any(axis=1)
    if zero.any():
        raise SyntfError(f"the vector of {words[int(zero.argmax())]!r} is zero: no cosine")


def _scale(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return sqrt(GRID) / norm of each vector, each step correctly rounded.

    The sums of squares fit: a vector has at most MAX_DIMENSIONS numbers of a byte.
    """
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.int32)
    scale: NDArray[np.float32] = np.sqrt(GRID / squares.astype(np.float64)).astype(np.float32)
    return scale
