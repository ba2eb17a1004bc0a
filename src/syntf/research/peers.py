"""Mechanisms of other systems over the same words, each with its loss over all pairs of inputs.

The papers of these systems promise less: SanText's loss grows with the distance of two words, and
CusText's loss compares only words that share their substitutes. Here every pair of documents is
adjacent, as for our mechanism, so all losses mean the same. Only the mechanism is replaced; words
are read, weighted and drawn as before.
"""

import hashlib
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntf.core import entropy
from syntf.core.exact import GRID, log_up
from syntf.core.parallel import Progress
from syntf.core.progress import Stages, silent
from syntf.mechanism.base import Mechanism, largest_ratio
from syntf.mechanism.build import build
from syntf.mechanism.nearest import nearest
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.rating import ArrayRating, Rating
from syntf.mechanism.reference import Levels

MAX_DISTANCE = 2.0
"""The largest distance between two vectors of length 1."""

BLOCK_ROWS = 512  # rows of levels held at once


class DistanceRating:
    """Rates two words by 1 − d/2, where d is the distance of their vectors, scaled to length 1.

    With this rating, the exponential mechanism uses weights exp(−ε·d/4), those of SanText,
    exp(−ε'·d/2), for ε' = ε/2. Each step is exact or correctly rounded, so the levels are the same
    on every machine.

    Parameters
    ----------
    vectors_in, vectors_out : int8 arrays
        One row per word; no row may be zero.

    Examples
    --------
    >>> vectors = np.array([[2, 0], [0, 7], [-1, 0]], dtype=np.int8)
    >>> levels = DistanceRating(vectors, vectors).levels(np.array([0]))
    >>> (levels / 65535).round(3).tolist()  # itself, a right angle, the opposite
    [[1.0, 0.293, 0.0]]
    """

    def __init__(self, vectors_in: NDArray[np.int8], vectors_out: NDArray[np.int8]) -> None:
        self.shape = (len(vectors_in), len(vectors_out))
        parts = (b"distance", repr((vectors_in.shape, vectors_out.shape)).encode())
        arrays = (np.ascontiguousarray(each).tobytes() for each in (vectors_in, vectors_out))
        self.digest = hashlib.sha256(b" ".join([*parts, *arrays])).hexdigest()
        self._in = vectors_in
        self._out = np.ascontiguousarray(vectors_out.T.astype(np.float32))
        self._squares_in, self._squares_out = _squares(vectors_in), _squares(vectors_out)

    def levels(self, rows: NDArray[np.intp]) -> Levels:
        products = (self._in[rows].astype(np.float32) @ self._out).astype(np.float64)
        cosines = products / np.sqrt(self._squares_in[rows, None] * self._squares_out)
        distances = np.sqrt(np.clip(2 - 2 * cosines, 0, MAX_DISTANCE**2))
        levels: Levels = np.rint(GRID * (1 - distances / MAX_DISTANCE)).astype(np.uint16)
        return levels


def santext(
    rating: Rating, *, loss: float, cache: bool = True, stages: Stages = silent
) -> Mechanism:
    """Build SanText with a wanted tight loss; every word can become every output.

    The document without a known word is one more input, for which all outputs are equally likely.
    `rating` is a :class:`DistanceRating`; `cache` is passed to :func:`syntf.mechanism.build.build`.
    """
    return build(rating, epsilon=loss, loss=loss, cache=cache, stages=stages)


def randomised_response(words: int, *, loss: float) -> Mechanism:
    """Build k-ary randomised response: a word stays, or becomes any other with equal probability.

    This is the neighbourhood mechanism in which a word is its own only neighbour, so a word stays
    with probability e^ℓ / (e^ℓ + M − 1). It cannot read words that are not outputs.
    """
    return NeighbourhoodMechanism(np.arange(words)[:, None], outputs=words, epsilon=2 * loss)


class CusText:
    """CusText: a word becomes one of the `size` words nearest to it, and never another word.

    Weights among these are exp(ε/2 · u), where u falls from 1 for the nearest to 0 for the
    farthest, in proportion to the rating. CusText's ε compares words with the same substitutes. Of
    two words with different substitutes, some output excludes one for certain, so the loss over
    all pairs is infinite. A :class:`~syntf.mechanism.base.Mechanism` has a finite loss, so
    this class is not one, but it can be drawn from like one.

    Parameters
    ----------
    rating : Rating
        Decides which outputs are near. The document without a known word becomes one more input,
        the last; its substitutes are the first outputs, all equally likely.
    epsilon : float
        The ε that CusText states.
    size : int
        Substitutes of each word, at most the number of outputs.

    Attributes
    ----------
    loss : float
        The tight loss over all pairs of inputs; finite only if all have the same substitutes.

    Examples
    --------
    >>> near = ArrayRating([[1.0, 0.4, 0.0], [0.4, 1.0, 0.0], [0.0, 0.4, 1.0]])
    >>> CusText(near, epsilon=1.0, size=2).loss
    inf
    >>> round(CusText(near, epsilon=1.0, size=3).loss, 3)
    0.5
    """

    def __init__(self, rating: Rating, *, epsilon: float, size: int) -> None:
        inputs, outputs = rating.shape
        near = nearest(rating, size)
        levels = np.concatenate(
            [
                np.take_along_axis(rating.levels(rows), near[rows], axis=1)
                for rows in np.split(np.arange(inputs), range(BLOCK_ROWS, inputs, BLOCK_ROWS))
            ]
        ).astype(np.float64)
        low, high = levels[:, -1:], levels[:, :1]  # the nearest come first
        shares = (levels - low) / np.maximum(high - low, 1)
        self.shape = inputs + 1, outputs
        self.epsilon = epsilon
        self._near = np.vstack([near, np.arange(size)])
        self._places = build(ArrayRating(shares), epsilon=epsilon, cache=False)
        self.loss = self._loss()

    def weights(self, row: int) -> NDArray[np.int64]:
        """Return the integer weights of one input, most of which are 0."""
        weights = np.zeros(self.shape[1], dtype=np.int64)
        weights[self._near[row]] = self._places.weights(row)
        return weights

    def sample(
        self,
        rows: ArrayLike,
        *,
        source: entropy.Source = entropy.system,
        progress: Progress | None = None,
    ) -> NDArray[np.intp]:
        """Draw one output index for each input index."""
        inputs: NDArray[Any] = np.asarray(rows)
        places = self._places.sample(inputs, source=source, progress=progress)
        outputs: NDArray[np.intp] = self._near[inputs, places].astype(np.intp)
        return outputs

    def _loss(self) -> float:
        if (np.sort(self._near, axis=1) != np.sort(self._near[0])).any():
            return inf
        rows = np.array([self.weights(row) for row in range(self.shape[0])])[:, self._near[0]]
        return log_up(largest_ratio(rows.min(axis=0), rows.max(axis=0)))


def _squares(vectors: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return squared lengths; products of two are exact for 700 dimensions and more."""
    squares: NDArray[np.float64] = (vectors.astype(np.int64) ** 2).sum(axis=1).astype(np.float64)
    return squares
