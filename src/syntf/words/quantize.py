"""Round word vectors to int8, and refuse those that have no direction or no word.

A cosine depends on directions only, so each vector is scaled until its largest component is ±127
and rounded. Word vectors are public, so errors may quote their words.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError, quoted

_BLOCK_ROWS = 1 << 13  # a block stays in the processor's cache


class Table(NamedTuple):
    """Distinct words and their int8 vectors."""

    words: Sequence[str]
    matrix: NDArray[np.int8]


def quantize(
    words: Sequence[str], values: NDArray[np.generic], source: object = "the vectors"
) -> NDArray[np.int8]:
    """Scale each row so that its largest component is ±127, and round it.

    Raise SyntfError if a row has no direction, since it is zero or not finite, or no word.

    >>> quantize(["cat"], np.array([[1.0, -2.0]])).tolist()
    [[64, -127]]
    """
    if values.ndim != 2 or len(values) != len(words) or 0 in values.shape:
        raise SyntfError(f"{source}: vectors of shape {values.shape} do not fit {len(words)} words")
    if values.dtype.kind not in "fiu":
        raise SyntfError(f"{source}: vectors must be numbers, not {values.dtype}")
    matrix = np.empty(values.shape, dtype=np.int8)
    for start in range(0, len(values), _BLOCK_ROWS):
        block = values[start : start + _BLOCK_ROWS].astype(np.float64)
        largest = np.maximum(block.max(axis=1), -block.min(axis=1))
        for row in np.flatnonzero(~np.isfinite(largest) | (largest == 0)).tolist():
            what = "zero" if largest[row] == 0 else "not finite"
            raise SyntfError(
                f"{source}: the vector of {quoted(words[start + row])} is {what}; remove it"
            )
        block /= largest[:, None]
        block *= 127
        np.rint(block, out=block)
        np.copyto(matrix[start : start + _BLOCK_ROWS], block, casting="unsafe")
    if "" in words:
        raise SyntfError(f"{source}: a vector has no word; remove it")
    return matrix


def distinct(words: Sequence[str], matrix: NDArray[np.int8]) -> Table:
    """Return a table of distinct words: a repeated word keeps its first vector."""
    first: dict[str, int] = {}
    for row, word in enumerate(words):
        first.setdefault(word, row)
    return Table(list(first), matrix if len(first) == len(words) else matrix[[*first.values()]])
