"""The neighbourhood mechanism: k near outputs share most of the chance, all others are alike.

It is the Exponential mechanism for the rating that is 1 for the k outputs nearest to an
input and 0 for all others, in integers and without a table of inputs × outputs.

**Rows.** Each of the M outputs weighs b, the *background*; what is left of the total is
shared among the k neighbours. Where it does not divide, the first ones get one more. The
last input, the document without a known word, has the whole total shared among all outputs.

**Theorem.** Let R = (b + ⌈(total − M·b) / k⌉) / b. Whatever the neighbours are, as long as
a row has k distinct ones, any two rows differ by a factor of at most R in any output: an
output weighs at least b, and at most R·b, in each (in the last row too, as
b ≤ ⌊total/M⌋ and ⌈total/M⌉ ≤ R·b). So one draw loses at most ln R, all inputs adjacent.
R falls as b grows; b is the least integer with ln R ≤ ε/2. It is never 0, so an ε that asks
for more than the total can express gets the most there is. What is reported is measured, as
in :mod:`syntf.mechanism.exponential`: the largest ratio in any column of this very table.

**Why it is the loss of the program that ran.** The neighbours, V·k integers, are kept. They
are checked when they are given, the loss is measured on them whether they come from a cache
or not, and before a draw their hash is compared with that of what was measured.

``docs/neighbourhood.md`` proves when no mechanism gives the neighbours a better chance.
"""

import hashlib
import json
from bisect import bisect_left
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntf.core import drawing, entropy
from syntf.core.checks import positive
from syntf.core.errors import SyntfError, TableError
from syntf.core.exact import log_up
from syntf.core.parallel import Progress
from syntf.mechanism.exponential import inside, largest_ratio, row_indices
from syntf.mechanism.nearest import Neighbours
from syntf.mechanism.reference import Weights

SCHEME = "neighbourhood-int62/1"
"""Names the arithmetic: a change in any integer it gives must change this name."""

STEP = 1 << 16  # draws made at once: few enough to stay in a processor's cache


