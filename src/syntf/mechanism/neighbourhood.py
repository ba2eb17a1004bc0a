"""The neighbourhood mechanism: an input's k neighbours share most of the probability.

It is the Exponential mechanism for the rating that is 1 for the k outputs nearest to an input and 0
for all others, in integers and without a table of inputs × outputs.

**Rows.** Each of the M outputs weighs b, the *background*. The rest of the total is shared among
the k neighbours; where it does not divide, the first neighbours get one more. In the row of the
last input, the document without a known word, all outputs share the whole total.

**Theorem.** Let R = (b + ⌈(total − M·b) / k⌉) / b. If each row has k distinct neighbours, any two
rows differ by a factor of at most R in any output, whatever the neighbours are: an output weighs at
least b and at most R·b in each row (in the last row too, as b ≤ ⌊total/M⌋ and ⌈total/M⌉ ≤ R·b).
So one draw loses at most ln R, with all inputs adjacent. R falls as b grows, and b is the least
integer with ln R ≤ ε/2. It is never 0, so the loss stays finite for every ε. The reported loss is
measured on this very table (:mod:`syntf.mechanism.base`).

**Why the measured loss is the loss of the program that ran.** The neighbours, V·k integers, are
kept in memory. They are checked when the mechanism is created, the loss is measured on them even if
they come from a cache, and before each draw their hash is compared with that of the measured ones.

``docs/neighbourhood.md`` proves when no mechanism gives the neighbours a higher probability.
"""

import hashlib
import json
from bisect import bisect_left
from fractions import Fraction
from math import expm1
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntf.core import drawing, entropy, parallel
from syntf.core.checks import positive
from syntf.core.errors import SyntfError, TableError
from syntf.core.exact import log_up
from syntf.core.parallel import Progress
from syntf.mechanism.base import check_rows, largest_ratio
from syntf.mechanism.nearest import Neighbours
from syntf.mechanism.reference import Weights

SCHEME = "neighbourhood-int62/1"
"""Names the arithmetic. A change of any integer that it gives must change this name."""

_BLOCK_DRAWS = 1 << 16  # few enough to stay in a processor's cache


