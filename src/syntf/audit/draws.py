"""Compare real draws with the table, and with tables for 10 % more and less ε."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, ncx2

from syntf.audit.result import CheckResult
from syntf.audit.subject import part
from syntf.core.progress import Stages
from syntf.mechanism.base import Mechanism

ERROR = 1e-6
"""Probability that a correct program fails a check by chance."""
POWER = 0.999
"""Smallest power with which another table counts as rejected."""
MIN_EXPECTED = 50
"""Smallest number of draws expected in a cell, so that the χ² distribution holds."""
POOLED_CELLS = 8
"""Number of cells that outputs are pooled into."""
FACTORS = (0.9, 1.1)

Chances = NDArray[np.float64]
Cells = NDArray[np.intp]
"""The cell of each output."""


def check_draws(
    mechanism: Mechanism, rows: Sequence[int], count: int, *, stages: Stages
) -> CheckResult:
    """Test `count` draws of each row with χ²."""
    result = CheckResult(
        "draws",
        f"{count:,} draws of each of {len(rows)} rows with the operating system's entropy; χ² at "
        "1e-6 against the table, for single and pooled outputs, and against the tables for "
        "ε × 0.9 and ε × 1.1.",
        "a table for another ε, a biased sampler, a generator that is not uniform",
    )
    word_rows = [row for row in rows if row < mechanism.shape[0] - 1]
    others = {
        factor: part(mechanism, word_rows, epsilon=factor * mechanism.epsilon) for factor in FACTORS
    }
    least = 1.0
    power, fitted = dict.fromkeys(FACTORS, 0.0), dict.fromkeys(FACTORS, 1.0)
    with stages("drawing words", count * len(rows)) as advance:
        for row in rows:
            drawn = mechanism.sample(np.full(count, row), progress=advance)
            counts = np.bincount(drawn, minlength=mechanism.shape[1])
            truth = _chances(mechanism, row)
            fits = [p_value(counts, truth, singly(truth, count))]
            for factor, other in others.items() if row in word_rows else ():
                wrong = _chances(other, word_rows.index(row))
                cell = pooled(truth, wrong, count)
                fits.append(p_value(counts, truth, cell))
                able = _power(truth, wrong, cell, count)
                if able >= power[factor]:
                    power[factor], fitted[factor] = able, p_value(counts, wrong, cell)
            least = min(least, *fits)
            result.require(
                min(fits) > ERROR / (3 * len(rows)),
                f"row {row:,}: the draws do not fit the table (p = {min(fits):.1e})",
            )
    result.confirm(f"the draws fit the table: the smallest p-value is {least:.2g}")
    for factor, able in power.items():
        rejected = fitted[factor] < ERROR
        if able >= POWER and rejected:
            result.results.append(f"ε × {factor:g} rejected; the power is {_format_power(able)}")
        elif able >= 1 - ERROR:
            result.faults.append(f"the draws fit a table for ε × {factor:g}")
        else:
            result.limits.append(
                f"{count:,} draws tell ε × {factor:g} from ε with a power of only "
                f"{_format_power(able)}. Use more --samples; the exact checks need no draws"
            )
    return result


def _format_power(power: float) -> str:
    """Format a power; never round it up to 1.

    >>> _format_power(0.35), _format_power(0.99975), _format_power(1.0)
    ('0.35', '1 − 2.5e-04', 'above 1 − 1e-12')
    """
    if power > 1 - 1e-12:
        return "above 1 − 1e-12"
    return f"{power:.2g}" if power < 0.9 else f"1 − {1 - power:.1e}"


def _chances(mechanism: Mechanism, row: int) -> Chances:
    return mechanism.weights(row) / mechanism.total


def singly(truth: Chances, count: int) -> Cells:
    """Give each output its own cell; rare outputs share one.

    >>> singly(np.array([0.04, 0.5, 0.02, 0.44]), 1000).tolist()
    [0, 2, 0, 1]
    """
    order = np.argsort(truth, kind="stable")
    return _merge(order, np.arange(len(order)), truth[order] * count)


def pooled(truth: Chances, other: Chances, count: int) -> Cells:
    """Pool outputs by the ratio of their probabilities in two tables, to tell these apart.

    >>> pooled(np.array([0.5, 0.2, 0.2, 0.1]), np.array([0.2, 0.3, 0.3, 0.2]), 1000).tolist()
    [2, 0, 1, 0]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.clip(np.nan_to_num(np.log(truth) - np.log(other)), -50, 50)
    order = np.argsort(difference, kind="stable")
    information = (truth * difference**2)[order]
    upto = np.cumsum(information)
    place = (upto - information / 2) * (POOLED_CELLS / max(upto[-1], 1e-300))
    return _merge(order, place.astype(np.intp), np.minimum(truth, other)[order] * count)


def _merge(order: NDArray[np.intp], group: NDArray[np.intp], expected: Chances) -> Cells:
    """Join groups of ordered outputs until enough draws are expected in each cell."""
    ends = np.flatnonzero(np.append(np.diff(group) != 0, True)) + 1
    cell = np.empty(len(order), dtype=np.intp)
    upto = np.concatenate([[0.0], np.cumsum(expected)])
    current, first = 0, 0
    for end in ends.tolist():
        if upto[end] - upto[first] >= MIN_EXPECTED:
            cell[order[first:end]] = current
            current, first = current + 1, end
    cell[order[first:]] = max(0, current - 1)  # too few are left for their own cell
    return cell


def p_value(counts: NDArray[np.intp], chances: Chances, cell: Cells) -> float:
    """Return the probability of draws that fit the table worse than these."""
    found, share = np.bincount(cell, counts), np.bincount(cell, chances)
    expected = share / share.sum() * found.sum()
    if len(expected) == 1:
        return 1.0
    return float(chi2.sf(((found - expected) ** 2 / expected).sum(), len(expected) - 1))


def _power(truth: Chances, other: Chances, cell: Cells, count: int) -> float:
    """Return the power to tell two tables apart, whichever of them is drawn from."""
    one, two = np.bincount(cell, truth), np.bincount(cell, other)
    freedom = len(one) - 1
    if freedom == 0:
        return 0.0
    bound = chi2.isf(ERROR, freedom)
    noncentrality = count * min(((one - two) ** 2 / two).sum(), ((one - two) ** 2 / one).sum())
    # Beyond this, SciPy's series does not converge, and the power is 1 for all purposes.
    return 1.0 if noncentrality > 100 * bound else float(ncx2.sf(bound, freedom, noncentrality))