class NeighbourhoodMechanism:
    """Draws one of an input's k neighbours, or any output, all outputs alike.

    Parameters
    ----------
    neighbours : integers of shape (inputs, k), the neighbours of each input: distinct output
        indices. One more input, the last, is the document without a known word.
    outputs : M, the number of outputs.
    epsilon : the privacy parameter ε of the paper; the loss is at most half of it.
    rating_digest : of the rating that the neighbours are the nearest by. It becomes part of
        `digest`, and with it the words that the indices stand for.
    total_bits : rows sum to ``2**total_bits``. Tests lower it to try every draw there is.

    Attributes
    ----------
    loss : the tight privacy loss of one draw, natural logarithm, rounded up.
    ratio : the exact fraction it is the logarithm of.
    background : b, the weight of an output that is no neighbour.
    digest : a hash that ties a guarantee to this table.

    Guarantee
    ---------
    ``sample`` is `loss`-differentially private with any two inputs adjacent. The only
    randomness is that of `source`; the number of bytes read depends on the number of
    draws alone.

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
    at_once = 1 << 19

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
        self._neighbours = _checked(neighbours, outputs)
        self._hash = _hash(self._neighbours)
        self._rating_digest = rating_digest
        self._bits = total_bits
        inputs, count = self._neighbours.shape
        self.shape = inputs + 1, outputs
        self.background = _background(self.epsilon / 2, self.total, outputs, count)
        self._common = outputs * self.background
        self._shares = _shares(self.total - self._common, count)
        self.ratio = largest_ratio(*self._extremes())
        self.loss = log_up(self.ratio)

    @property
    def digest(self) -> str:
        """A hash of all that decides the rows, and of what was measured on them."""
        parts = [
            SCHEME, self._bits, self.shape, self._neighbours.shape, self.epsilon.hex(),
            self.background, str(self.ratio), self._rating_digest, self._hash,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def shares(self) -> Weights:
        """What each neighbour weighs above the background, in every row but the last."""
        return self._shares

    def weights(self, row: int) -> Weights:
        """The integer weights of one input; they sum to the total."""
        (index,) = row_indices(np.array([row]), self.shape[0])
        inputs, outputs = self.shape
        if index == inputs - 1:
            return _shares(self.total, outputs)
        weights = np.full(outputs, self.background, dtype=np.int64)
        weights[self._neighbours[index]] += self._shares
        return weights

    def sample(
        self,
        rows: ArrayLike,
        *,
        source: entropy.Source = entropy.system,
        progress: Progress | None = None,
    ) -> NDArray[np.int32]:
        """One output index for each input index.

        Draw i takes the i-th eight bytes of the source, whatever the rows are. `progress`
        hears of draws done.
        """
        inputs = inside(np.asarray(rows), self.shape[0])
        if _hash(self._neighbours) != self._hash:
            raise TableError(
                "the neighbours differ from those the loss was measured on; nothing was drawn"
            )
        bits = entropy.words(source, inputs.size)
        flat, outputs = inputs.astype(np.int32, copy=False).ravel(), np.empty(inputs.size, np.int32)

        def work(block: slice) -> int:
            outputs[block] = drawn = self._drawn(flat[block], bits[block])
            return drawn.size

        for done in drawing.in_blocks(work, inputs.size, STEP):
            if progress:
                progress(done)
        return outputs.reshape(inputs.shape)

    def _drawn(self, rows: NDArray[np.int32], bits: NDArray[np.uint64]) -> NDArray[np.integer[Any]]:
        """The outputs that these bits draw, compiled or not."""
        drawn = drawing.near(
            rows, bits, self._neighbours,
            total_bits=self._bits, background=self.background, outputs=self.shape[1],
        )  # fmt: skip
        if drawn is None:
            return self._at(rows, (bits >> np.uint64(64 - self._bits)).astype(np.int64))
        return drawn

    def _at(self, rows: NDArray[np.int32], points: Weights) -> NDArray[np.int64]:
        """The outputs at these points, integers below the total: the exact sampler.

        Of the points, M·b are common to all rows but the last, b for each output in turn;
        the others are the neighbours'.
        """
        last = self.shape[0] - 1
        outputs = points // self.background
        near = np.flatnonzero((points >= self._common) & (rows < last))
        places = _part(points[near] - self._common, self.total - self._common, self._shares.size)
        outputs[near] = self._neighbours[rows[near], places]
        empty = np.flatnonzero(rows == last)
        outputs[empty] = _part(points[empty], self.total, self.shape[1])
        return outputs

    def _extremes(self) -> tuple[Weights, Weights]:
        """The least and the greatest weight of each output over all rows."""
        low = _shares(self.total, self.shape[1])
        high = low.copy()
        for column, share in zip(self._neighbours.T, self._shares, strict=True):
            low[column] = np.minimum(low[column], self.background + share)
            high[column] = np.maximum(high[column], self.background + share)
        near = np.bincount(self._neighbours.ravel(), minlength=self.shape[1])
        low[near < len(self._neighbours)] = self.background
        return low, high


def _background(loss: float, total: int, outputs: int, count: int) -> int:
    """The least b for which no table of this form loses more than `loss`."""

    def worst(background: int) -> Fraction:
        shared = total - outputs * background
        return Fraction(background - (-shared // count), background)

    within = range(1, total // outputs + 1)
    place = bisect_left(within, True, key=lambda background: log_up(worst(background)) <= loss)
    if place == len(within):
        raise SyntfError(f"a loss of {loss:g} per word is below what whole numbers can express")
    return within[place]


def _shares(total: int, parts: int) -> Weights:
    """The total in parts as equal as integers can be, the larger ones first."""
    shares = np.full(parts, total // parts, dtype=np.int64)
    shares[: total % parts] += 1
    return shares


def _part(points: Weights, total: int, parts: int) -> NDArray[np.int64]:
    """For integers below `total`, the part each belongs to; a part has as many as its share.

    Equal ranges one after the other, then what they leave, one integer a part.
    """
    size = total // parts
    return np.where(points < size * parts, points // max(1, size), points - size * parts)


def _checked(neighbours: ArrayLike, outputs: int) -> Neighbours:
    """A copy of the neighbours, refused unless each row is k distinct outputs."""
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
