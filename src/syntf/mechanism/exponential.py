"""The Exponential mechanism in integers: rows, the loss measured on them, an exact sampler.

**Theorem.** Let every input v have a row of integer weights W[v, ·] ≥ 1 with one common
total, and draw w with probability W[v, w] / total. For any two inputs and any output,
the ratio of its probabilities is at most ``max_w (max_v W[v, w] / min_v W[v, w])``; call
its logarithm ℓ. Then one draw is ℓ-differentially private with all inputs adjacent,
because the common total cancels; and ℓ is attained, by the rows that hold the extremes.
Nothing is assumed of how the weights came about: rounding, clipping and floating-point
error while *building* rows change the rows, and ℓ is measured on what they became.

**Why it is the loss of the program that ran.** Rows are too many to keep, so they are
computed again when they are drawn from. They come out the same because every step gives the
same bits everywhere (``docs/decisions/0001-integer-rows.md``), and it is checked: before a
draw, the row's exact sum and every one of its weights are compared with what was measured.
A sum that differs, or a weight outside the measured [low, high] of its column, raises
:class:`~syntf.core.errors.TableError`. So any two rows ever drawn from differ by at most
ℓ = ln max(high/low), whatever a library or a memory fault did to them.
"""

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntf.core import entropy
from syntf.core.checks import positive
from syntf.core.errors import SyntfError, TableError
from syntf.core.exact import GRID, exponential_table, log_up
from syntf.core.parallel import Progress, in_parallel
from syntf.mechanism import kernels
from syntf.mechanism.rating import ArrayRating, Rating
from syntf.mechanism.reference import Levels, Weights

SCHEME = "exponential-int62/1"
"""Names the arithmetic: a change in any integer it gives must change this name."""


class Mechanism(Protocol):
    """What the rest of the program needs of a mechanism: integer rows, their loss, draws."""

    scheme: str
    """Names the arithmetic behind the integers."""
    total: int
    """What each row sums to."""
    at_once: int
    """Of many draws, how many are best made in one call: enough to be worth going through a
    table, few enough for memory."""
    epsilon: float
    loss: float
    ratio: Fraction

    @property
    def shape(self) -> tuple[int, int]:
        """Number of inputs, the empty document among them, and of outputs."""

    @property
    def digest(self) -> str:
        """A hash of everything the rows depend on."""

    def weights(self, row: int) -> Weights:
        """The integer weights of one input; they sum to the total."""

    def sample(
        self,
        rows: ArrayLike,
        *,
        source: entropy.Source = entropy.system,
        progress: Progress | None = None,
    ) -> NDArray[np.signedinteger[Any]]:
        """One output index for each input index."""


@dataclass(frozen=True)
class Extremes:
    """What was measured of a table: each row's sum before scaling, each column's extremes."""

    sums: Weights
    low: Weights
    high: Weights


