"""The inner loops: compiled if the package was built with a compiler, else in NumPy.

Each function has the signature and the result of its namesake in :mod:`syntf.mechanism.reference`,
which documents it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf import native
from syntf.core.parallel import BLOCK
from syntf.mechanism import reference
from syntf.mechanism.reference import Levels, Weights

_compiled = native.load("_kernels")

_TILE = 64  # words in a tile, as in _avx512.h


def needs_matrix_products() -> bool:
    """Tell whether ratings are computed with NumPy's matrix products, not by compiled loops."""
    return _compiled is None or not _compiled.wide()


def pack(
    vectors: NDArray[np.int8], incidence: NDArray[np.uint8]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Arrange the outputs' vectors, one row each, and their bigrams as :func:`rate` needs them.

    If the processor multiplies bytes, both are cut into tiles of 64 words. Vectors: four dimensions
    of each word together, 128 added to each number. Bigrams: one bit each. Otherwise the vectors
    become columns of float32, for the linear algebra library.
    """
    if needs_matrix_products():
        return np.ascontiguousarray(vectors.T, dtype=np.float32), incidence
    words, dimensions = vectors.shape
    tiles, quads = -(-words // _TILE), -(-dimensions // 4)
    padded = np.zeros((_TILE * tiles, 4 * quads), dtype=np.uint8)
    padded[:words, :dimensions] = vectors.astype(np.uint8) ^ 128
    packed = padded.reshape(tiles, _TILE, quads, 4).transpose(0, 2, 1, 3)
    bits = np.zeros((len(incidence), _TILE // 8 * tiles), dtype=np.uint8)
    bits[:, : -(-words // 8)] = np.packbits(incidence, axis=1, bitorder="little")
    return np.ascontiguousarray(packed), np.ascontiguousarray(bits.view("<u8").T)


def rate(
    vectors: Any, outputs: Any, scale_in: Any, scale_out: Any, starts: Any, bigrams: Any,
    incidence: Any, count_in: Any, count_out: Any, penalty: Any,
) -> Levels:  # fmt: skip
    """Compute levels; `outputs` and `incidence` come from :func:`pack`."""
    others = scale_in, scale_out, starts, bigrams, incidence, count_in, count_out, penalty
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


def nearest(
    vectors: Any, outputs: Any, scale_in: Any, scale_out: Any, starts: Any, bigrams: Any,
    incidence: Any, count_in: Any, count_out: Any, penalty: Any, count: int,
) -> NDArray[np.int32]:  # fmt: skip
    """Find the `count` outputs of highest level, as :func:`reference.nearest` of :func:`rate` does.

    Compiled loops rate only outputs whose cosine allows them to be among the nearest.
    """
    others = bigrams, incidence
    found = np.empty((len(vectors), count), dtype=np.int32)
    if _compiled is not None and outputs.dtype == np.uint8:
        _compiled.nearest_packed(
            np.ascontiguousarray(vectors, dtype=np.int8), outputs, scale_in, scale_out, starts,
            *others, count_in, count_out, penalty, found,
        )  # fmt: skip
        return found
    size = max(1, BLOCK // len(scale_out))  # so that the products take few megabytes
    for first in range(0, len(vectors), size):
        own = slice(first, first + size)
        places = starts[first : first + size + 1]
        if _compiled is None:
            levels = reference.rate(
                vectors[own], outputs, scale_in[own], scale_out, places, *others, count_in[own],
                count_out, penalty,
            )  # fmt: skip
            found[own] = reference.nearest(levels, count)
        else:
            _compiled.nearest(
                vectors[own].astype(np.float32) @ outputs, scale_in[own], scale_out, places,
                *others, count_in[own], count_out, penalty, found[own],
            )  # fmt: skip
    return found


def weigh(levels: Levels, table: Weights, total: int) -> tuple[Weights, Weights]:
    """Compute rows of weights and their sums before scaling."""
    if _compiled is None:
        return reference.weigh(levels, table, total)
    sums = np.empty(len(levels), dtype=np.int64)
    weights = np.empty(levels.shape, dtype=np.int64)
    _compiled.weigh(levels, table, sums, weights, total)
    return weights, sums


def widen(levels: Levels, table: Weights, total: int, low: Weights, high: Weights) -> Weights:
    """Weigh rows, extend `low` and `high`, and return the rows' sums."""
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
    """Draw from rows into `outputs`; return False if a row is not as measured."""
    draws = starts, order, words, outputs
    if _compiled is None:
        return reference.draw(levels, table, total, sums, low, high, *draws)
    unused = reference.unused_bits(total)
    return bool(_compiled.draw(levels, table, sums, low, high, *draws, total, unused))


def group(rows: NDArray[np.int32], inputs: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Group draws by input."""
    if _compiled is None:
        return reference.group(rows, inputs)
    starts = np.zeros(inputs + 1, dtype=np.int64)
    order = np.empty(rows.size, dtype=np.int32)
    _compiled.group(rows, starts, order)
    return starts, order
