"""The inner loops: compiled where the package was built with a compiler, else :mod:`reference`.

Signatures and results are those of :mod:`syntf.mechanism.reference`, which says what each does.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf import native
from syntf.mechanism import reference
from syntf.mechanism.reference import Levels, Weights

_compiled = native.load("_kernels")

TILE = 64  # of _avx512.h


def pack(
    vectors: NDArray[np.int8], has_bigram: NDArray[np.uint8]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Vectors of the outputs, one a row, and their bigrams as :func:`rate` takes them here.

    Where the processor multiplies bytes, in tiles of 64 words: of the vectors, four dimensions
    of each word together, 128 added to each number; of the bigrams, 64 bits each. Elsewhere
    the vectors are columns of float32, for the library of linear algebra.
    """
    if _compiled is None or not _compiled.wide():
        return np.ascontiguousarray(vectors.T, dtype=np.float32), has_bigram
    words, dimensions = vectors.shape
    tiles, quads = -(-words // TILE), -(-dimensions // 4)
    whole = np.zeros((TILE * tiles, 4 * quads), dtype=np.uint8)
    whole[:words, :dimensions] = vectors.astype(np.uint8) ^ 128
    packed = whole.reshape(tiles, TILE, quads, 4).transpose(0, 2, 1, 3)
    bits = np.zeros((len(has_bigram), TILE // 8 * tiles), dtype=np.uint8)
    bits[:, : -(-words // 8)] = np.packbits(has_bigram, axis=1, bitorder="little")
    return np.ascontiguousarray(packed), np.ascontiguousarray(bits.view("<u8").T)


def rate(
    vectors: Any, outputs: Any, scale_in: Any, scale_out: Any, ptr: Any, ids: Any,
    has_bigram: Any, count_in: Any, count_out: Any, penalty: Any,
) -> Levels:  # fmt: skip
    """See :func:`syntf.mechanism.reference.rate`; `outputs` and `has_bigram` come from
    :func:`pack`."""
    others = scale_in, scale_out, ptr, ids, has_bigram, count_in, count_out, penalty
    if _compiled is None:
        return reference.rate(vectors, outputs, *others)
    levels = np.empty((len(vectors), len(scale_out)), dtype=np.uint16)
    if outputs.dtype == np.uint8:
        _compiled.rate_packed(
            np.ascontiguousarray(vectors, dtype=np.int8), outputs, *others, levels
        )
    else:
        _compiled.rate(vectors.astype(np.float32) @ outputs, *others, levels)
    return levels


def weigh(levels: Levels, table: Weights, total: int) -> tuple[Weights, Weights]:
    """See :func:`syntf.mechanism.reference.weigh`."""
    if _compiled is None:
        return reference.weigh(levels, table, total)
    sums = np.empty(len(levels), dtype=np.int64)
    weights = np.empty(levels.shape, dtype=np.int64)
    _compiled.weigh(levels, table, sums, weights, total)
    return weights, sums


def widen(levels: Levels, table: Weights, total: int, low: Weights, high: Weights) -> Weights:
    """See :func:`syntf.mechanism.reference.widen`."""
    if _compiled is None:
        return reference.widen(levels, table, total, low, high)
    sums = np.empty(len(levels), dtype=np.int64)
    _compiled.widen(levels, table, sums, low, high, total)
    return sums


def draw(
    levels: Levels, table: Weights, total: int, sums: Weights, low: Weights, high: Weights,
    starts: Weights, order: NDArray[np.int32], words: NDArray[np.uint64],
    outputs: NDArray[np.int32],
) -> bool:  # fmt: skip
    """See :func:`syntf.mechanism.reference.draw`."""
    draws = starts, order, words, outputs
    if _compiled is None:
        return reference.draw(levels, table, total, sums, low, high, *draws)
    unused = reference.unused_bits(total)
    return bool(_compiled.draw(levels, table, sums, low, high, *draws, total, unused))


def group(rows: NDArray[np.int32], inputs: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """See :func:`syntf.mechanism.reference.group`."""
    if _compiled is None:
        return reference.group(rows, inputs)
    starts = np.zeros(inputs + 1, dtype=np.int64)
    order = np.empty(rows.size, dtype=np.int32)
    _compiled.group(rows, starts, order)
    return starts, order
