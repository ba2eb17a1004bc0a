"""Draws of the running program against its table, and against tables of a tenth more or less ε."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, ncx2

from syntf.audit.finding import Finding
from syntf.audit.subject import part
from syntf.core.progress import Stages
from syntf.mechanism.base import Mechanism

ERROR = 1e-6
"""The chance that a sound program fails a check by bad luck; the same for a claimed power."""
POWER = 0.999
"""To have noticed a table, the least power."""
EXPECTED = 50
"""Draws expected in a cell, at least: the χ² distribution then holds this far out."""
CELLS = 8
"""Of outputs pooled."""
FACTORS = (0.9, 1.1)

Chances = NDArray[np.float64]
Cells = NDArray[np.intp]
"""The number of each output's cell."""


def draws(mechanism: Mechanism, rows: Sequence[int], count: int, *, stages: Stages) -> Finding:
    finding = Finding(
        "draws",
        f"{count:,} draws of each of {len(rows)} rows from the system's entropy; χ² at 1e-6 "
        "against the table, outputs singly and pooled, and against those for ε × 0.9 and ε × 1.1.",
        "a table for another epsilon, a sampler that is off by more than chance, a generator "
        "that is not uniform",
    )
    words = [row for row in rows if row < mechanism.shape[0] - 1]
    others = {
        factor: part(mechanism, words, epsilon=factor * mechanism.epsilon) for factor in FACTORS
    }
    least = 1.0
    power, fitted = dict.fromkeys(FACTORS, 0.0), dict.fromkeys(FACTORS, 1.0)
    with stages("drawing words", count * len(rows)) as advance:
        for row in rows:
            drawn = mechanism.sample(np.full(count, row), progress=advance)
            counts = np.bincount(drawn, minlength=mechanism.shape[1])
            truth = _chances(mechanism, row)
            fits = [p_value(counts, truth, singly(truth, count))]
            for factor, other in others.items() if row in words else ():
                wrong = _chances(other, words.index(row))
                cell = pooled(truth, wrong, count)
                fits.append(p_value(counts, truth, cell))
                able = _power(truth, wrong, cell, count)
                if able >= power[factor]:
                    power[factor], fitted[factor] = able, p_value(counts, wrong, cell)
            least = min(least, *fits)
            finding.require(
                min(fits) > ERROR / (3 * len(rows)),
                f"row {row:,}: the draws do not fit the table (p = {min(fits):.1e})",
            )
    finding.confirm(f"the table fits: the least p-value is {least:.2g}")
    for factor, able in power.items():
        rejected = fitted[factor] < ERROR
        if able >= POWER and rejected:
            finding.results.append(f"ε × {factor:g} rejected; the power is {_shown(able)}")
        elif able >= 1 - ERROR:
            finding.faults.append(f"the draws fit a table for ε × {factor:g}")
        else:
            finding.limits.append(
                f"{count:,} draws tell ε × {factor:g} from ε with a power of {_shown(able)} only. "
                "More --samples help; the exact checks need none"
            )
    return finding


def _shown(power: float) -> str:
    """Never rounded up to a certainty.

    >>> _shown(0.35), _shown(0.99975), _shown(1.0)
    ('0.35', '1 − 2.5e-04', 'above 1 − 1e-12')
    """
    if power > 1 - 1e-12:
        return "above 1 − 1e-12"
    return f"{power:.2g}" if power < 0.9 else f"1 − {1 - power:.1e}"


def _chances(mechanism: Mechanism, row: int) -> Chances:
    return mechanism.weights(row) / mechanism.total


def singly(truth: Chances, count: int) -> Cells:
    """A cell for each output, but for rare ones, which share.

    >>> singly(np.array([0.04, 0.5, 0.02, 0.44]), 1000).tolist()
    [0, 2, 0, 1]
    """
    order = np.argsort(truth, kind="stable")
    return _merged(order, np.arange(len(order)), truth[order] * count)


def pooled(truth: Chances, other: Chances, count: int) -> Cells:
    """A few cells that tell two tables apart: outputs alike in how their chances differ.

    >>> pooled(np.array([0.5, 0.2, 0.2, 0.1]), np.array([0.2, 0.3, 0.3, 0.2]), 1000).tolist()
    [2, 0, 1, 0]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.clip(np.nan_to_num(np.log(truth) - np.log(other)), -50, 50)
    order = np.argsort(difference, kind="stable")
    telling = (truth * difference**2)[order]
    upto = np.cumsum(telling)
    place = (upto - telling / 2) * (CELLS / max(upto[-1], 1e-300))
    return _merged(order, place.astype(np.intp), np.minimum(truth, other)[order] * count)


def _merged(order: NDArray[np.intp], group: NDArray[np.intp], expected: Chances) -> Cells:
    """Groups of ordered outputs, each joined to the next until enough draws are expected."""
    ends = np.flatnonzero(np.append(np.diff(group) != 0, True)) + 1
    cell = np.empty(len(order), dtype=np.intp)
    upto = np.concatenate([[0.0], np.cumsum(expected)])
    current, first = 0, 0
    for end in ends.tolist():
        if upto[end] - upto[first] >= EXPECTED:
            cell[order[first:end]] = current
            current, first = current + 1, end
    cell[order[first:]] = max(0, current - 1)  # too little is left for a cell of its own
    return cell


def p_value(counts: NDArray[np.intp], chances: Chances, cell: Cells) -> float:
    """The chance of draws that fit the table worse than these."""
    found, share = np.bincount(cell, counts), np.bincount(cell, chances)
    expected = share / share.sum() * found.sum()
    if len(expected) == 1:
        return 1.0
    return float(chi2.sf(((found - expected) ** 2 / expected).sum(), len(expected) - 1))


def _power(truth: Chances, other: Chances, cell: Cells, count: int) -> float:
    """The chance to tell the two apart at the error allowed, whichever of them is drawn from."""
    one, two = np.bincount(cell, truth), np.bincount(cell, other)
    freedom = len(one) - 1
    if freedom == 0:
        return 0.0
    bound = chi2.isf(ERROR, freedom)
    apart = count * min(((one - two) ** 2 / two).sum(), ((one - two) ** 2 / one).sum())
    # Beyond this SciPy's series no longer converges; a normal tail is far below any error here.
    return 1.0 if apart > 100 * bound else float(ncx2.sf(bound, freedom, apart))
