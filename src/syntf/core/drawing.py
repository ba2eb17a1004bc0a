"""The inner loops of drawing and counting, compiled where the package was built with a compiler.

Each stands beside what defines it in NumPy, and gives the same integers from the same bits:
:func:`terms` beside :func:`syntf.mechanism.synthesis.draw_terms`, :func:`near` beside
:class:`syntf.mechanism.neighbourhood.NeighbourhoodMechanism`. They answer None where there is no
compiled
loop, and where an array holds what no loop may follow: NumPy then says what is wrong.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from syntf import native
from syntf.core import parallel
from syntf.core.counts import Counts, Rows, offsets

_compiled = native.load("_drawing")

T = TypeVar("T")

STEP = 1 << 16  # draws, or words counted, that a thread takes at once: they stay in its cache


def terms(
    starts: NDArray[np.int64],
    occurrences: NDArray[np.int32],
    bits: NDArray[np.uint64],
    length: int,
    units: NDArray[np.int64] | None,
    *,
    systematic: bool,
) -> NDArray[np.int32] | None:
    """Of each document its term at `length` places, chosen by 53 bits a draw, or a document."""
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
    """Of each row the output at a point below the total, which is as many bits."""
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
    """How often each row has each column; those of row r are ``columns[starts[r]:starts[r+1]]``."""
    shape = len(starts) - 1, width
    found = _counts(np.ascontiguousarray(starts, np.int64), _plain(columns), width)
    if found is not None:
        return Rows(*found, shape)
    from scipy.sparse import csr_matrix  # here: the compiled loop does without it

    counts = csr_matrix((np.ones(columns.size, dtype=np.int32), columns, starts), shape=shape)
    counts.sum_duplicates()
    return Rows(counts.data, counts.indices, counts.indptr, shape)


def _counts(
    starts: NDArray[np.int64], columns: NDArray[np.int32], width: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
    """What :func:`counted` is made of: numbers, columns in order, and where rows begin."""
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
    size = max(
        STEP * rows // max(1, columns.size), -(-rows // parallel.threads())
    )  # few gaps to close
    for block, done in in_blocks(work, rows, size):
        if not done:
            return None
        first, count = starts[block.start], ends[block.stop]
        if first > used:  # columns that came again left a gap
            for array in (indices, data):
                array[used : used + count] = array[first : first + count]
        ends[block.start + 1 : block.stop + 1] += used
        used += count
    return data[:used], indices[:used], offsets(ends)


def in_blocks(work: Callable[[slice], T], count: int, size: int) -> Iterator[T]:
    """Do `count` things, `size` of them at once, on as many threads as there may be; in order."""
    size = max(1, size)
    blocks = [slice(a, min(a + size, count)) for a in range(0, count, size)]
    threads = min(len(blocks), parallel.threads())
    if threads < 2:
        yield from map(work, blocks)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, blocks)


def _plain(array: NDArray[Any]) -> NDArray[np.int32]:
    """As the loops take it."""
    return np.ascontiguousarray(array, np.int32)
