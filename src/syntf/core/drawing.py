"""The compiled loops that draw and count words.

Each has an equivalent in NumPy, which gives the same integers from the same bits: :func:`terms` in
:func:`syntf.mechanism.synthesis.draw_terms`, :func:`near` in
:class:`syntf.mechanism.neighbourhood.NeighbourhoodMechanism`. A function returns None if the
package was built without a compiler, or if an array holds an index out of range: the caller then
uses NumPy, which raises the error.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf import native
from syntf.core.counts import Counts, Rows, offsets
from syntf.core.parallel import in_blocks, threads

_compiled = native.load("_drawing")

STEP = 1 << 16
"""Draws, or words counted, that a thread does at once: few enough to stay in its cache."""


def terms(
    starts: NDArray[np.int64],
    occurrences: NDArray[np.int32],
    bits: NDArray[np.uint64],
    length: int,
    units: NDArray[np.int64] | None,
    *,
    systematic: bool,
) -> NDArray[np.int32] | None:
    """Draw `length` terms of each document, from 53 bits per draw (per document if systematic)."""
    if _compiled is None:
        return None
    starts, occurrences = np.ascontiguousarray(starts, np.int64), _plain(occurrences)
    mass = np.empty(0, dtype=np.int64) if units is None else units
    drawn = np.empty((len(starts) - 1, length), dtype=np.int32)

    def work(block: slice) -> bool:
        own = block if systematic else slice(block.start * length, block.stop * length)
        done: bool = _compiled.terms(
            starts[block.start : block.stop + 1], occurrences, bits[own], mass, drawn[block],
            length, systematic,
        )  # fmt: skip
        return done

    return drawn if all(in_blocks(work, len(drawn), STEP // length)) else None


def near(
    rows: NDArray[np.int32], bits: NDArray[np.uint64], neighbours: NDArray[np.int32],
    *, total_bits: int, background: int, outputs: int,
) -> NDArray[np.int32] | None:  # fmt: skip
    """Return the output of each row at the point that the top bits of `bits` give."""
    if _compiled is None:
        return None
    empty, count = neighbours.shape
    total, common = 1 << total_bits, outputs * background
    drawn = np.empty(len(rows), dtype=np.int32)
    _compiled.near(
        rows, bits, neighbours, drawn, 64 - total_bits, common, background,
        (total - common) // count, total // outputs, empty,
    )  # fmt: skip
    return drawn


def counted(starts: NDArray[np.int64], columns: NDArray[np.int32], width: int) -> Counts:
    """Count how often each row has each column; row r has ``columns[starts[r]:starts[r+1]]``."""
    shape = len(starts) - 1, width
    found = _counts(np.ascontiguousarray(starts, np.int64), _plain(columns), width)
    if found is not None:
        return Rows(*found, shape)
    if columns.size and not (columns.min() >= 0 and columns.max() < width):
        raise ValueError(f"a column is not between 0 and {width - 1}")
    rows = np.repeat(np.arange(shape[0], dtype=np.int64), np.diff(starts))
    cells, counts = np.unique(rows * width + columns, return_counts=True)
    ends = np.searchsorted(cells, np.arange(shape[0] + 1, dtype=np.int64) * width)
    indices = (cells % max(1, width)).astype(np.int32)
    return Rows(counts.astype(np.int32), indices, offsets(ends), shape)


def _counts(
    starts: NDArray[np.int64], columns: NDArray[np.int32], width: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
    """Return the arrays of :func:`counted`: counts, columns in order, and where rows begin."""
    if _compiled is None:
        return None
    rows = len(starts) - 1
    ends = np.zeros(rows + 1, dtype=np.int64)
    indices, data = np.empty((2, columns.size), dtype=np.int32)

    def work(block: slice) -> tuple[slice, bool]:
        own = slice(starts[block.start], starts[block.stop])
        done = _compiled.count(
            starts[block.start : block.stop + 1] - own.start, columns[own],
            ends[block.start + 1 : block.stop + 1], indices[own], data[own], width,
        )  # fmt: skip
        return block, done

    used = 0
    size = max(STEP * rows // max(1, columns.size), -(-rows // threads()))  # few gaps to close
    for block, done in in_blocks(work, rows, size):
        if not done:
            return None
        first, count = starts[block.start], ends[block.stop]
        if first > used:  # repeated columns left a gap
            for array in (indices, data):
                array[used : used + count] = array[first : first + count]
        ends[block.start + 1 : block.stop + 1] += used
        used += count
    return data[:used], indices[:used], offsets(ends)


def _plain(array: NDArray[Any]) -> NDArray[np.int32]:
    """Return an array in the form that the loops read."""
    return np.ascontiguousarray(array, np.int32)
