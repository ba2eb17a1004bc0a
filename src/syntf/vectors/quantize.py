"""What all readers of word vectors share: rounding to int8, and an account of what is wrong.

What cannot be used is refused with its place and how many there are; what can be mended
is mended, counted and noted. Word vectors are public, so words may be quoted.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError, quoted

ROWS = 1 << 13
"""Rows rounded at once: a block stays in the processor's cache."""

UNDECODABLE = "\ufffd"
"""What stands for bytes that are not UTF-8."""


class Table(NamedTuple):
    """Distinct words, their int8 vectors, and what was mended on the way."""

    words: Sequence[str]
    matrix: NDArray[np.int8]
    notes: list[str]


def to_int8(values: NDArray[np.generic]) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Each row stretched until its largest component is ±127, and rounded; and what that was.

    A row whose largest component is zero or not finite has no direction: it comes out as zeros.
    """
    matrix = np.empty(values.shape, dtype=np.int8)
    largest = np.empty(len(values))
    for start in range(0, len(values), ROWS):
        block = values[start : start + ROWS].astype(np.float64)
        most = np.maximum(block.max(axis=1), -block.min(axis=1))
        bad = ~np.isfinite(most) | (most == 0)
        largest[start : start + ROWS] = most
        block[bad], most[bad] = 0, 1
        block /= most[:, None]
        block *= 127
        np.rint(block, out=block)
        np.copyto(matrix[start : start + ROWS], block, casting="unsafe")
    return matrix, largest


class Faults:
    """What makes a table unusable: the first fault in words, and a count of each kind."""

    def __init__(self) -> None:
        self._first = ""
        self._kinds = Counter[str]()

    def add(self, kind: str, said: str) -> None:
        """A fault; `said` is shown if it is the first."""
        self._first = self._first or said
        self._kinds[kind] += 1

    def add_rows(self, largest: NDArray[np.float64], words: Sequence[str], above: int = 0) -> None:
        """The rows that :func:`to_int8` could not round, or without a word; `above` come before."""
        nameless = np.array([not word for word in words], dtype=bool)
        for row in np.flatnonzero(~np.isfinite(largest) | (largest == 0) | nameless).tolist():
            word, place = words[row], word_number(above + row)
            if not word:
                self.add("without a word", f"{place} is empty")
                continue
            kind = "zero" if largest[row] == 0 else "not finite"
            self.add(kind, f"{place}: the vector of {quoted(word)} is {kind}")

    def check(self, source: object) -> None:
        """Refuse the table if anything is wrong with it."""
        if self._kinds:
            counts = ", ".join(f"{count:,} {kind}" for kind, count in self._kinds.items())
            raise SyntfError(f"{source}: {self._first} (in all: {counts})")


def word_number(row: int) -> str:
    """The place of a row where there are no lines to count."""
    return f"word {row + 1:,}"


def rounded(
    words: Sequence[str], values: NDArray[np.generic], source: object = "the vectors"
) -> NDArray[np.int8]:
    """The int8 rows of an array in memory, refused if any has no direction or no word."""
    if values.ndim != 2 or len(values) != len(words) or 0 in values.shape:
        raise SyntfError(f"{source}: vectors of shape {values.shape} do not fit {len(words)} words")
    if values.dtype.kind not in "fiu":
        raise SyntfError(f"{source}: vectors must be numbers, not {values.dtype}")
    matrix, largest = to_int8(values)
    faults = Faults()
    faults.add_rows(largest, words)
    faults.check(source)
    return matrix


def table(
    words: list[str], matrix: NDArray[np.int8], place: Callable[[int], str], notes: Sequence[str]
) -> Table:
    """The table of faultless rows: a word that comes again keeps its first vector."""
    notes = list(notes)
    odd = [row for row, word in enumerate(words) if UNDECODABLE in word]
    if odd:
        notes.append(
            f"{len(odd):,} words hold bytes that are not UTF-8, read as {UNDECODABLE} "
            f"(the first: {place(odd[0])})"
        )
    first: dict[str, int] = {}
    again = [row for row, word in enumerate(words) if first.setdefault(word, row) != row]
    if again:
        notes.append(
            f"{len(again):,} words come again and were left out, the first vector of each is kept "
            f"(the first: {quoted(words[again[0]])}, {place(again[0])})"
        )
        words, matrix = list(first), matrix[list(first.values())]
    return Table(words, matrix, notes)
