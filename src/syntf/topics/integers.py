"""Vectors of integers with one common length, whose products are the same on every machine.

A target must not depend on the processor or on the library that multiplies matrices. Two facts
make that possible at full speed:

- A sum of integers is exact in float32 while it stays below 2**24, and in float64 below 2**53,
  whatever the order of summation. Vectors of length :data:`LENGTH` = 2,000 have products of at
  most 4,000,000, below 2**24, so a float32 matrix product of them is exact.
- IEEE 754 fixes the square root of a float64, so the integer part of a square root is exact.
"""

import numpy as np
from numpy.typing import NDArray

from syntf.core.parallel import in_blocks

LENGTH = 2000
"""The length of every encoded document and every topic."""

CENTRE_LENGTH = 2048
"""The length at which the centres of a codebook are given; the encoder subtracts them."""
WHITENING_SCALE = 1024
"""What 1 is in the whitening matrix of a codebook."""

_BITS = 20  # the largest component gets this many bits before squares are added
_CACHED = 512  # rows scaled at once, so that their numbers stay in the cache of the processor
_BLOCK = 1024  # rows compared with all others at once
_FEW = 128  # rows compared at once where all products are put in order

Vectors = NDArray[np.int16]


def stretch(rows: NDArray[np.integer | np.floating], length: int = LENGTH) -> Vectors:
    """Scale each row of integers to a common length and round to integers; zeros stay zeros.

    The integers may be given as floats. Everything is computed in float64, where integers below
    2**53 and their products with powers of two are exact. The quotient at the end is below 2**13
    and its denominator below 2**30, so that rounding it cannot move it across an integer.

    >>> stretch(np.array([[3, 4], [0, 0]]), 10).tolist()
    [[6, 8], [0, 0]]
    """
    stretched = np.empty(rows.shape, dtype=np.int16)
    for start in range(0, len(rows), _CACHED):
        block = slice(start, start + _CACHED)
        stretched[block] = _stretched(np.asarray(rows[block], dtype=np.float64), length)
    return stretched


def _stretched(wide: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    largest = np.abs(wide).max(axis=1, initial=0)
    wide = np.floor(wide * np.ldexp(1.0, _BITS - np.frexp(largest)[1])[:, None])
    norms = np.floor(np.sqrt(np.einsum("ij,ij->i", wide, wide)))
    norms = np.maximum(norms, 1)[:, None]
    wide *= 2 * length
    wide += norms
    wide /= 2 * norms
    return np.floor(wide, out=wide)


def products(
    left: Vectors | NDArray[np.float32], right: Vectors | NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return all products of two sets of vectors, exact integers in float32."""
    first, second = left.astype(np.float32, copy=False), right.astype(np.float32, copy=False)
    found: NDArray[np.float32] = first @ second.T
    return found


def nearest_in_turn(rows: Vectors, entries: Vectors, count: int) -> NDArray[np.int64]:
    """Return for each row `count` different entries: each is the nearest to what is still left.

    The first one is the nearest to the row. Then half of the row's part in its direction is taken
    away, and so on; an entry that was chosen is not chosen again. So later entries tell what the
    first one leaves open, where the second nearest would mostly repeat it. Of equally near entries
    the first is chosen.

    >>> entries = stretch(np.array([[10, 6, 0], [10, 5, 0], [5, 0, 10]]))
    >>> row = stretch(np.array([[10, 6, 5]]))
    >>> nearest_several(row, entries, 2).tolist(), nearest_in_turn(row, entries, 2).tolist()
    ([[0, 1]], [[0, 2]])
    """
    found = np.zeros((len(rows), count), dtype=np.int64)
    wide = entries.astype(np.float32)

    def find_block(block: slice) -> None:
        rest = rows[block]
        for place in range(count):
            near = products(rest, wide)
            np.put_along_axis(near, found[block, :place], -np.inf, axis=1)
            best = np.argmax(near, axis=1)
            found[block, place] = best
            if place + 1 < count:
                part = np.take_along_axis(near, best[:, None], axis=1).astype(np.int64)
                rest = stretch(2 * LENGTH**2 * rest.astype(np.int64) - part * entries[best])

    for _ in in_blocks(find_block, len(rows), _BLOCK):
        pass
    return found


def nearest_several(rows: Vectors, entries: Vectors, count: int) -> NDArray[np.int64]:
    """Return for each row the `count` entries with the largest products, the largest first.

    Of equal products the first entry comes first.
    """
    found = np.zeros((len(rows), count), dtype=np.int64)
    wide = entries.astype(np.float32)

    def find_block(block: slice) -> None:
        near = products(rows[block], wide)
        edges = np.partition(near, len(entries) - count, axis=1)[:, len(entries) - count]
        for place, (row, edge) in enumerate(zip(near, edges, strict=True), block.start):
            best = np.flatnonzero(row >= edge)
            found[place] = best[np.argsort(-row[best], kind="stable")][:count]

    for _ in in_blocks(find_block, len(rows), _FEW):
        pass
    return found
