"""PrivUnit: release a random point of the sphere that is more often near a document's vector.

Bhowmick, Duchi, Freudiger, Kapoor and Rogers, *Protection Against Reconstruction*, 2018. With the
probability p the point is uniform on the cap of all points whose product with the document's vector
is at least γ, and else on the rest of the sphere. If a share q of the sphere is in the cap, the
densities of any two documents differ by at most the factor p/(1 − p) · (1 − q)/q, which is e to the
loss. Of all caps, the one with the largest expected product is used.

This is a comparison for research: it uses floating point and an ordinary random generator, so no
release is made with it.
"""

from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv
from sklearn.utils import check_random_state

Floats = NDArray[np.float64]

CAPS = 200
"""Sizes of caps that are compared."""


@dataclass(frozen=True)
class PrivUnit:
    """The mechanism for vectors of length 1 in some dimensions.

    chance_odds : ln(p / (1 − p)), where p is the probability that the point is in the cap.
    share_odds : ln(q / (1 − q)), where q is the share of the sphere that is in the cap.
    """

    dimensions: int
    chance_odds: float
    share_odds: float

    @classmethod
    def with_loss(cls, dimensions: int, loss: float) -> "PrivUnit":
        """Return the mechanism with a loss and the largest expected product with the vector."""
        caps = np.linspace(-loss, 0.0, CAPS).tolist()
        candidates = (cls(dimensions, loss + odds, odds) for odds in caps)
        return max(candidates, key=lambda one: one.expected_product)

    @property
    def chance(self) -> float:
        """p, the probability that the released point is in the cap."""
        return 1 / (1 + exp(-self.chance_odds))

    @property
    def share(self) -> float:
        """q, the share of the sphere that is in the cap."""
        return 1 / (1 + exp(-self.share_odds))

    @property
    def loss(self) -> float:
        """The logarithm of the largest ratio of two densities."""
        return self.chance_odds - self.share_odds

    @property
    def expected_product(self) -> float:
        """The mean of the product of the released point with the vector."""
        levels = (np.arange(512) + 0.5) / 512
        inside, outside = (self._products(levels, np.full(512, one)) for one in (True, False))
        return float(self.chance * inside.mean() + (1 - self.chance) * outside.mean())

    @property
    def edge(self) -> float:
        """γ, the smallest product of a point of the cap with the vector."""
        return float(self._products(np.ones(1), np.ones(1, dtype=bool))[0])

    def _products(self, levels: Floats, inside: NDArray[np.bool_]) -> Floats:
        """Return products with the vector whose rank in the cap, or outside, is at these levels.

        In the cap, level 0 is the largest product. Small shares of the sphere are kept exact by
        counting from the nearer end.
        """
        half = (self.dimensions - 1) / 2
        near = 1 - 2 * betaincinv(half, half, self.share * levels)
        far = 2 * betaincinv(half, half, (1 - self.share) * levels) - 1
        return np.asarray(np.where(inside, near, far))

    def release(self, vectors: NDArray[Any], seed: int) -> Floats:
        """Release a point for each row, whose length does not matter; a row of zeros is uniform."""
        generator = check_random_state(seed)
        count = len(vectors)
        rows = np.asarray(vectors, dtype=np.float64)
        lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
        rows = rows / np.where(lengths > 0, lengths, 1.0)
        level = generator.random_sample(count)
        inside = generator.random_sample(count) < self.chance
        product = self._products(level, inside)
        across = generator.normal(size=rows.shape)
        across -= (across * rows).sum(axis=1, keepdims=True) * rows
        across /= np.sqrt((across * across).sum(axis=1, keepdims=True))
        released = product[:, None] * rows + np.sqrt(1 - product**2)[:, None] * across
        return np.asarray(np.where(lengths > 0, released, across))


def share_above(dimensions: int, edge: float) -> float:
    """Return the share of the sphere whose product with a vector is at least `edge`."""
    half = (dimensions - 1) / 2
    return float(betainc(half, half, (1 - edge) / 2))
