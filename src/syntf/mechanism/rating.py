"""Ratings ρ(v, w): how good an output word w is as a substitute for an input word v.

A rating hands out rows of integer *levels*, 0 … GRID for ratings 0 … 1. All the
mechanism knows of words, vectors and spelling passes through this interface; every
rating passes the suite in ``tests/mechanism/test_rating.py``.
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
from syntf.mechanism.bigrams import Spelling
from syntf.mechanism.reference import MOST_BIGRAMS, Levels

EXACT_DIMENSIONS = (1 << 24) // 127**2
"""Up to here a float32 product of int8 vectors is exact, in whatever order it is summed."""


class Rating(Protocol):
    """What the mechanism needs of a rating."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of inputs and of outputs."""

    @property
    def digest(self) -> str:
        """A hash of everything the levels depend on."""

    def levels(self, rows: NDArray[np.intp]) -> Levels:
        """The levels of these inputs for all outputs: the same bits whenever and wherever."""


class ArrayRating:
    """A rating given as an array, inputs × outputs, each value in [0, 1].

    Values are rounded to the nearest multiple of 1/GRID; the loss is measured on
    the rounded ones.
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
    ignored; a word of one letter counts as its own bigram, so B(v, v) = 1 always.

    Vectors are int8, so their products are integers that float32 holds exactly: no
    BLAS, thread count or device can change a level. Symmetric in v and w.

    Parameters
    ----------
    inputs, outputs : the words.
    vectors_in, vectors_out : int8 arrays, one row a word.
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
        if vectors_in.shape[1] != vectors_out.shape[1] or vectors_in.shape[1] > EXACT_DIMENSIONS:
            raise SyntfError(
                f"vectors must have one common number of dimensions, at most {EXACT_DIMENSIONS}; "
                f"got {vectors_in.shape[1]} and {vectors_out.shape[1]}"
            )
        for words, vectors in ((inputs, vectors_in), (outputs, vectors_out)):
            _check(words, vectors)
        self.shape = (len(inputs), len(outputs))
        self.digest = _digest(inputs, vectors_in, outputs, vectors_out, spelling)
        self._inputs, self._outputs, self._spelling = inputs, outputs, spelling
        self._vectors_in, self._given_out = vectors_in, vectors_out

    def __getstate__(self) -> dict[str, Any]:
        """Without what is packed for this processor: another process may be on another one."""
        return {name: value for name, value in vars(self).items() if name != "_packed"}

    # What follows takes longer than the digest, and is needed only where levels are: not where
    # a cache has all that is to be known of them.

    @cached_property
    def _packed(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return kernels.pack(self._given_out, self._spelled.has_bigram())

    @cached_property
    def _scale_in(self) -> NDArray[np.float32]:
        return _scale(self._vectors_in)

    @cached_property
    def _scale_out(self) -> NDArray[np.float32]:
        return _scale(self._given_out)

    @cached_property
    def _penalty(self) -> NDArray[np.uint16]:
        return _penalty(self._spelling)

    @cached_property
    def _spelled(self) -> Spelling:
        return Spelling.of(self._inputs, self._outputs)

    def levels(self, rows: NDArray[np.intp]) -> Levels:
        spelled, (vectors_out, has_bigram) = self._spelled, self._packed
        starts, ends = spelled.ptr[rows], spelled.ptr[rows + 1]
        ids = [spelled.ids[a:b] for a, b in zip(starts, ends, strict=True)]
        return kernels.rate(
            self._vectors_in[rows],
            vectors_out,
            self._scale_in[rows],
            self._scale_out,
            np.concatenate([[0], np.cumsum(ends - starts)]).astype(np.int64),
            np.concatenate([*ids, np.empty(0, dtype=np.int64)]),
            has_bigram,
            spelled.count_in[rows],
            spelled.count_out,
            self._penalty,
        )


class WithEmptyDocument:
    """A rating with one more input, the last: the document that has no known word.

    It rates all outputs alike, so its row is uniform. As a row like any other it is
    part of the measured loss.
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


def _check(words: Sequence[str], vectors: NDArray[np.int8]) -> None:
    """Refuse vectors that have no exact cosine."""
    if vectors.min() < -127:
        raise SyntfError("vectors must lie in -127 … 127 to be exact; -128 occurs")
    zero = ~vectors.any(axis=1)
    if zero.any():
        raise SyntfError(f"the vector of {words[int(zero.argmax())]!r} is zero: no cosine")


def _scale(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    """sqrt(GRID) / norm, each step correctly rounded."""
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.int64)
    scale: NDArray[np.float32] = np.sqrt(GRID / squares.astype(np.float64)).astype(np.float32)
    return scale


def _penalty(spelling: float) -> NDArray[np.uint16]:
    """``[c, m + n]``: the level of s·2c/(m+n), for at most 255 bigrams a word."""
    shared = np.arange(MOST_BIGRAMS + 1, dtype=np.float64)[:, None]
    counts = np.arange(2 * MOST_BIGRAMS + 2, dtype=np.float64)
    overlap = np.minimum(1, 2 * shared / np.maximum(counts, 1))
    return np.rint(float(spelling) * overlap * GRID).astype(np.uint16)


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
