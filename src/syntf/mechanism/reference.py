"""The inner loops in NumPy: the definition of every integer the mechanism uses.

``_kernels.c`` repeats them in one pass each, for speed, and gives the same
integers, bit for bit (``tests/mechanism/test_kernels.py``). The only floating-point steps
are single products, one division and conversions, which IEEE 754 fixes; no sum
of floats is ever rounded.
"""

import numpy as np
from numpy.typing import NDArray

from syntf.core.exact import GRID

Levels = NDArray[np.uint16]
Weights = NDArray[np.int64]

MOST_BIGRAMS = 255
"""Distinct bigrams of a word that count for its spelling; counts fit in a byte."""


def rate(
    vectors: NDArray[np.int8],
    outputs: NDArray[np.float32],
    scale_in: NDArray[np.float32],
    scale_out: NDArray[np.float32],
    ptr: NDArray[np.int64],
    ids: NDArray[np.int64],
    has_bigram: NDArray[np.uint8],
    count_in: NDArray[np.uint8],
    count_out: NDArray[np.uint8],
    penalty: NDArray[np.uint16],
) -> Levels:
    """Levels of cosine minus spelling penalty, clipped at 0, for one block of input words.

    `vectors` holds theirs, one a row, and `outputs` those of the output words, one a column:
    whole numbers below 128, whose products float32 holds exactly. ``scale = sqrt(GRID)/norm``,
    ``ids[ptr[r]:ptr[r+1]]`` are the letter bigrams of input word r, as rows of
    `has_bigram` (bigram × output word, 0 or 1), and ``penalty[c, m + n]`` is the
    level of s·2c/(m+n), for c shared bigrams of words with m and n.
    """
    dot = vectors.astype(np.float32) @ outputs
    levels = np.rint(dot * (scale_in[:, None] * scale_out)).astype(np.int32)
    for row in range(len(vectors)):
        shared = has_bigram[ids[ptr[row] : ptr[row + 1]]].sum(axis=0)
        levels[row] -= penalty[shared, count_in[row] + count_out.astype(np.intp)]
    return np.maximum(levels, 0).astype(np.uint16)


def weigh(levels: Levels, table: Weights, total: int) -> tuple[Weights, Weights]:
    """Rows of integer weights that sum to `total`, and the rows' sums before scaling.

    ``table[GRID - d]`` is the weight of an output d levels below the row's best. Each weight
    is that times total/sum, rounded; as total/sum is at least 2, it is never below the
    table's, hence never 0. What rounding leaves or takes (at most 2**-51 of the total and
    half a unit a column) is settled on the row's first best output, which holds at least
    total/outputs.
    """
    best = levels.argmax(axis=1)
    rows = np.arange(len(levels))
    unscaled = table[levels + (GRID - levels[rows, best])[:, None]]
    sums = unscaled.sum(axis=1)
    scale = float(total) / sums.astype(np.float64)
    weights = np.rint(unscaled * scale[:, None]).astype(np.int64)
    weights[rows, best] += total - weights.sum(axis=1)
    return weights, sums


def widen(levels: Levels, table: Weights, total: int, low: Weights, high: Weights) -> Weights:
    """Weigh the rows, lower `low` and raise `high` to include them; return their sums."""
    weights, sums = weigh(levels, table, total)
    np.minimum(low, weights.min(axis=0), out=low)
    np.maximum(high, weights.max(axis=0), out=high)
    return sums


def draw(
    levels: Levels,
    table: Weights,
    total: int,
    sums: Weights,
    low: Weights,
    high: Weights,
    starts: NDArray[np.int64],
    order: NDArray[np.int32],
    words: NDArray[np.uint64],
    outputs: NDArray[np.int32],
) -> bool:
    """For row r, ``outputs[i]`` at the point that ``words[i]`` gives, for its draws i.

    Those are ``order[starts[r]:starts[r+1]]``, and points the top bits of 64: integers below
    `total`, a power of two. An output w is chosen for exactly ``weight[w]`` of them: the exact
    sampler. False, and what `outputs` holds is void, if any row is not the one accounted for:
    its sum differs from `sums`, or a weight leaves [low, high].
    """
    weights, found = weigh(levels, table, total)
    if (found != sums).any() or (weights < low).any() or (weights > high).any():
        return False
    for row, upto in enumerate(np.cumsum(weights, axis=1)):
        draws = order[starts[row] : starts[row + 1]]
        points = (words[draws] >> np.uint64(unused_bits(total))).astype(np.int64)
        outputs[draws] = np.searchsorted(upto, points, side="right")
    return True


def unused_bits(total: int) -> int:
    """How many of 64 random bits a point below `total`, a power of two, leaves unused."""
    return 65 - total.bit_length()


def group(rows: NDArray[np.int32], inputs: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Draws by input: those of input v are ``order[starts[v]:starts[v+1]]``, in their order."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=inputs))])
    return starts.astype(np.int64), np.argsort(rows, kind="stable").astype(np.int32)
