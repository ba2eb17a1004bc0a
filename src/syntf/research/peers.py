"""Mechanisms of other systems over the same words, each with the loss that it really has.

Their papers promise less than a loss over all inputs: SanText a loss that grows with the distance
of two words, CusText one between words that share their substitutes. Here every pair of
documents is adjacent, as in ours, so all losses mean the same. What is put in the place of our
mechanism is theirs; reading, weighing and drawing of words stay as they are.
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

FARTHEST = 2.0
"""The largest distance that two vectors of length 1 can have."""

STEP = 512  # rows of levels held at once


class DistanceRating:
    """1 − d/2, where d is the Euclidean distance of the two words' vectors, stretched to length 1.

    With it and ε, the Exponential mechanism weighs exp(−ε·d/4): SanText's exp(−ε'·d/2) for
    ε' = ε/2. Each step is exact or correctly rounded, so the levels are the same everywhere.

    Parameters
    ----------
    vectors_in, vectors_out : int8 arrays, one row a word, none of them zero.

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
        distances = np.sqrt(np.clip(2 - 2 * cosines, 0, FARTHEST**2))
        levels: Levels = np.rint(GRID * (1 - distances / FARTHEST)).astype(np.uint16)
        return levels


def santext(
    rating: Rating, *, loss: float, cache: bool = True, stages: Stages = silent
) -> Mechanism:
    """SanText at a wanted tight loss, by a :class:`DistanceRating`: all words are outputs of all.

    The document without a known word is one more input, for which all outputs are alike.
    `cache` is that of :func:`syntf.mechanism.build.build`.
    """
    return build(rating, epsilon=loss, loss=loss, cache=cache, stages=stages)


def randomised_response(words: int, *, loss: float) -> Mechanism:
    """k-ary randomised response: the word itself, or any word, all alike.

    It is the neighbourhood mechanism whose only neighbour of a word is that word, so it returns
    it with e^ℓ / (e^ℓ + M − 1); but it can say nothing of a word that is no output.
    """
    return NeighbourhoodMechanism(np.arange(words)[:, None], outputs=words, epsilon=2 * loss)


class CusText:
    """CusText: a word becomes one of the `size` words nearest to it, and never any other.

    Among these it draws with exp(ε/2 · u), where u falls from 1 for the nearest to 0 for the
    farthest, in proportion to the rating. Its ε compares words that have the same substitutes.
    Of any two words that do not, some output proves that it was not the one: the loss is infinite.

    It is no :class:`~syntf.mechanism.base.Mechanism`, which has a finite loss, but can be
    drawn from.

    Parameters
    ----------
    rating : says which outputs are near. One more input, the last, is the document without a
        known word; its substitutes are the first outputs, all alike.
    epsilon : the ε that CusText states.
    size : substitutes of each word, at most all outputs.

    Attributes
    ----------
    loss : the tight loss over all pairs of inputs; finite only if all have the same substitutes.

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
                for rows in np.split(np.arange(inputs), range(STEP, inputs, STEP))
            ]
        ).astype(np.float64)
        low, high = levels[:, -1:], levels[:, :1]  # the nearest come first
        near_enough = (levels - low) / np.maximum(high - low, 1)
        self.shape = inputs + 1, outputs
        self.epsilon = epsilon
        self._near = np.vstack([near, np.arange(size)])
        self._places = build(ArrayRating(near_enough), epsilon=epsilon, cache=False)
        self.loss = self._loss()

    def weights(self, row: int) -> NDArray[np.int64]:
        """The integer weights of one input, most of them 0."""
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
        """One output index for each input index."""
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
    """Squared lengths; products of two are exact up to 700 dimensions and beyond."""
    squares: NDArray[np.float64] = (vectors.astype(np.int64) ** 2).sum(axis=1).astype(np.float64)
    return squares
