"""The inner loops in NumPy: the definition of every integer the mechanism uses.

``_kernels.c`` computes the same in one pass each, for speed, and gives the same integers, bit for
bit (``tests/mechanism/test_kernels.py``). The only floating-point steps are single products, one
division and conversions, whose results IEEE 754 fixes; no sum of floats is ever rounded.
"""

import numpy as np
from numpy.typing import NDArray

from syntf.core.exact import GRID

Levels = NDArray[np.uint16]
"""Ratings as multiples of 1/GRID."""
Weights = NDArray[np.int64]
"""Integer weights of outputs."""

MAX_BIGRAMS = 255
"""How many distinct bigrams of a word count for its spelling: a count fits in a byte."""


def rate(
    vectors: NDArray[np.int8],
    outputs: NDArray[np.float32],
    scale_in: NDArray[np.float32],
    scale_out: NDArray[np.float32],
    starts: NDArray[np.int64],
    bigrams: NDArray[np.int64],
    incidence: NDArray[np.uint8],
    count_in: NDArray[np.uint8],
    count_out: NDArray[np.uint8],
    penalty: NDArray[np.uint16],
) -> Levels:
    """Return levels of cosine minus spelling penalty, clipped at 0, for a block of input words.

    Parameters
    ----------
    vectors : one row for each input word of the block.
    outputs : one column for each output word. Both hold integers below 128 in absolute value,
        whose products float32 sums exactly.
    scale_in, scale_out : sqrt(GRID)/norm of each vector.
    starts, bigrams : ``bigrams[starts[r]:starts[r+1]]`` are the bigrams of input word r.
    incidence : bigrams × output words, 1 where the word has the bigram.
    count_in, count_out : the number of bigrams of each word.
    penalty : ``penalty[c, m + n]`` is the level of s·2c/(m+n), for c shared bigrams of words
        with m and n bigrams.
    """
    dot = vectors.astype(np.float32) @ outputs
    levels = np.rint(dot * (scale_in[:, None] * scale_out)).astype(np.int32)
    for row in range(len(vectors)):
        shared = incidence[bigrams[starts[row] : starts[row + 1]]].sum(axis=0)
        levels[row] -= penalty[shared, count_in[row] + count_out.astype(np.intp)]
    return np.maximum(levels, 0).astype(np.uint16)


def nearest(levels: Levels, count: int) -> NDArray[np.int32]:
    """Return the `count` outputs of highest level in each row; of equal ones, the first.

    The best output comes first.
    """
    rows = np.arange(len(levels))
    left = levels.astype(np.int32)
    found = np.empty((len(levels), count), dtype=np.int32)
    for place in range(count):
        found[:, place] = best = left.argmax(axis=1)  # the first of equal levels
        left[rows, best] = -1
    return found


def weigh(levels: Levels, table: Weights, total: int) -> tuple[Weights, Weights]:
    """Return rows of integer weights that sum to `total`, and the rows' sums before scaling.

    ``table[GRID - d]`` is the weight of an output d levels below the row's best. Each weight is
    that times total/sum, rounded. As total/sum is at least 2, a weight is never below the table's,
    hence never 0. The rounding difference (at most 2**-51 of the total and half a unit for each
    column) is added to the row's first best output, which holds at least total/outputs.
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
    """Weigh rows, extend `low` and `high` in place to include them, and return the rows' sums."""
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
    """Draw from rows into `outputs`: the exact sampler. Return False if a row is not as measured.

    Row r makes the draws ``i in order[starts[r]:starts[r+1]]``. The top bits of ``words[i]`` are
    an integer below `total`, a power of two, and ``outputs[i]`` is the output at that point of the
    row: output w is chosen for exactly ``weight[w]`` of all points. If a row's sum differs from
    `sums` or a weight lies outside [low, high], the contents of `outputs` are void.
    """
    weights, found_sums = weigh(levels, table, total)
    if (found_sums != sums).any() or (weights < low).any() or (weights > high).any():
        return False
    for row, ends in enumerate(np.cumsum(weights, axis=1)):
        draws = order[starts[row] : starts[row + 1]]
        points = (words[draws] >> np.uint64(unused_bits(total))).astype(np.int64)
        outputs[draws] = np.searchsorted(ends, points, side="right")
    return True


def unused_bits(total: int) -> int:
    """Return how many of 64 random bits a point below `total`, a power of two, leaves unused."""
    return 65 - total.bit_length()


def group(rows: NDArray[np.int32], inputs: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Group draws by input: those of input v are ``order[starts[v]:starts[v+1]]``, ascending."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=inputs))])
    return starts.astype(np.int64), np.argsort(rows, kind="stable").astype(np.int32)