class ExponentialMechanism:
    """Draws outputs w with probability proportional to exp(ε/2 · ρ(v, w)).

    Parameters
    ----------
    ratings : array of shape (inputs, outputs) with values in [0, 1], or a
        :class:`~syntf.mechanism.rating.Rating`.
    epsilon : the privacy parameter ε of the paper (sensitivity 1), finite and above 0.
    total_bits : rows sum to ``2**total_bits``. Tests lower it to try every draw there is.
    extremes : a measurement made earlier of the same table, taken on trust. Whatever it
        says, no row outside it is drawn from.
    device : what measures it in place of this processor, as PyTorch calls it: ``cuda``.
    progress : called with the number of rows measured, as they are.

    Attributes
    ----------
    loss : the tight privacy loss of one draw, natural logarithm, rounded up.
    ratio : the exact fraction it is the logarithm of.
    digest : a hash that ties a guarantee to this table.

    Guarantee
    ---------
    ``sample`` is `loss`-differentially private with any two inputs adjacent. The only
    randomness is that of `source`; the number of bytes read depends on the number of
    draws alone.

    Examples
    --------
    >>> mechanism = ExponentialMechanism([[1.0, 0.0], [0.0, 1.0]], epsilon=2.0)
    >>> round(mechanism.loss, 6)
    1.0
    >>> int(mechanism.weights(0).sum()) == 2**62
    True
    >>> mechanism.sample([0, 1, 1]).shape
    (3,)
    """

    scheme = SCHEME
    at_once = 6 << 20

    def __init__(
        self,
        ratings: ArrayLike | Rating,
        *,
        epsilon: float,
        total_bits: int = 62,
        extremes: Extremes | None = None,
        device: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.epsilon = positive("epsilon", epsilon)
        self.rating: Rating = ratings if hasattr(ratings, "levels") else ArrayRating(ratings)  # type: ignore[assignment]
        self.total = 1 << total_bits
        self._bits = total_bits
        # 2**bits · outputs ≤ total/2: sums fit, and scaling to the total never shrinks a weight.
        # outputs² ≤ total: the best output can settle what rounding leaves.
        size = (self.rating.shape[1] - 1).bit_length()
        bits = total_bits - 1 - size
        if not (0 < total_bits <= 62 and bits >= 1 and 2 * size <= total_bits):
            raise SyntfError(
                f"{self.rating.shape[1]} outputs do not fit a total of 2**{total_bits}"
            )
        self._table = exponential_table(self.epsilon, bits)
        if extremes is None and device is not None:
            from syntf.mechanism import gpu

            extremes = Extremes(
                *gpu.extremes(self.rating, self._table, self.total, device, progress)
            )
        self.extremes = self._measure(progress) if extremes is None else self._known(extremes)
        self.ratio = largest_ratio(self.extremes.low, self.extremes.high)
        self.loss = log_up(self.ratio)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of inputs and of outputs."""
        return self.rating.shape

    @property
    def key(self) -> str:
        """A hash of all the table is made from, known before it is measured."""
        return table_key(self.rating, self.epsilon, self._bits)

    @property
    def digest(self) -> str:
        """A hash of all the table is made from and of what was measured on it."""
        digest = hashlib.sha256(self.key.encode())
        for array in (self._table, *vars(self.extremes).values()):
            digest.update(array.astype("<i8").tobytes())
        return digest.hexdigest()

    def weights(self, row: int) -> Weights:
        """The integer weights of one input; they sum to the total."""
        index = row_indices(np.array([row]), self.shape[0])
        weights, _ = kernels.weigh(self._levels(index), self._table, self.total)
        return weights.ravel()

    def measured(self, rows: NDArray[np.intp]) -> Weights:
        """The integer weights of these inputs, refused unless they are the ones measured."""
        known = self.extremes
        weights, sums = kernels.weigh(self._levels(rows), self._table, self.total)
        outside = (weights < known.low) | (weights > known.high)
        if (sums != known.sums[rows]).any() or outside.any():
            raise TableError(
                "a row of the mechanism differs from the one its loss was measured on "
                "(clear the cache with `syntf cache clear` and try again)"
            )
        return weights

    def sample(
        self,
        rows: ArrayLike,
        *,
        source: entropy.Source = entropy.system,
        progress: Progress | None = None,
    ) -> NDArray[np.signedinteger[Any]]:
        """One output index for each input index.

        Draw i takes the i-th eight bytes of the source, whatever the rows are and in
        whatever order they are worked through. `progress` hears of draws done.
        """
        if np.size(rows) >= 1 << 31:
            raise SyntfError(f"{np.size(rows)} draws at once are too many: at most 2**31 - 1")
        inputs = inside(np.asarray(rows), self.shape[0])
        words = entropy.words(source, inputs.size)
        flat = np.ascontiguousarray(inputs.ravel(), dtype=np.int32)
        starts, order = kernels.group(flat, self.shape[0])
        distinct = np.flatnonzero(np.diff(starts))
        upto = np.append(starts[distinct], inputs.size)
        outputs = np.empty(inputs.size, dtype=np.int32)

        def work(block: slice) -> None:
            some = distinct[block]
            sound = kernels.draw(
                self._levels(some), self._table, self.total,
                self.extremes.sums[some], self.extremes.low, self.extremes.high,
                upto[block.start : block.stop + 1], order, words, outputs,
            )  # fmt: skip
            if not sound:
                raise TableError(
                    "a row of the mechanism differs from the one its loss was measured on; "
                    "nothing was drawn (clear the cache with `syntf cache clear` and try again)"
                )

        in_parallel(work, len(distinct), self.shape[1], progress, upto)
        return outputs.reshape(inputs.shape)

    def _known(self, extremes: Extremes) -> Extremes:
        """Extremes given from outside, in the form the loops rely on."""
        rows, columns = self.shape
        arrays = [np.array(array, dtype=np.int64) for array in vars(extremes).values()]
        if [array.shape for array in arrays] != [(rows,), (columns,), (columns,)]:
            raise TableError("these extremes were measured on a table of another shape")
        # Weights lie in 1 … total: bounds beyond say no more, and differences from these fit.
        sums, low, high = arrays
        return Extremes(sums, np.clip(low, 0, self.total + 1), np.clip(high, 0, self.total + 1))

    def _levels(self, rows: NDArray[np.intp]) -> Levels:
        """The rating's levels, in the form the loops rely on."""
        levels = self.rating.levels(rows)
        if levels.dtype != np.uint16 or levels.shape != (len(rows), self.shape[1]):
            raise TableError(
                f"a rating must give uint16 levels, one row an input; got {levels.dtype} of shape "
                f"{levels.shape}"
            )
        return np.ascontiguousarray(levels)

    def _measure(self, progress: Progress | None) -> Extremes:
        inputs, outputs = self.shape
        sums = np.empty(inputs, dtype=np.int64)
        found: list[tuple[Weights, Weights]] = []

        def work(block: slice) -> None:
            # list.pop and list.append are atomic: each worker borrows a pair of bounds.
            try:
                low, high = found.pop()
            except IndexError:
                low = np.full(outputs, self.total, dtype=np.int64)
                high = np.zeros(outputs, dtype=np.int64)
            levels = self._levels(np.arange(block.start, block.stop))
            sums[block] = kernels.widen(levels, self._table, self.total, low, high)
            found.append((low, high))

        in_parallel(work, inputs, outputs, progress)
        lows, highs = zip(*found, strict=True)
        return Extremes(sums, np.min(lows, axis=0), np.max(highs, axis=0))


def table_key(rating: Rating, epsilon: float, total_bits: int = 62) -> str:
    """The key under which a table's extremes may be remembered."""
    parts = [SCHEME, GRID, total_bits, float(epsilon).hex(), rating.shape, rating.digest]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def row_indices(rows: NDArray[Any], inputs: int) -> NDArray[np.intp]:
    """Rows to draw from, refused unless each is an index of one of the `inputs`."""
    return inside(rows, inputs).astype(np.intp)


def inside(rows: NDArray[Any], inputs: int) -> NDArray[Any]:
    """The rows as they are, refused alike."""
    if rows.size and not np.issubdtype(rows.dtype, np.integer):
        raise SyntfError(f"rows must be integers, not {rows.dtype}")
    if rows.size and not (rows.min() >= 0 and rows.max() < inputs):
        raise SyntfError(f"rows must lie in 0 … {inputs - 1}; got {rows.min()} … {rows.max()}")
    return rows


def largest_ratio(low: Weights, high: Weights) -> Fraction:
    """max over columns of high/low, compared as exact fractions."""
    if low.min() < 1:
        raise TableError("a weight below 1 was measured: an output would be impossible")
    about = high / low  # two conversions and a division: right to within 2**-51
    top, bottom = 1, 1
    for column in np.flatnonzero(about >= about.max() * (1 - 2.0**-48)).tolist():
        most, least = int(high[column]), int(low[column])
        if most * bottom > top * least:
            top, bottom = most, least
    return Fraction(top, bottom)
