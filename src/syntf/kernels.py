"""The inner loops: compiled where the package was built with a compiler, else :mod:`reference`.

Signatures and results are those of :mod:`syntf.reference`, which says what each does.
"""

from importlib import import_module
from typing import Any

import numpy as np

from syntf import reference
from syntf.reference import Levels, Weights

try:
    _compiled: Any = import_module("syntf._kernels")
except ImportError:
    _compiled = None


def rate(
    dot: Any, scale_in: Any, scale_out: Any, ptr: Any, ids: Any, has_bigram: Any,
    count_in: Any, count_out: Any, penalty: Any,
) -> Levels:  # fmt: skip
    """See :func:`syntf.reference.rate`."""
    if _compiled is None:
        return reference.rate(
            dot, scale_in, scale_out, ptr, ids, has_bigram, count_in, count_out, penalty
        )
    out = np.empty(dot.shape, dtype=np.uint16)
    _compiled.rate(
        dot, scale_in, scale_out, ptr, ids, has_bigram, count_in, count_out, penalty, out
    )
    return out


def weigh(levels: Levels, table: Weights, total: int) -> tuple[Weights, Weights]:
    """See :func:`syntf.reference.weigh`."""
    if _compiled is None:
        return reference.weigh(levels, table, total)
    sums = np.empty(len(levels), dtype=np.int64)
    weights = np.empty(levels.shape, dtype=np.int64)
    _compiled.weigh(levels, table, sums, weights, total)
    return weights, sums


def widen(levels: Levels, table: Weights, total: int, low: Weights, high: Weights) -> Weights:
    """See :func:`syntf.reference.widen`."""
    if _compiled is None:
        return reference.widen(levels, table, total, low, high)
    sums = np.empty(len(levels), dtype=np.int64)
    _compiled.widen(levels, table, sums, low, high, total)
    return sums


def draw(
    levels: Levels, table: Weights, total: int, sums: Weights, low: Weights, high: Weights,
    starts: Weights, points: Weights,
) -> Any:  # fmt: skip
    """See :func:`syntf.reference.draw`."""
    if _compiled is None:
        return reference.draw(levels, table, total, sums, low, high, starts, points)
    outputs = np.empty(len(points), dtype=np.int32)
    sound = _compiled.draw(levels, table, sums, low, high, starts, points, outputs, total)
    return outputs if sound else None
