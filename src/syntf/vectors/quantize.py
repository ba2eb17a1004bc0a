"""Rounding of word vectors to int8, and a record of what is wrong with them: shared by all readers.

A table with unusable rows is refused; the error has the place of the first fault and the number of
faults. Repairable rows are repaired, counted and noted. Word vectors are public, so errors may
quote their words.
"""

from collections import Counter
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


class Faults:
    """The faults of a table: the first one as a sentence, and the number of each kind."""

    def __init__(self) -> None:
        self._first = ""
        self._kinds = Counter[str]()

    def add(self, kind: str, sentence: str) -> None:
        """Record a fault. The sentence is shown if it is the first."""
        self._first = self._first or sentence
        self._kinds[kind] += 1

    def add_rows(self, largest: NDArray[np.float64], words: Sequence[str], before: int = 0) -> None:
        """Record rows that :func:`to_int8` could not scale or that have no word.

        `before` is the number of rows in earlier blocks.
        """
        nameless = np.array([not word for word in words], dtype=bool)
        for row in np.flatnonzero(~np.isfinite(largest) | (largest == 0) | nameless).tolist():
            word, place = words[row], word_number(before + row)
            if not word:
                self.add("without a word", f"{place} is empty")
                continue
            kind = "zero" if largest[row] == 0 else "not finite"
            self.add(kind, f"{place}: the vector of {quoted(word)} is {kind}")

    def check(self, source: object) -> None:
        """Raise SyntfError if any fault was recorded."""
        if self._kinds:
            counts = ", ".join(f"{count:,} {kind}" for kind, count in self._kinds.items())
            raise SyntfError(f"{source}: {self._first} (in all: {counts})")


def word_number(row: int) -> str:
    """Return the place of a row in a format without lines."""
    return f"word {row + 1:,}"


def quantize(
    words: Sequence[str], values: NDArray[np.generic], source: object = "the vectors"
) -> NDArray[np.int8]:
    """Return the int8 rows of an array, or raise if a row has no direction or no word."""
    if values.ndim != 2 or len(values) != len(words) or 0 in values.shape:
        raise SyntfError(f"{source}: vectors of shape {values.shape} do not fit {len(words)} words")
    if values.dtype.kind not in "fiu":
        raise SyntfError(f"{source}: vectors must be numbers, not {values.dtype}")
    matrix, largest = to_int8(values)
    faults = Faults()
    faults.add_rows(largest, words)
    faults.check(source)
    return matrix


def make_table(
    words: list[str], matrix: NDArray[np.int8], place: Callable[[int], str], notes: Sequence[str]
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
