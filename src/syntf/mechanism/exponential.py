"""The Exponential mechanism in integers.

**Why the measured loss is the loss of the program that ran.** There are too many rows to store, so
they are computed again when they are drawn from. Every step gives the same bits on every machine
(``docs/decisions/0001-integer-rows.md``), and this is checked: before a draw, the exact sum of the
row and each of its weights are compared with what was measured. A different sum, or a weight
outside the measured [low, high] of its output, raises :class:`~syntf.core.errors.TableError`. So
any two rows ever drawn from differ by at most ℓ = ln max(high/low), even if a library or a memory
fault changed them.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntf.core import entropy
from syntf.core.checks import positive
from syntf.core.errors import SyntfError, TableError
from syntf.core.exact import GRID, exponential_table, log_up
from syntf.core.parallel import Progress, beside, in_parallel
from syntf.mechanism import kernels
from syntf.mechanism.base import check_rows, largest_ratio
from syntf.mechanism.rating import ArrayRating, Rating
from syntf.mechanism.reference import Levels, Weights

SCHEME = "exponential-int62/1"
"""Names the arithmetic. A change of any integer that it gives must change this name."""

_CHANGED = (
    "a row of the mechanism differs from the one its loss was measured on; nothing was drawn. "
    "Clear the cache with `syntf cache clear` and try again"
)


@dataclass(frozen=True)
class Extremes:
    """Measurements of a table: the sum of each row before scaling, the extremes of each output."""

    sums: Weights
    low: Weights
    high: Weights


class ExponentialMechanism:
    """Draw output w for input v with probability proportional to exp(ε/2 · ρ(v, w)).

    Parameters
    ----------
    ratings : array of shape (inputs, outputs) with values in [0, 1], or a
        :class:`~syntf.mechanism.rating.Rating`.
    epsilon : the privacy parameter ε of the paper (sensitivity 1), finite and above 0.
    total_bits : rows sum to ``2**total_bits``. Tests lower it to try every possible draw.
    extremes : an earlier measurement of the same table. It is not verified, but rows outside of
        it are refused.
    device : a GPU such as ``cuda`` that measures the table instead of this processor.
    progress : called with the number of rows just measured.

    Attributes
    ----------
    loss, ratio, digest : see :class:`~syntf.mechanism.base.Mechanism`.
    extremes : what was measured on the table.

    Guarantee
    ---------
    ``sample`` is `loss`-differentially private with any two inputs adjacent, by the theorem of
    :mod:`syntf.mechanism.base`.

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
    batch_draws = 6 << 20

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
        # 2**weight_bits · outputs ≤ total/2: sums fit, and scaling to the total never shrinks a
        # weight. outputs² ≤ total: the best output can absorb what rounding leaves.
        output_bits = (self.rating.shape[1] - 1).bit_length()
        weight_bits = total_bits - 1 - output_bits
        if not (0 < total_bits <= 62 and weight_bits >= 1 and 2 * output_bits <= total_bits):
            raise SyntfError(
                f"{self.rating.shape[1]} outputs do not fit a total of 2**{total_bits}"
            )
        # A device receives the vectors while the table is computed.
        find_table = beside(
            partial(exponential_table, self.epsilon, weight_bits), quick=device is not None
        )
        if extremes is None and device is not None:
            from syntf.mechanism import gpu

            self.extremes = Extremes(
                *gpu.extremes(self.rating, find_table, self.total, device, progress)
            )
        self._table = find_table()
        if extremes is not None:
            self.extremes = self._check_extremes(extremes)
        elif device is None:
            self.extremes = self._measure(progress)
        self.ratio = largest_ratio(self.extremes.low, self.extremes.high)
        self.loss = log_up(self.ratio)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of inputs and of outputs."""
        return self.rating.shape

    @property
    def digest(self) -> str:
        """A hash of everything that determines the table, and of what was measured on it."""
        digest = hashlib.sha256(table_key(self.rating, self.epsilon, self._bits).encode())
        for array in (self._table, *vars(self.extremes).values()):
            digest.update(array.astype("<i8").tobytes())
        return digest.hexdigest()

    def weights(self, row: int) -> Weights:
        """Return the integer weights of one input. They sum to the total."""
        index = check_rows([row], self.shape[0]).astype(np.intp)
        weights, _ = kernels.weigh(self._levels(index), self._table, self.total)
        return weights.ravel()

    def checked_weights(self, rows: NDArray[np.intp]) -> Weights:
        """Return the integer weights of these inputs, or raise if any differs from the measured."""
        known = self.extremes
        weights, sums = kernels.weigh(self._levels(rows), self._table, self.total)
        outside = (weights < known.low) | (weights > known.high)
        if (sums != known.sums[rows]).any() or outside.any():
            raise TableError(_CHANGED)
        return weights

    def sample(
        self,
        rows: ArrayLike,
        *,
        source: entropy.Source = entropy.system,
        progress: Progress | None = None,
    ) -> NDArray[np.signedinteger[Any]]:
        """Draw one output index for each input index.

        Draw i uses the i-th eight bytes of the source, whatever the rows are and in whatever
        order they are processed. `progress` is called with the number of draws just made.
        """
        if np.size(rows) >= 1 << 31:
            raise SyntfError(f"{np.size(rows)} draws at once are too many: at most 2**31 - 1")
        inputs = check_rows(rows, self.shape[0])
        bits = entropy.words(source, inputs.size)
        flat = np.ascontiguousarray(inputs.ravel(), dtype=np.int32)
        starts, order = kernels.group(flat, self.shape[0])
        distinct = np.flatnonzero(np.diff(starts))
        ends = np.append(starts[distinct], inputs.size)
        outputs = np.empty(inputs.size, dtype=np.int32)

        def draw_block(block: slice) -> None:
            some = distinct[block]
            as_measured = kernels.draw(
                self._levels(some), self._table, self.total,
                self.extremes.sums[some], self.extremes.low, self.extremes.high,
                ends[block.start : block.stop + 1], order, bits, outputs,
            )  # fmt: skip
            if not as_measured:
                raise TableError(_CHANGED)

        in_parallel(draw_block, len(distinct), self.shape[1], progress, ends)
        return outputs.reshape(inputs.shape)

    def _check_extremes(self, extremes: Extremes) -> Extremes:
        """Return extremes from outside in the form that the compiled loops rely on."""
        rows, columns = self.shape
        arrays = [np.array(array, dtype=np.int64) for array in vars(extremes).values()]
        if [array.shape for array in arrays] != [(rows,), (columns,), (columns,)]:
            raise TableError("these extremes were measured on a table of another shape")
        # Weights lie in 1 … total: clipping keeps every comparison, and then differences fit.
        sums, low, high = arrays
        return Extremes(sums, np.clip(low, 0, self.total + 1), np.clip(high, 0, self.total + 1))

    def _levels(self, rows: NDArray[np.intp]) -> Levels:
        """Return the rating's levels in the form that the compiled loops rely on."""
        levels = self.rating.levels(rows)
        if levels.dtype != np.uint16 or levels.shape != (len(rows), self.shape[1]):
            raise TableError(
                "a rating must give uint16 levels, one row for each input; "
                f"got {levels.dtype} of shape {levels.shape}"
            )
        return np.ascontiguousarray(levels)

    def _measure(self, progress: Progress | None) -> Extremes:
        inputs, outputs = self.shape
        sums = np.empty(inputs, dtype=np.int64)
        bounds: list[tuple[Weights, Weights]] = []

        def measure_block(block: slice) -> None:
            # list.pop and list.append are atomic: each worker borrows a pair of bounds.
            try:
                low, high = bounds.pop()
            except IndexError:
                low = np.full(outputs, self.total, dtype=np.int64)
                high = np.zeros(outputs, dtype=np.int64)
            levels = self._levels(np.arange(block.start, block.stop))
            sums[block] = kernels.widen(levels, self._table, self.total, low, high)
            bounds.append((low, high))

        in_parallel(measure_block, inputs, outputs, progress)
        lows, highs = zip(*bounds, strict=True)
        return Extremes(sums, np.min(lows, axis=0), np.max(highs, axis=0))


def table_key(rating: Rating, epsilon: float, total_bits: int = 62) -> str:
    """Return a hash of everything that determines a table, known before it is measured."""
    parts = [SCHEME, GRID, total_bits, float(epsilon).hex(), rating.shape, rating.digest]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
