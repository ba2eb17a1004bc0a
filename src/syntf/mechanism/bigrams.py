"""The letter bigrams that words share: what the paper's rating holds against a substitute."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntf.mechanism.reference import MOST_BIGRAMS

WORDS = 1 << 16  # spelled at once: a word's number and its bigram fit in 64 bits
LETTER = 21  # bits of a letter's code, and of one more: no letter


@dataclass(frozen=True)
class Spelling:
    """Which bigrams words have, numbered from 0: for inputs only those that some output has.

    Output ``word_out[i]`` has bigram ``bigram_out[i]``; input v has ``ids[ptr[v]:ptr[v+1]]``.
    The counts are of all bigrams of a word.
    """

    word_out: NDArray[np.int64]
    bigram_out: NDArray[np.int64]
    count_out: NDArray[np.uint8]
    count_in: NDArray[np.uint8]
    ptr: NDArray[np.int64]
    ids: NDArray[np.int64]

    @classmethod
    def of(cls, inputs: Sequence[str], outputs: Sequence[str]) -> "Spelling":
        """Of the words, at least one input and one output."""
        word_out, bigram_out = _spelled(outputs)
        known = _distinct(bigram_out)
        word_in, bigram_in = _spelled(inputs)
        ids = np.minimum(np.searchsorted(known, bigram_in), len(known) - 1)
        shared = known[ids] == bigram_in
        counts = np.bincount(word_in[shared], minlength=len(inputs))
        return cls(
            word_out=word_out,
            bigram_out=np.searchsorted(known, bigram_out),
            count_out=np.bincount(word_out, minlength=len(outputs)).astype(np.uint8),
            count_in=np.bincount(word_in, minlength=len(inputs)).astype(np.uint8),
            ptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            ids=ids[shared].astype(np.int64),
        )

    def has_bigram(self) -> NDArray[np.uint8]:
        """Bigrams × outputs, 1 where the output has it: large, so made when it is needed."""
        rows = int(self.bigram_out.max()) + 1
        table = np.zeros((rows, len(self.count_out)), dtype=np.uint8)
        table[self.bigram_out, self.word_out] = 1
        return table


def bigrams(word: str) -> list[str]:
    """The distinct letter bigrams of a word, case ignored, in a fixed order.

    >>> bigrams("Banana"), bigrams("x")
    (['an', 'ba', 'na'], ['x'])
    """
    letters = word.lower()
    return sorted({letters[i : i + 2] for i in range(max(1, len(letters) - 1))})[:MOST_BIGRAMS]


def _spelled(words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """:func:`bigrams` of all words: the word's number and a number of the bigram, for each."""
    parts = [_some(words[first : first + WORDS]) for first in range(0, len(words), WORDS)]
    owners = [word + WORDS * part for part, (word, _) in enumerate(parts)]
    return np.concatenate(owners), np.concatenate([bigram for _, bigram in parts])


def _some(words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    lowered = [word.lower() for word in words]
    text = "".join(lowered).encode("utf-32-le", "surrogatepass")
    codes = np.concatenate([np.frombuffer(text, dtype="<u4"), [0, 0]]).astype(np.int64) + 1
    lengths = np.array([len(word) for word in lowered], dtype=np.int64)
    counts = np.maximum(1, lengths - 1)
    word = np.repeat(np.arange(len(words)), counts)
    # From a place among all bigrams to one among all letters.
    place = np.arange(len(word)) + np.repeat(_before(lengths) - _before(counts), counts)
    first = np.where(lengths[word] > 0, codes[place], 0)
    second = np.where(lengths[word] > 1, codes[place + 1], 0)
    distinct = _distinct((word << (2 * LETTER)) | (first << LETTER) | second)
    word = distinct >> (2 * LETTER)
    rank = np.arange(len(word)) - np.searchsorted(word, word)
    kept = distinct[rank < MOST_BIGRAMS]
    return kept >> (2 * LETTER), kept & ((1 << (2 * LETTER)) - 1)


def _distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """``np.unique``, which would look each up in a table of its own: sorting is faster."""
    ordered = np.sort(numbers)
    distinct: NDArray[np.int64] = ordered[np.diff(ordered, prepend=-1) != 0]
    return distinct


def _before(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of all counts before each."""
    return np.cumsum(counts) - counts
