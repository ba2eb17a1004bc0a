"""The inner loops on a GPU, in Triton: the integers of :mod:`syntf.mechanism.reference`, bit for
bit.

The only floating-point steps are single products and conversions, whose results IEEE 754 fixes.
Sums are of integers, so the order of addition cannot change them. One program handles one row, or a
few rows, and `WIDTH` of its columns; the last columns may be padding.
"""

import triton
import triton.language as tl
from triton.language.extra import libdevice

WIDTH = 2048
"""Columns that one program handles."""
ROWS = 32
"""Rows that one program of :func:`widen` handles, keeping the extremes in registers."""


@triton.jit
def rate(
    dot, stride, scale_in, scale_out, starts, ids, incidence, count_in, count_out, penalty,
    penalty_width, width, levels, top, WIDTH: tl.constexpr,
):  # fmt: skip
    """Compute levels of cosine minus spelling penalty, and the highest level of each row."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    valid = columns < width
    shared = tl.zeros([WIDTH], dtype=tl.int32)
    for place in range(tl.load(starts + row), tl.load(starts + row + 1)):
        bigram = tl.load(ids + place)
        shared += tl.load(incidence + bigram * width + columns, mask=valid, other=0)
    scale = tl.load(scale_in + row) * tl.load(scale_out + columns, mask=valid, other=0.0)
    product = tl.load(dot + row * stride + columns, mask=valid, other=0).to(tl.float32)
    level = libdevice.rint(product * scale).to(tl.int32)
    both = tl.load(count_in + row).to(tl.int32) + tl.load(count_out + columns, mask=valid, other=0)
    level -= tl.load(penalty + shared * penalty_width + both).to(tl.int32)
    level = tl.where(valid, tl.maximum(level, 0), 0)
    tl.store(levels + row * width + columns, level.to(tl.uint16), mask=valid)
    tl.atomic_max(top + row, tl.max(level, axis=0))


@triton.jit
def add_up(levels, top, table, grid, width, sums, best, WIDTH: tl.constexpr):
    """Compute the sum of a row's weights before scaling, and its first best output."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    valid = columns < width
    level = tl.load(levels + row * width + columns, mask=valid, other=0).to(tl.int32)
    highest = tl.load(top + row)
    weights = tl.load(table + (grid - highest + level), mask=valid, other=0)
    tl.atomic_add(sums + row, tl.sum(weights, axis=0))
    first = tl.min(tl.where(valid & (level == highest), columns, width), axis=0)
    tl.atomic_min(best + row, first)


@triton.jit
def widen(
    levels, top, table, grid, scale, best, rows, width, used, low, high,
    ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Extend `low` and `high` by all weights except each row's best; add up the rows."""
    columns = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    valid = columns < width
    least = tl.full([WIDTH], 2.0**62, dtype=tl.float64)  # no weight is larger
    most = tl.zeros([WIDTH], dtype=tl.float64)
    start = tl.program_id(0).to(tl.int64) * ROWS
    for row in range(start, min(start + ROWS, rows)):
        level = tl.load(levels + row * width + columns, mask=valid, other=0).to(tl.int32)
        weight = tl.load(table + (grid - tl.load(top + row) + level), mask=valid, other=0.0)
        weight = libdevice.rint(weight * tl.load(scale + row))
        tl.atomic_add(used + row, tl.sum(weight.to(tl.int64), axis=0))
        other = columns != tl.load(best + row)
        least = tl.where(other, tl.minimum(least, weight), least)
        most = tl.where(other, tl.maximum(most, weight), most)
    tl.atomic_min(low + columns, least.to(tl.int64), mask=valid)
    tl.atomic_max(high + columns, most.to(tl.int64), mask=valid)
