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
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntf.core import cache, entropy
from syntf.core.checks import positive
from syntf.core.errors import SyntfError, TableError
from syntf.core.exact import GRID, exponential_table, log_up
from syntf.core.parallel import in_blocks
from syntf.core.progress import stage
from syntf.mechanism.base import Weights, check_rows, largest_ratio
from syntf.mechanism.rating import BLOCK, ArrayRating, Levels, Rating

SCHEME = "exponential-int62/1"
"""Names the arithmetic. A change of any integer that it gives must change this name."""

MOST_DRAWS = 1 << 23
"""Draws made at once: enough to repay computing the rows, few enough for memory."""


class Extremes(NamedTuple):
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

    def __init__(
        self,
        ratings: ArrayLike | Rating,
        *,
        epsilon: float,
        total_bits: int = 62,
        extremes: Extremes | None = None,
    ) -> None:
        self.epsilon = positive("epsilon", epsilon)
        self.rating: Rating = ratings if hasattr(ratings, "levels") else ArrayRating(ratings)  # type: ignore[assignment]
        self.total = 1 << total_bits
        self._bits = total_bits
        outputs = self.shape[1]
        # 2**weight_bits · outputs ≤ total/2: sums fit, and scaling to the total never shrinks a
        # weight. outputs² ≤ total: the best output can absorb what rounding leaves.
        output_bits = (outputs - 1).bit_length()
        weight_bits = total_bits - 1 - output_bits
        if not (0 < total_bits <= 62 and weight_bits >= 1 and 2 * output_bits <= total_bits):
            raise SyntfError(f"{outputs} outputs do not fit a total of 2**{total_bits}")
        self._table = exponential_table(self.epsilon, weight_bits)
        self._block = max(1, BLOCK // outputs)
        self.extremes = self._measure() if extremes is None else extremes
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
        for array in (self._table, *self.extremes):
            digest.update(array.astype("<i8").tobytes())
        return digest.hexdigest()

    def weights(self, row: int) -> Weights:
        """Return the integer weights of one input. They sum to the total."""
        weights, _ = self._weigh(check_rows([row], self.shape[0]))
        return weights.ravel()

    def sample(
        self, rows: ArrayLike, *, source: entropy.Source = entropy.system
    ) -> NDArray[np.int32]:
        """Draw one output index for each input index.

        Draw i uses the i-th eight bytes of the source, whatever the rows are and in whatever
        order they are processed.
        """
        inputs = check_rows(rows, self.shape[0])
        flat = inputs.ravel()
        drawn = np.empty(flat.size, dtype=np.int32)
        with stage("drawing", flat.size) as advance:
            for start in range(0, flat.size, MOST_DRAWS):
                part = slice(start, start + MOST_DRAWS)
                points = entropy.integers(source, flat[part].size, self._bits)
                drawn[part] = self._outputs_at(flat[part], points, advance)
        return drawn.reshape(inputs.shape)

    def _outputs_at(
        self, rows: NDArray[np.intp], points: Weights, advance: Callable[[int], None]
    ) -> NDArray[np.int32]:
        """Return the output at a point, an integer below the total, of each row: exact sampling.

        Output w is at exactly ``weight[w]`` of all points. Each distinct row is computed once.
        """
        order = np.argsort(rows)
        rows, points = rows[order], points[order]
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        distinct, stops = rows[starts], np.append(starts[1:], len(rows))
        found = np.empty(len(rows), dtype=np.int32)

        def draw_block(block: slice) -> int:
            upto = np.cumsum(self._checked_weights(distinct[block]), axis=1)
            for row, start, stop in zip(upto, starts[block], stops[block], strict=True):
                found[start:stop] = row.searchsorted(points[start:stop], side="right")
            return int(stops[block][-1] - starts[block][0])

        for draws in in_blocks(draw_block, len(distinct), self._block):
            advance(draws)
        outputs = np.empty_like(found)
        outputs[order] = found
        return outputs

    def _checked_weights(self, rows: NDArray[np.intp]) -> Weights:
        """Return the integer weights of these inputs, or raise if any differs from the measured."""
        weights, sums = self._weigh(rows)
        known = self.extremes
        outside = (weights < known.low).any() or (weights > known.high).any()
        if outside or (sums != known.sums[rows]).any():
            raise TableError(
                "a row of the mechanism differs from the one its loss was measured on; nothing "
                f"was drawn. Delete the cache folder {cache.folder()} and try again"
            )
        return weights

    def _measure(self) -> Extremes:
        def measure_block(block: slice) -> tuple[Weights, Weights, Weights]:
            weights, sums = self._weigh(np.arange(block.start, block.stop))
            return sums, weights.min(axis=0), weights.max(axis=0)

        inputs, outputs = self.shape
        low, high = np.full(outputs, self.total), np.zeros(outputs, dtype=np.int64)
        every_sum = []
        with stage("measuring the loss", inputs) as advance:
            for sums, least, greatest in in_blocks(measure_block, inputs, self._block):
                every_sum.append(sums)
                np.minimum(low, least, out=low)
                np.maximum(high, greatest, out=high)
                advance(len(sums))
        return Extremes(np.concatenate(every_sum), low, high)

    def _weigh(self, rows: NDArray[np.intp]) -> tuple[Weights, Weights]:
        return weigh(self.rating.levels(rows), self._table, self.total)


def weigh(levels: Levels, table: Weights, total: int) -> tuple[Weights, Weights]:
    """Return rows of integer weights that sum to `total`, and the rows' sums before scaling.

    ``table[GRID - d]`` is the weight of an output d levels below the row's best. Each weight is
    that times total/sum, rounded. As total/sum is at least 2, a weight is never below the table's,
    hence never 0. The rounding difference (at most 2**-51 of the total and half a unit for each
    column) is added to the row's first best output, which holds at least total/outputs.

    The only floating-point steps are one division, single products and conversions, whose results
    IEEE 754 fixes; no sum of floats is ever rounded.
    """
    best = levels.argmax(axis=1)
    rows = np.arange(len(levels))
    unscaled = table.take(levels + (GRID - levels[rows, best])[:, None])
    sums = unscaled.sum(axis=1)
    scaled = unscaled * (float(total) / sums.astype(np.float64))[:, None]
    weights = np.rint(scaled, out=scaled).astype(np.int64)
    weights[rows, best] += total - weights.sum(axis=1)
    return weights, sums


def cached_exponential(rating: Rating, epsilon: float) -> ExponentialMechanism:
    """Build the Exponential mechanism of a rating, with its extremes from the cache if possible.

    Use :class:`ExponentialMechanism` for a vocabulary that was fitted on private texts: nothing of
    it may be kept.

    Guarantee
    ---------
    A forged cache can make draws fail, but a row outside the stated loss is never drawn from.
    """
    path = cache.folder() / f"{table_key(rating, epsilon)}.table"
    rows, columns = rating.shape
    raw = cache.read(path, 8 * (rows + 2 * columns))
    if raw is not None:
        values = np.frombuffer(raw, dtype="<i8").astype(np.int64)
        known = Extremes(*np.split(values, [rows, rows + columns]))
        return ExponentialMechanism(rating, epsilon=epsilon, extremes=known)
    mechanism = ExponentialMechanism(rating, epsilon=epsilon)
    cache.store(path, np.concatenate(mechanism.extremes).astype("<i8").tobytes())
    return mechanism


def table_key(rating: Rating, epsilon: float, total_bits: int = 62) -> str:
    """Return a hash of everything that determines a table, known before it is measured."""
    parts = [SCHEME, GRID, total_bits, float(epsilon).hex(), rating.shape, rating.digest]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
