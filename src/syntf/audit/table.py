"""Check the table: every weight is at least 1, every row has the same sum, the loss is right."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from syntf.audit.result import CheckResult
from syntf.core.exact import GRID, shown, shown_ratio
from syntf.core.parallel import Progress
from syntf.core.progress import Stages
from syntf.mechanism.base import Mechanism
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.reference import Weights

MAX_ENTRIES = 1 << 25
"""Larger graded tables are searched for their extreme rows; smaller ones are read in full."""
SAMPLE = 2_000
"""Number of rows in a sample."""
TOP_OUTPUTS = 20
"""Number of outputs with the largest ratios whose extreme rows are computed exactly."""
ESTIMATE = Fraction(9999, 10000)
"""A ratio found from an estimate may be smaller than the largest one by this factor."""
STEP = 256  # rows held at once


@dataclass(frozen=True)
class Measured:
    """The largest ratio that was measured, and the two rows and the output that have it."""

    rows: Sequence[int]
    complete: bool
    """Whether no other row can have a larger ratio."""
    ratio: Fraction | None
    """None if a weight is not positive: then the loss is infinite."""
    high: int
    low: int
    output: int


def check_table(
    mechanism: Mechanism, *, quick: bool, stages: Stages
) -> tuple[CheckResult, Measured]:
    """Measure the loss of the table again, and compare it with the reported one."""
    inputs, outputs = mechanism.shape
    result = CheckResult(
        "table",
        "The weights of all rows as whole numbers: sums, the smallest weight, and the largest "
        "ratio in any output, computed again and compared with the reported one.",
        "a zero probability, a row with another sum, a loss that was computed for another table or "
        "another ε, or was damaged in the cache",
    )
    rows, complete = _rows(mechanism, quick, stages)
    low = np.full(outputs, np.iinfo(np.int64).max)
    high = np.full(outputs, np.iinfo(np.int64).min)
    low_at, high_at = np.zeros((2, outputs), dtype=np.intp)
    wrong_sums = small_weights = 0
    with stages("computing rows", len(rows)) as advance:
        for start in range(0, len(rows), STEP):
            block = np.array([mechanism.weights(row) for row in rows[start : start + STEP]])
            wrong_sums += int((~_has_sum(block, mechanism.total)).sum())
            least, most = block.min(axis=0), block.max(axis=0)
            small_weights += int((block < 1).sum())
            low_at[least < low], high_at[most > high] = start, start
            np.minimum(low, least, out=low)
            np.maximum(high, most, out=high)
            advance(len(block))
    output, ratio = _largest(low, high)

    def row_with(start: int, value: int) -> int:
        return next(row for row in rows[start:] if mechanism.weights(row)[output] == value)

    measured = Measured(
        rows,
        complete,
        ratio,
        high=row_with(int(high_at[output]), int(high[output])),
        low=row_with(int(low_at[output]), int(low[output])),
        output=output,
    )
    examined = f"{len(rows):,} of {inputs:,}" if len(rows) < inputs else f"all {inputs:,}"
    result.results.append(f"{examined} rows × {outputs:,} outputs, total 2**{_bits(mechanism)}")
    result.require(wrong_sums == 0, f"{wrong_sums:,} rows do not sum to the total")
    result.require(
        small_weights == 0, f"{small_weights:,} weights are below 1: these outputs are impossible"
    )
    if ratio is None:
        return result, measured
    result.results.append(
        f"largest ratio found {shown_ratio(ratio)}, reported {shown_ratio(mechanism.ratio)}, "
        f"loss {shown(mechanism.loss, 4)}"
    )
    if len(rows) < inputs:
        result.results.append(
            "these rows have the extremes: an estimate of all other rows found none near them"
            if complete
            else "a sample of rows, so the ratio found may be smaller than the reported one"
        )
    result.require(
        ratio <= mechanism.ratio, f"rows differ by {shown_ratio(ratio)}, more than reported"
    )
    least_ratio = mechanism.ratio * (1 if len(rows) == inputs else ESTIMATE)
    result.require(not complete or ratio >= least_ratio, "no two rows differ by the reported ratio")
    return result, measured


def _bits(mechanism: Mechanism) -> int:
    return mechanism.total.bit_length() - 1


def _rows(mechanism: Mechanism, quick: bool, stages: Stages) -> tuple[Sequence[int], bool]:
    """Choose the rows to compute; return also whether they contain the largest ratio for sure."""
    inputs, outputs = mechanism.shape
    if inputs <= SAMPLE:
        return range(inputs), True
    step = -(-inputs // SAMPLE)
    some = [*range(0, inputs - 1, step), inputs - 1]  # the last row is that of the empty document
    if quick:
        return some, False
    if isinstance(mechanism, ExponentialMechanism) and inputs * outputs > MAX_ENTRIES:
        with stages("result extremes", inputs) as advance:
            return sorted({*some, *_extreme_rows(mechanism, advance)}), True
    return range(inputs), True


def _extreme_rows(mechanism: ExponentialMechanism, advance: Progress) -> set[int]:
    """Find the rows that may have the largest ratio, from a floating-point estimate of all rows.

    The estimate uses the definition, weight ∝ max(1, 2**bits · exp(−ε/2 · levels below the
    best)), and the levels of the rating only.
    """
    inputs, outputs = mechanism.shape
    below = np.arange(GRID, -1, -1) / GRID
    bits = _bits(mechanism) - 1 - (outputs - 1).bit_length()
    unscaled = np.maximum(1.0, np.rint(2.0**bits * np.exp(-mechanism.epsilon / 2 * below)))
    step = max(1, (1 << 20) // outputs)

    def estimate(start: int) -> NDArray[np.float64]:
        levels = mechanism.rating.levels(np.arange(start, min(start + step, inputs)))
        found: NDArray[np.float64] = unscaled[levels + (GRID - levels.max(axis=1, keepdims=True))]
        found *= mechanism.total / found.sum(axis=1, keepdims=True)
        return np.rint(found, out=found)

    low, high = np.full(outputs, np.inf), np.zeros(outputs)
    low_at, high_at = np.zeros((2, outputs), dtype=np.intp)
    for start in range(0, inputs, step):
        found = estimate(start)
        least, most = found.min(axis=0), found.max(axis=0)
        low_at[least < low], high_at[most > high] = start, start
        np.minimum(low, least, out=low)
        np.maximum(high, most, out=high)
        advance(len(found))
    rows = set()
    for output in np.argsort(-high / low)[:TOP_OUTPUTS]:
        rows.add(int(low_at[output] + estimate(low_at[output])[:, output].argmin()))
        rows.add(int(high_at[output] + estimate(high_at[output])[:, output].argmax()))
    return rows


def _has_sum(block: Weights, total: int) -> NDArray[np.bool_]:
    """Return which rows sum to the total: exactly modulo 2**64, and about in size."""
    near = np.abs(block.sum(axis=1, dtype=np.float64) / total - 1) < 0.01
    return np.asarray((block.sum(axis=1) == total) & near)


def _largest(low: Weights, high: Weights) -> tuple[int, Fraction | None]:
    """Return the output with the largest ratio, and the ratio; None if it is infinite."""
    if low.min() < 1:
        return int(low.argmin()), None
    ratios = (
        Fraction(most, least) for most, least in zip(high.tolist(), low.tolist(), strict=True)
    )
    ratio, output = max((ratio, -place) for place, ratio in enumerate(ratios))
    return -output, ratio
