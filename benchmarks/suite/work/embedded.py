"""The first words of the embedded table, and a rating over them."""

import numpy as np
from numpy.typing import NDArray

from syntf.mechanism.rating import WordRating
from syntf.vectors.word_vectors import WordVectors

STRIDE = 7919
"""A prime number, so that draws jump through the vocabulary in a fixed order."""


def first_words(count: int) -> tuple[list[str], NDArray[np.int8]]:
    """Return words and vectors, words of ASCII letters first: other systems know these too."""
    vectors = WordVectors.embedded()
    words = vectors.words
    rows = sorted(range(len(words)), key=lambda row: (not _plain(words[row]), row))[:count]
    return [words[row] for row in rows], np.ascontiguousarray(vectors.matrix[rows])


def rating(count: int) -> WordRating:
    words, matrix = first_words(count)
    return WordRating(words, matrix, words, matrix, spelling=0.3)


def zipf(inputs: int, draws: int) -> NDArray[np.intp]:
    """Return input words to draw for by Zipf's law: equally many for each power of ten."""
    ranks = inputs ** (np.arange(draws) * STRIDE % draws / draws)
    return ranks.astype(np.intp) - 1


def _plain(word: str) -> bool:
    return word.isascii() and word.isalpha()
