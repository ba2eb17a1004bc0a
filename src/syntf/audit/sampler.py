"""The sampler: every random integer there is on a small total, every boundary on the real one."""

from collections.abc import Sequence

import numpy as np

from syntf.audit.finding import Finding
from syntf.audit.subject import neighbours, outputs_at, part
from syntf.core.progress import Stages
from syntf.mechanism.base import Mechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.reference import Weights

BITS = 12
MOST_BITS = 21
OUTPUTS = 12
"""Outputs to try every integer on, besides the neighbours of the rows."""
EPSILONS = 1.0, 4.0
"""Of the small totals: the first in place of any smaller one, which they cannot express."""


def sampler(mechanism: Mechanism, rows: Sequence[int], *, stages: Stages) -> Finding:
    """`rows` are those whose boundaries are found on the real total."""
    finding = Finding(
        "sampler",
        "Every random integer below a small total, and on the real total every integer at which "
        "the drawn word changes: each output must come for exactly as many integers as it weighs.",
        "an off-by-one in the search, a draw through floating-point numbers, modulo bias, a row "
        "that is drawn from and is not the one accounted for",
    )
    _exhaustive(finding, mechanism, [row for row in rows if row < mechanism.shape[0] - 1])
    bits = mechanism.total.bit_length() - 1
    found = 0
    with stages("seeking edges", len(rows)) as advance:
        for row in rows:
            sizes, edges = preimages(mechanism, row)
            wrong = int((sizes != mechanism.weights(row)).sum())
            finding.require(
                wrong == 0,
                f"row {row:,}: {wrong:,} outputs come for more or fewer of the 2**{bits} integers "
                "than they weigh",
            )
            found += edges
            advance(1)
    finding.confirm(
        f"real total: {found:,} edges found in {len(rows)} rows, all 2**{bits} integers accounted "
        "for"
    )
    return finding


def _exhaustive(finding: Finding, mechanism: Mechanism, rows: Sequence[int]) -> None:
    """Words of the real table on a total so small that every draw there is can be tried."""
    few = np.unique(np.linspace(0, mechanism.shape[1] - 1, OUTPUTS).astype(np.intp))
    outputs = few
    if isinstance(mechanism, NeighbourhoodMechanism):
        near = [neighbours(mechanism, row) for row in rows[:3]]
        rows = rows[: 3 if len(near[0]) < OUTPUTS else 1]
        outputs = np.union1d(few, np.concatenate(near[: len(rows)]))
    bits = max(BITS, 2 * (len(outputs) - 1).bit_length() + 3)
    if bits > MOST_BITS:
        finding.results.append(f"{len(outputs):,} outputs at least are too many for a small total")
        return
    points = np.arange(1 << bits)
    tried = 0
    epsilons = [max(mechanism.epsilon, EPSILONS[0]), EPSILONS[1]]
    for epsilon in epsilons:
        small = part(mechanism, rows, epsilon=epsilon, outputs=outputs, total_bits=bits)
        for row in range(small.shape[0]):
            drawn = np.bincount(outputs_at(small, row, points), minlength=len(outputs))
            finding.require(
                drawn.tolist() == small.weights(row).tolist(),
                f"of all {len(points):,} integers at ε = {epsilon:g}, row {row} does not give the "
                "outputs as often as they weigh",
            )
            tried += 1
    finding.confirm(
        f"total 2**{bits}, ε = {epsilons[0]:g} and {epsilons[1]:g}: {tried} rows × {len(outputs)} "
        f"outputs, all {len(points):,} integers tried for each"
    )


def preimages(mechanism: Mechanism, row: int) -> tuple[Weights, int]:
    """How many random integers give each output, exactly, and the number of edges between them.

    Between two integers that give different outputs there is an edge, found by bisection. The
    first ones are so dense that each range of integers has some, if the row is what it claims.
    """
    total, outputs = mechanism.total, mechanism.shape[1]
    weights = mechanism.weights(row)
    # Where all outputs are neighbours, none weighs as little as the range that all have.
    least = min(int(weights.min()), getattr(mechanism, "background", total))
    points = _grid(total, outputs, least, int((weights > least).sum()))
    places = outputs_at(mechanism, row, points)
    left, right = points[:-1], points[1:]
    one, other = places[:-1], places[1:]
    edges = []
    while len(left):
        differ = one != other
        left, right, one, other = left[differ], right[differ], one[differ], other[differ]
        apart = right - left > 1
        edges.append(np.stack([right[~apart], other[~apart]]))
        left, right, one, other = left[apart], right[apart], one[apart], other[apart]
        if len(left):
            middle = left + (right - left) // 2
            found = outputs_at(mechanism, row, middle)
            left, right = np.append(left, middle), np.append(middle, right)
            one, other = np.append(one, found), np.append(found, other)
    starts, drawn = np.concatenate(edges, axis=1)
    order = np.argsort(starts)
    starts = np.concatenate([[0], starts[order], [total]])
    drawn = np.append(places[:1], drawn[order])
    sizes = np.zeros(outputs, dtype=np.int64)
    np.add.at(sizes, drawn, np.diff(starts))
    return sizes, len(drawn) - 1


def _grid(total: int, outputs: int, least: int, more: int) -> Weights:
    """Integers in each range that a row of either mechanism has.

    The least weight again and again from the start, then what is left, among the outputs that
    weigh more; at both ends every integer, where what did not divide may stand.
    """
    common = min(outputs * least, total)
    ends = min(2 * outputs, total)
    parts = [
        np.arange(0, common, max(1, least // 2)),
        np.arange(common, total, max(1, (total - common) // max(1, 2 * more))),
        np.arange(ends),
        np.arange(total - ends, total),
    ]
    return np.unique(np.concatenate(parts))