class NeighbourhoodMechanism:
    """Draw one of an input's k neighbours, or any output with the same small probability.

    Parameters
    ----------
    neighbours : integers of shape (inputs, k), the neighbours of each input: distinct output
        indices. One more input, the last, is the document without a known word.
    outputs : M, the number of outputs.
    epsilon : the privacy parameter ε of the paper; the loss is at most ε/2.
    rating_digest : the digest of the rating that defines "near". It becomes part of `digest`,
        which thereby covers the words that the indices stand for.
    total_bits : rows sum to ``2**total_bits``. Tests lower it to try every possible draw.

    Attributes
    ----------
    loss, ratio, digest : see :class:`~syntf.mechanism.base.Mechanism`.
    background : b, the weight of an output that is not a neighbour.
    shares : what each neighbour weighs above the background, in every row but the last.

    Guarantee
    ---------
    ``sample`` is `loss`-differentially private with any two inputs adjacent, by the theorem of
    :mod:`syntf.mechanism.base`.

    Examples
    --------
    >>> mechanism = NeighbourhoodMechanism([[0], [1], [2]], outputs=10_000, epsilon=20.0)
    >>> round(mechanism.loss, 9)
    10.0
    >>> round(int(mechanism.weights(1)[1]) / 2**62, 3)  # e^10 / (e^10 + 9999)
    0.688
    >>> mechanism.sample([0, 1, 3]).shape
    (3,)
    """

    scheme = SCHEME
    batch_draws = 1 << 19

    def __init__(
        self,
        neighbours: ArrayLike,
        *,
        outputs: int,
        epsilon: float,
        rating_digest: str = "",
        total_bits: int = 62,
    ) -> None:
        self.epsilon = positive("epsilon", epsilon)
        self.total = 1 << total_bits
        if not (0 < total_bits <= 62 and outputs >= 1 and outputs**2 <= self.total):
            raise SyntfError(f"{outputs} outputs do not fit a total of 2**{total_bits}")
        self._neighbours = _check_neighbours(neighbours, outputs)
        self._hash = _hash(self._neighbours)
        self._rating_digest = rating_digest
        self._bits = total_bits
        inputs, count = self._neighbours.shape
        self.shape = inputs + 1, outputs
        self.background = _background(self.epsilon / 2, self.total, outputs, count)
        self._background_total = outputs * self.background
        self.shares = _split(self.total - self._background_total, count)
        self.ratio = largest_ratio(*self.column_extremes())
        self.loss = log_up(self.ratio)

    @property
    def digest(self) -> str:
        """A hash of everything that determines the rows, and of what was measured on them."""
        parts = [
            SCHEME, self._bits, self.shape, self._neighbours.shape, self.epsilon.hex(),
            self.background, str(self.ratio), self._rating_digest, self._hash,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def weights(self, row: int) -> Weights:
        """Return the integer weights of one input. They sum to the total."""
        inputs, outputs = self.shape
        if not 0 <= row < inputs:
            check_rows([row], inputs)
        if row == inputs - 1:
            return _split(self.total, outputs)
        weights = np.full(outputs, self.background, dtype=np.int64)
        weights[self._neighbours[row]] += self.shares
        return weights

    def sample(
        self,
        rows: ArrayLike,
        *,
        source: entropy.Source = entropy.system,
        progress: Progress | None = None,
    ) -> NDArray[np.int32]:
        """Draw one output index for each input index.

        Draw i uses the i-th eight bytes of the source, whatever the rows are. `progress` is
        called with the number of draws just made.
        """
        inputs = check_rows(rows, self.shape[0])
        if _hash(self._neighbours) != self._hash:
            raise TableError(
                "the neighbours differ from those the loss was measured on; nothing was drawn"
            )
        # The system keeps no state, so each thread may ask it for the bits of its own blocks.
        bits = None if source is entropy.system else entropy.words(source, inputs.size)
        flat, outputs = inputs.astype(np.int32, copy=False).ravel(), np.empty(inputs.size, np.int32)

        def draw_block(block: slice) -> int:
            rows = flat[block]
            own = entropy.words(source, rows.size) if bits is None else bits[block]
            outputs[block] = drawn = self._draw(rows, own)
            return drawn.size

        for done in parallel.in_blocks(draw_block, inputs.size, _BLOCK_DRAWS):
            if progress:
                progress(done)
        return outputs.reshape(inputs.shape)

    def _draw(self, rows: NDArray[np.int32], bits: NDArray[np.uint64]) -> NDArray[np.integer[Any]]:
        """Return the outputs that these bits select, by compiled code if there is some."""
        drawn = drawing.near(
            rows, bits, self._neighbours,
            total_bits=self._bits, background=self.background, outputs=self.shape[1],
        )  # fmt: skip
        if drawn is None:
            return self._outputs_at(rows, (bits >> np.uint64(64 - self._bits)).astype(np.int64))
        return drawn

    def _outputs_at(self, rows: NDArray[np.int32], points: Weights) -> NDArray[np.int64]:
        """Return the outputs at these points, integers below the total: the exact sampler.

        The first M·b points are common to all rows but the last, b for each output in turn. The
        others belong to the neighbours.
        """
        last = self.shape[0] - 1
        outputs = points // self.background
        near = np.flatnonzero((points >= self._background_total) & (rows < last))
        above = points[near] - self._background_total
        places = _part_of(above, self.total - self._background_total, self.shares.size)
        outputs[near] = self._neighbours[rows[near], places]
        empty = np.flatnonzero(rows == last)
        outputs[empty] = _part_of(points[empty], self.total, self.shape[1])
        return outputs

    def column_extremes(self) -> tuple[Weights, Weights]:
        """Return the least and the greatest weight of each output over all rows."""
        low = _split(self.total, self.shape[1])
        high = low.copy()
        for column, share in zip(self._neighbours.T, self.shares, strict=True):
            low[column] = np.minimum(low[column], self.background + share)
            high[column] = np.maximum(high[column], self.background + share)
        near_count = np.bincount(self._neighbours.ravel(), minlength=self.shape[1])
        low[near_count < len(self._neighbours)] = self.background
        return low, high


def _background(loss: float, total: int, outputs: int, count: int) -> int:
    """Return the least b for which ln R of the theorem is at most `loss`."""

    def worst_ratio(background: int) -> Fraction:
        shared = total - outputs * background
        return Fraction(background - (-shared // count), background)

    def suffices(background: int) -> bool:
        return log_up(worst_ratio(background)) <= loss

    most = total // outputs
    guess = int(total / (outputs + count * expm1(min(loss, 700.0))))
    low = high = max(1, min(guess, most))
    step = 1
    while low > 1 and suffices(low):
        low, step = max(1, low - step), 2 * step
    step = 1
    while high < most and not suffices(high):
        high, step = min(most, high + step), 2 * step
    candidates = range(low, high + 1)
    place = bisect_left(candidates, True, key=suffices)
    if place == len(candidates):
        raise SyntfError(f"a loss of {loss:g} per word is below what whole numbers can express")
    return candidates[place]


def _split(total: int, parts: int) -> Weights:
    """Split the total into parts that differ by at most one, the larger ones first."""
    shares = np.full(parts, total // parts, dtype=np.int64)
    shares[: total % parts] += 1
    return shares


def _part_of(points: Weights, total: int, parts: int) -> NDArray[np.int64]:
    """Return the part that each point below `total` belongs to, by the sizes of :func:`_split`.

    First come equal ranges, one for each part; the remaining points go one to each first part.
    """
    size = total // parts
    return np.where(points < size * parts, points // max(1, size), points - size * parts)


def _check_neighbours(neighbours: ArrayLike, outputs: int) -> Neighbours:
    """Return a copy of the neighbours, or raise unless each row has k distinct outputs."""
    table = np.asarray(neighbours)
    if table.ndim != 2 or 0 in table.shape or not np.issubdtype(table.dtype, np.integer):
        raise TableError(
            "neighbours must be integers, inputs × k, at least 1 × 1; "
            f"got {table.dtype} of shape {table.shape}"
        )
    if table.shape[1] > outputs:
        raise TableError(f"{table.shape[1]} distinct neighbours do not fit {outputs} outputs")
    if table.min() < 0 or table.max() >= outputs:
        raise TableError(
            f"neighbours must lie in 0 … {outputs - 1}; got {table.min()} … {table.max()}"
        )
    ordered = np.sort(table, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        raise TableError("an input has the same neighbour twice: its row would exceed the loss")
    return np.array(table, dtype="<i4", order="C")


def _hash(neighbours: Neighbours) -> str:
    return hashlib.sha256(neighbours.data).hexdigest()
