"""The letter bigrams of words, for the spelling penalty of the paper's rating."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from syntf.core.parallel import in_blocks
from syntf.mechanism.reference import MAX_BIGRAMS

T = TypeVar("T")

_BLOCK_WORDS = 1 << 13  # small enough for a cache; a word's number and its bigram fit in 64 bits
_LETTER_BITS = 21  # for a code point, or for "no letter"
_SECOND_LETTER = (1 << _LETTER_BITS) - 1
_MOST_LETTERS = 1000  # up to here a table of all pairs is used


@dataclass(frozen=True)
class BigramTable:
    """The bigrams of input and output words, numbered from 0; for inputs only those outputs have.

    Output word ``output_words[i]`` has bigram ``output_bigrams[i]``. Input word v has bigrams
    ``input_bigrams[input_starts[v]:input_starts[v+1]]``. The counts include all bigrams of a word.
    """

    output_words: NDArray[np.int64]
    output_bigrams: NDArray[np.int64]
    output_counts: NDArray[np.uint8]
    input_counts: NDArray[np.uint8]
    input_starts: NDArray[np.int64]
    input_bigrams: NDArray[np.int64]

    @classmethod
    def build(cls, inputs: Sequence[str], outputs: Sequence[str]) -> "BigramTable":
        """Number the bigrams of at least one input word and at least one output word."""
        output_words, output_codes = _bigram_codes(outputs)
        number_of = Numbering(_sorted_distinct(output_codes))

        def number_block(words: Sequence[str]) -> tuple[NDArray[np.int64], ...]:
            index, codes = _block_codes(words)
            ids = number_of(codes)
            shared = ids >= 0
            sizes = np.bincount(index, minlength=len(words))
            return sizes, np.bincount(index[shared], minlength=len(words)), ids[shared]

        sizes, shared, ids = zip(*_in_blocks(inputs, number_block), strict=True)
        return cls(
            output_words=output_words,
            output_bigrams=number_of(output_codes),
            output_counts=np.bincount(output_words, minlength=len(outputs)).astype(np.uint8),
            input_counts=np.concatenate(sizes).astype(np.uint8),
            input_starts=np.concatenate([[0], np.cumsum(np.concatenate(shared))]).astype(np.int64),
            input_bigrams=np.concatenate(ids),
        )

    def incidence(self) -> NDArray[np.uint8]:
        """Return a bigrams × outputs array, 1 where the output has the bigram. It is large."""
        rows = int(self.output_bigrams.max()) + 1
        table = np.zeros((rows, len(self.output_counts)), dtype=np.uint8)
        table[self.output_bigrams, self.output_words] = 1
        return table


def bigrams(word: str) -> list[str]:
    """Return the distinct letter bigrams of a word, case ignored, in a fixed order.

    >>> bigrams("Banana"), bigrams("x")
    (['an', 'ba', 'na'], ['x'])
    """
    letters = word.lower()
    return sorted({letters[i : i + 2] for i in range(max(1, len(letters) - 1))})[:MAX_BIGRAMS]


def _in_blocks(words: Sequence[str], work: Callable[[Sequence[str]], T]) -> Iterator[T]:
    """Call `work` for blocks of at least one word on several threads; yield in order."""
    return in_blocks(lambda own: work(words[own]), len(words), _BLOCK_WORDS)


def _bigram_codes(words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return :func:`bigrams` of all words as two arrays: the word's index and the bigram's code."""
    blocks = list(_in_blocks(words, _block_codes))
    indices = [index + _BLOCK_WORDS * number for number, (index, _) in enumerate(blocks)]
    return np.concatenate(indices), np.concatenate([codes for _, codes in blocks])


def _block_codes(words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    lowered = [word.lower() for word in words]
    text = "".join(lowered).encode("utf-32-le", "surrogatepass")
    letters = np.concatenate([np.frombuffer(text, dtype="<u4"), [0, 0]]).astype(np.int64) + 1
    lengths = np.array([len(word) for word in lowered], dtype=np.int64)
    counts = np.maximum(1, lengths - 1)
    word = np.repeat(np.arange(len(words)), counts)
    # The position of each bigram's first letter among all letters.
    starts = np.cumsum(counts) - counts
    place = np.arange(len(word)) + np.repeat(np.cumsum(lengths) - lengths - starts, counts)
    first, second = letters[place], letters[place + 1]
    first[starts[lengths == 0]] = second[starts[lengths < 2]] = 0
    distinct = _sorted_distinct((word << (2 * _LETTER_BITS)) | (first << _LETTER_BITS) | second)
    if counts.max(initial=0) > MAX_BIGRAMS:
        word = distinct >> (2 * _LETTER_BITS)
        rank = np.arange(len(word)) - np.searchsorted(word, word)
        distinct = distinct[rank < MAX_BIGRAMS]
    return distinct >> (2 * _LETTER_BITS), distinct & ((1 << (2 * _LETTER_BITS)) - 1)


class Numbering:
    """Gives each of some codes its place among them, and -1 to any other code.

    Both letters of a code are looked up in a table of the known letters, and then the pair. A table
    of all pairs would be large where words have very many letters, such as Chinese ones.

    known : the codes, distinct and ascending.

    >>> number_of = Numbering(np.array([7, 9 << _LETTER_BITS]))
    >>> number_of(np.array([5 << _LETTER_BITS, 7])).tolist()
    [-1, 0]
    """

    def __init__(self, known: NDArray[np.int64]) -> None:
        self._known = known
        first, second = known >> _LETTER_BITS, known & _SECOND_LETTER
        letters = _sorted_distinct(np.concatenate([first, second]))
        self._pairs: NDArray[np.int64] | None = None
        if len(letters) > _MOST_LETTERS:
            return
        self._letter = np.zeros(1 << _LETTER_BITS, dtype=np.int64)  # 0: a letter of no known code
        self._letter[letters] = np.arange(1, len(letters) + 1)
        self._width = len(letters) + 1
        self._pairs = np.full(self._width * self._width, -1, dtype=np.int64)
        self._pairs[self._pair_of(known)] = np.arange(len(known))

    def __call__(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of some codes."""
        if self._pairs is not None:
            return self._pairs[self._pair_of(codes)]
        found = np.minimum(np.searchsorted(self._known, codes), len(self._known) - 1)
        return np.where(self._known[found] == codes, found, -1)

    def _pair_of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        first = self._letter[codes >> _LETTER_BITS]
        return np.asarray(first * self._width + self._letter[codes & _SECOND_LETTER])


def _sorted_distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what ``np.unique`` returns; sorting is faster than its hash table."""
    ordered = np.sort(numbers)
    distinct: NDArray[np.int64] = ordered[np.diff(ordered, prepend=-1) != 0]
    return distinct
