"""Check the sampler: every random integer of a small total, every edge of the real one."""

from collections.abc import Sequence

import numpy as np

from syntf.audit.result import CheckResult
from syntf.audit.subject import neighbours, outputs_at, part
from syntf.core.progress import Stages
from syntf.mechanism.base import Mechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.reference import Weights

SMALL_BITS, MAX_SMALL_BITS = 12, 21
SMALL_OUTPUTS = 12
"""Outputs of the small tables, besides the neighbours of the rows."""
SMALL_EPSILONS = 1.0, 4.0
"""Values of ε for small tables. The first replaces smaller ones, which need larger totals."""


def check_sampler(mechanism: Mechanism, rows: Sequence[int], *, stages: Stages) -> CheckResult:
    """Count the random integers that give each output; `rows` are examined on the real total."""
    result = CheckResult(
        "sampler",
        "Every random integer below a small total, and every integer of the real total at which "
        "the drawn word changes. Each output must come from exactly as many integers as its "
        "weight.",
        "an off-by-one error in the search, draws with floating-point numbers, modulo bias, draws "
        "from another row than the one whose loss was measured",
    )
    _try_every_integer(result, mechanism, [row for row in rows if row < mechanism.shape[0] - 1])
    bits = mechanism.total.bit_length() - 1
    found = 0
    with stages("result edges", len(rows)) as advance:
        for row in rows:
            sizes, edges = preimages(mechanism, row)
            wrong = int((sizes != mechanism.weights(row)).sum())
            result.require(
                wrong == 0,
                f"row {row:,}: {wrong:,} outputs come from more or fewer of the 2**{bits} integers "
                "than their weight",
            )
            found += edges
            advance(1)
    result.confirm(
        f"real total: {found:,} edges found in {len(rows)} rows; all 2**{bits} integers are "
        "accounted for"
    )
    return result


def _try_every_integer(result: CheckResult, mechanism: Mechanism, rows: Sequence[int]) -> None:
    """Put words of the real table on a total so small that every integer can be tried."""
    few = np.unique(np.linspace(0, mechanism.shape[1] - 1, SMALL_OUTPUTS).astype(np.intp))
    outputs = few
    if isinstance(mechanism, NeighbourhoodMechanism):
        near = [neighbours(mechanism, row) for row in rows[:3]]
        rows = rows[: 3 if len(near[0]) < SMALL_OUTPUTS else 1]
        outputs = np.union1d(few, np.concatenate(near[: len(rows)]))
    bits = max(SMALL_BITS, 2 * (len(outputs) - 1).bit_length() + 3)
    if bits > MAX_SMALL_BITS:
        result.results.append(f"{len(outputs):,} outputs are too many for a small total")
        return
    points = np.arange(1 << bits)
    tried = 0
    epsilons = [max(mechanism.epsilon, SMALL_EPSILONS[0]), SMALL_EPSILONS[1]]
    for epsilon in epsilons:
        small = part(mechanism, rows, epsilon=epsilon, outputs=outputs, total_bits=bits)
        for row in range(small.shape[0]):
            drawn = np.bincount(outputs_at(small, row, points), minlength=len(outputs))
            result.require(
                drawn.tolist() == small.weights(row).tolist(),
                f"all {len(points):,} integers at ε = {epsilon:g}: row {row} does not give each "
                "output as often as its weight",
            )
            tried += 1
    result.confirm(
        f"total 2**{bits}, ε = {epsilons[0]:g} and {epsilons[1]:g}: {tried} rows × {len(outputs)} "
        f"outputs, all {len(points):,} integers tried"
    )


def preimages(mechanism: Mechanism, row: int) -> tuple[Weights, int]:
    """Count exactly the random integers that give each output; return also the number of edges.

    An edge lies between two integers with different outputs and is found by bisection. The
    first integers are so dense that each range of a correct row contains one.
    """
    total, outputs = mechanism.total, mechanism.shape[1]
    weights = mechanism.weights(row)
    # If all outputs are neighbours, the smallest weight is above the background.
    least = min(int(weights.min()), getattr(mechanism, "background", total))
    points = _first_points(total, outputs, least, int((weights > least).sum()))
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


def _first_points(total: int, outputs: int, least: int, more: int) -> Weights:
    """Return integers in every range of a row, for either mechanism.

    Steps of half the smallest weight cover the ranges that all outputs have, larger steps the
    rest. At both ends every integer is included, because remainders of divisions go there.
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
