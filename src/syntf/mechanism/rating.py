"""Ratings ρ(v, w): how good an output word w is as a substitute for an input word v.

A rating gives rows of integer *levels*, 0 … GRID for ratings 0 … 1. Everything the mechanism knows
about words, vectors and spelling passes through this interface. Every rating passes the suite in
``tests/mechanism/test_rating.py``.
"""

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from syntf.core.checks import fraction
from syntf.core.errors import SyntfError
from syntf.core.exact import GRID
from syntf.mechanism import kernels
from syntf.mechanism.bigrams import BigramTable
from syntf.mechanism.reference import MAX_BIGRAMS, Levels

MAX_DIMENSIONS = (1 << 24) // 127**2
"""Up to here a float32 product of int8 vectors is exact, in whatever order it is summed."""


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
    count or device can change a level. The rating is symmetric in v and w.

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
        spelling = fraction("spelling", spelling)
        if vectors_in.shape[1] != vectors_out.shape[1] or vectors_in.shape[1] > MAX_DIMENSIONS:
            raise SyntfError(
                f"vectors must have the same number of dimensions, at most {MAX_DIMENSIONS}; "
                f"got {vectors_in.shape[1]} and {vectors_out.shape[1]}"
            )
        for words, vectors in ((inputs, vectors_in), (outputs, vectors_out)):
            _check_vectors(words, vectors)
        self.shape = (len(inputs), len(outputs))
        self._inputs, self._outputs, self._spelling = inputs, outputs, spelling
        self.vectors_in, self.vectors_out = vectors_in, vectors_out

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is packed for this processor: another process may run on another."""
        return {name: value for name, value in vars(self).items() if name != "_packed"}

    @cached_property
    def digest(self) -> str:
        """A hash of everything the levels depend on."""
        return _digest(
            self._inputs, self.vectors_in, self._outputs, self.vectors_out, self._spelling
        )

    # The following are computed only where levels are needed: not if the cache has all that is
    # derived from the levels.

    def prepare(self) -> None:
        """Compute what all rows of levels need, before several threads ask for it."""
        for name in ("_packed", "scale_in", "scale_out", "penalty"):
            getattr(self, name)

    @cached_property
    def _packed(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return kernels.pack(self.vectors_out, self.bigrams.incidence())

    @cached_property
    def scale_in(self) -> NDArray[np.float32]:
        """sqrt(GRID) / norm of each input vector."""
        return _scale(self.vectors_in)

    @cached_property
    def scale_out(self) -> NDArray[np.float32]:
        """sqrt(GRID) / norm of each output vector."""
        return _scale(self.vectors_out)

    @cached_property
    def penalty(self) -> NDArray[np.uint16]:
        """``penalty[c, m + n]`` is the level of s·2c/(m+n): c shared bigrams of m and n."""
        shared = np.arange(MAX_BIGRAMS + 1, dtype=np.float64)[:, None]
        counts = np.arange(2 * MAX_BIGRAMS + 2, dtype=np.float64)
        overlap = np.minimum(1, 2 * shared / np.maximum(counts, 1))
        return np.rint(float(self._spelling) * overlap * GRID).astype(np.uint16)

    @cached_property
    def bigrams(self) -> BigramTable:
        """The bigrams of all words."""
        return BigramTable.build(self._inputs, self._outputs)

    def levels(self, rows: NDArray[np.intp]) -> Levels:
        bigrams, (vectors_out, incidence) = self.bigrams, self._packed
        starts, ends = bigrams.input_starts[rows], bigrams.input_starts[rows + 1]
        ids = [bigrams.input_bigrams[a:b] for a, b in zip(starts, ends, strict=True)]
        return kernels.rate(
            self.vectors_in[rows],
            vectors_out,
            self.scale_in[rows],
            self.scale_out,
            np.concatenate([[0], np.cumsum(ends - starts)]).astype(np.int64),
            np.concatenate([*ids, np.empty(0, dtype=np.int64)]),
            incidence,
            bigrams.input_counts[rows],
            bigrams.output_counts,
            self.penalty,
        )

    def nearest(self, rows: slice, count: int) -> NDArray[np.int32]:
        """Return the `count` outputs of highest level for consecutive inputs, the best first."""
        bigrams, (vectors_out, incidence) = self.bigrams, self._packed
        return kernels.nearest(
            self.vectors_in[rows],
            vectors_out,
            self.scale_in[rows],
            self.scale_out,
            bigrams.input_starts[rows.start : rows.stop + 1],
            bigrams.input_bigrams,
            incidence,
            bigrams.input_counts[rows],
            bigrams.output_counts,
            self.penalty,
            count,
        )


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


def _check_vectors(words: Sequence[str], vectors: NDArray[np.int8]) -> None:
    """Raise if a vector has no exact cosine."""
    if vectors.min() < -127:
        raise SyntfError("vectors must lie in -127 … 127 to be exact; -128 occurs")
    zero = ~vectors.any(axis=1)
    if zero.any():
        raise SyntfError(f"the vector of {words[int(zero.argmax())]!r} is zero: no cosine")


def _scale(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return sqrt(GRID) / norm, each step correctly rounded.

    The sums of squares fit: a vector has at most MAX_DIMENSIONS numbers of a byte.
    """
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.int32)
    scale: NDArray[np.float32] = np.sqrt(GRID / squares.astype(np.float64)).astype(np.float32)
    return scale


def _digest(
    inputs: Sequence[str],
    vectors_in: NDArray[np.int8],
    outputs: Sequence[str],
    vectors_out: NDArray[np.int8],
    spelling: float,
) -> str:
    digest = hashlib.sha256(f"word rating, spelling {float(spelling).hex()}".encode())
    for words, vectors in ((inputs, vectors_in), (outputs, vectors_out)):
        digest.update(json.dumps([vectors.shape, list(words)]).encode())
        digest.update(np.ascontiguousarray(vectors, dtype=np.int8).data)
    return digest.hexdigest()
