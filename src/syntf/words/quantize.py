"""Round word vectors to int8, and refuse those that have no direction or no word.

A cosine depends on directions only, so each vector is scaled until its largest component is ±127
and rounded. Word vectors are public, so errors may quote their words.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError, quoted

_BLOCK_ROWS = 1 << 13  # a block stays in the processor's cache

UNDECODABLE = "\ufffd"
"""The character that replaces bytes that are not UTF-8."""


class Table(NamedTuple):
    """Distinct words, their int8 vectors, and notes on repairs."""

    words: Sequence[str]
    matrix: NDArray[np.int8]
    notes: list[str]


def to_int8(values: NDArray[np.generic]) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Scale each row so that its largest component is ±127, and round it.

    Return the int8 rows and the largest component of each row before scaling. A row whose largest
    component is zero or not finite has no direction and becomes zeros.

    >>> rows, largest = to_int8(np.array([[1.0, -2.0], [0.0, np.inf]]))
    >>> rows.tolist(), largest.tolist()
    ([[64, -127], [0, 0]], [2.0, inf])
    """
    matrix = np.empty(values.shape, dtype=np.int8)
    largest = np.empty(len(values))
    for start in range(0, len(values), _BLOCK_ROWS):
        block = values[start : start + _BLOCK_ROWS].astype(np.float64)
        most = np.maximum(block.max(axis=1), -block.min(axis=1))
        bad = ~np.isfinite(most) | (most == 0)
        largest[start : start + _BLOCK_ROWS] = most
        block[bad], most[bad] = 0, 1
        block /= most[:, None]
        block *= 127
        np.rint(block, out=block)
        np.copyto(matrix[start : start + _BLOCK_ROWS], block, casting="unsafe")
    return matrix, largest


def word_number(row: int) -> str:
    """Return the place of a row in a format without lines."""
    return f"word {row + 1:,}"


def quantize(
    words: Sequence[str],
    values: NDArray[np.generic],
    source: object = "the vectors",
    place: Callable[[int], str] = word_number,
) -> NDArray[np.int8]:
    """Return the int8 rows of an array, or raise if a row has no direction or no word."""
    if values.ndim != 2 or len(values) != len(words) or 0 in values.shape:
        raise SyntfError(f"{source}: vectors of shape {values.shape} do not fit {len(words)} words")
    if values.dtype.kind not in "fiu":
        raise SyntfError(f"{source}: vectors must be numbers, not {values.dtype}")
    matrix, largest = to_int8(values)
    nameless = np.array([not word for word in words], dtype=bool)
    faults = np.flatnonzero(~np.isfinite(largest) | (largest == 0) | nameless)
    if len(faults):
        row = int(faults[0])
        what = "zero" if largest[row] == 0 else "not finite"
        raise SyntfError(
            f"{source}: {place(row)} has no word; remove it"
            if nameless[row]
            else f"{source}: {place(row)}: the vector of {quoted(words[row])} is {what}; remove it"
        )
    return matrix


def make_table(
    words: list[str],
    matrix: NDArray[np.int8],
    notes: Sequence[str] = (),
    place: Callable[[int], str] = word_number,
) -> Table:
    """Return a table of distinct words: a repeated word keeps its first vector, with a note."""
    notes = list(notes)
    undecodable = [row for row, word in enumerate(words) if UNDECODABLE in word]
    if undecodable:
        notes.append(
            f"{len(undecodable):,} words hold bytes that are not UTF-8, read as {UNDECODABLE} "
            f"(the first: {place(undecodable[0])})"
        )
    first: dict[str, int] = {}
    repeats = [row for row, word in enumerate(words) if first.setdefault(word, row) != row]
    if repeats:
        notes.append(
            f"{len(repeats):,} words are repeated; the first vector of each is kept "
            f"(first repetition: {quoted(words[repeats[0]])}, {place(repeats[0])})"
        )
        words, matrix = list(first), matrix[list(first.values())]
    return Table(words, matrix, notes)
