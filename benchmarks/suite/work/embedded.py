"""The first words of the embedded table that are words, and a rating over them."""

import numpy as np
from numpy.typing import NDArray

from syntf.mechanism.rating import WordRating
from syntf.vectors.word_vectors import WordVectors

STRIDE = 7919
"""A prime: draws come in an order that jumps through the vocabulary, the same every time."""


def first_words(count: int) -> tuple[list[str], NDArray[np.int8]]:
    """Words of letters first, so that other systems know them too; what remains follows."""
    vectors = WordVectors.embedded()
    words = vectors.words
    rows = sorted(range(len(words)), key=lambda row: (not _plain(words[row]), row))[:count]
    return [words[row] for row in rows], np.ascontiguousarray(vectors.matrix[rows])


def rating(count: int) -> WordRating:
    words, matrix = first_words(count)
    return WordRating(words, matrix, words, matrix, spelling=0.3)


def zipf(inputs: int, draws: int) -> NDArray[np.intp]:
    """Inputs to draw for, frequent ones more often: as many for each power of ten of the rank."""
    ranks = inputs ** (np.arange(draws) * STRIDE % draws / draws)
    return ranks.astype(np.intp) - 1


def _plain(word: str) -> bool:
    return word.isascii() and word.isalpha()
