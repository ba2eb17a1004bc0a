"""The table: every weight at least 1, one common total, and the loss measured anew on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from syntf.audit.finding import Finding
from syntf.core.exact import GRID, shown, shown_ratio
from syntf.core.parallel import Progress
from syntf.core.progress import Stages
from syntf.mechanism.base import Mechanism
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.reference import Weights

ENTRIES = 1 << 25
"""A graded table up to here is gone through row by row; of a larger one, what matters is."""
SAMPLE = 2_000
"""Rows looked at where not all are."""
NEAR = 20
"""Outputs with the largest ratios whose extreme rows are expanded in full."""
ESTIMATED = Fraction(9999, 10000)
"""What a ratio found from an estimate may fall short by: several may be equally large."""
STEP = 256  # rows held at once


@dataclass(frozen=True)
class Measured:
    """What was measured of a table, and where: the pair of rows that differ most in an output."""

    rows: Sequence[int]
    complete: bool
    """Whether no row can hold a larger ratio: all were seen, or all that come near it."""
    ratio: Fraction | None
    """None where a weight is not positive: the loss is infinite."""
    high: int
    low: int
    output: int


def table(mechanism: Mechanism, *, quick: bool, stages: Stages) -> tuple[Finding, Measured]:
    inputs, outputs = mechanism.shape
    finding = Finding(
        "table",
        "Weights of the rows as whole numbers: their sums, the least of them, and the largest "
        "ratio in any output, computed anew and compared with what is reported.",
        "a zero probability, a row that sums to something else, a loss that was computed for "
        "another table, for another epsilon, or came damaged out of the cache",
    )
    rows, complete = _rows(mechanism, quick, stages)
    low = np.full(outputs, np.iinfo(np.int64).max)
    high = np.full(outputs, np.iinfo(np.int64).min)
    low_at, high_at = np.zeros((2, outputs), dtype=np.intp)
    bad_sums = bad_weights = 0
    with stages("expanding rows", len(rows)) as advance:
        for start in range(0, len(rows), STEP):
            block = np.array([mechanism.weights(row) for row in rows[start : start + STEP]])
            bad_sums += int((~_sums_to(block, mechanism.total)).sum())
            least, most = block.min(axis=0), block.max(axis=0)
            bad_weights += int((block < 1).sum())
            low_at[least < low], high_at[most > high] = start, start
            np.minimum(low, least, out=low)
            np.maximum(high, most, out=high)
            advance(len(block))
    output, ratio = _largest(low, high)

    def where(start: int, value: int) -> int:
        return next(row for row in rows[start:] if mechanism.weights(row)[output] == value)

    measured = Measured(
        rows,
        complete,
        ratio,
        high=where(int(high_at[output]), int(high[output])),
        low=where(int(low_at[output]), int(low[output])),
        output=output,
    )
    seen = f"{len(rows):,} of {inputs:,}" if len(rows) < inputs else f"all {inputs:,}"
    finding.results.append(f"{seen} rows × {outputs:,} outputs, total 2**{_bits(mechanism)}")
    finding.require(bad_sums == 0, f"{bad_sums:,} rows do not sum to the total")
    finding.require(bad_weights == 0, f"{bad_weights:,} weights are below 1: impossible outputs")
    if ratio is None:
        return finding, measured
    finding.results.append(
        f"largest ratio found {shown_ratio(ratio)}, reported {shown_ratio(mechanism.ratio)}, "
        f"loss {shown(mechanism.loss, 4)}"
    )
    if len(rows) < inputs:
        finding.results.append(
            "the rows seen hold the extremes: an estimate of all others found none near them"
            if complete
            else "a sample of rows, so the ratio found may fall short of the reported one"
        )
    finding.require(
        ratio <= mechanism.ratio, f"rows differ by {shown_ratio(ratio)}: more than is reported"
    )
    least_ratio = mechanism.ratio * (1 if len(rows) == inputs else ESTIMATED)
    finding.require(
        not complete or ratio >= least_ratio, "no two rows differ by the reported ratio"
    )
    return finding, measured


def _bits(mechanism: Mechanism) -> int:
    return mechanism.total.bit_length() - 1


def _rows(mechanism: Mechanism, quick: bool, stages: Stages) -> tuple[Sequence[int], bool]:
    """The rows to expand, and whether the largest ratio is certain to be among them."""
    inputs, outputs = mechanism.shape
    if inputs <= SAMPLE:
        return range(inputs), True
    step = -(-inputs // SAMPLE)
    some = [*range(0, inputs - 1, step), inputs - 1]  # the last is the empty document
    if quick:
        return some, False
    if isinstance(mechanism, ExponentialMechanism) and inputs * outputs > ENTRIES:
        with stages("seeking extremes", inputs) as advance:
            return sorted({*some, *_extreme_rows(mechanism, advance)}), True
    return range(inputs), True


def _extreme_rows(mechanism: ExponentialMechanism, advance: Progress) -> set[int]:
    """The rows that may hold the largest ratio, found by a floating-point estimate of all.

    Written from the definition, weight ∝ max(1, 2**bits · exp(−ε/2 · levels below the best)),
    and from the levels of the rating alone.
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
    for output in np.argsort(-high / low)[:NEAR]:
        rows.add(int(low_at[output] + estimate(low_at[output])[:, output].argmin()))
        rows.add(int(high_at[output] + estimate(high_at[output])[:, output].argmax()))
    return rows


def _sums_to(block: Weights, total: int) -> NDArray[np.bool_]:
    """Which rows sum to the total: modulo 2**64 exactly, and in magnitude."""
    near = np.abs(block.sum(axis=1, dtype=np.float64) / total - 1) < 0.01
    return np.asarray((block.sum(axis=1) == total) & near)


def _largest(low: Weights, high: Weights) -> tuple[int, Fraction | None]:
    """The output with the largest ratio, compared as exact fractions; None if one is infinite."""
    if low.min() < 1:
        return int(low.argmin()), None
    ratios = (
        Fraction(most, least) for most, least in zip(high.tolist(), low.tolist(), strict=True)
    )
    ratio, output = max((ratio, -place) for place, ratio in enumerate(ratios))
    return -output, ratio
