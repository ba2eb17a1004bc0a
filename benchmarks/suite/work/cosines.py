"""Ratings for libraries that do not work with words: cosines of a few words to all words."""

import numpy as np

from suite.work.spell import read_words

WORDS = 20
"""Number of distinct words. Each needs its own list; all take equally long."""


def read_cosines(vectors: str, words: str) -> dict[str, list[float]]:
    """Return for some words their cosines to every word of the file, clipped to [0, 1]."""
    with open(vectors, encoding="utf-8") as file:
        table = {word: numbers for word, *numbers in map(str.split, file)}
    matrix = np.array([[float(x) for x in row] for row in table.values()], dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    place = {word: row for row, word in enumerate(table)}
    chosen = list(dict.fromkeys(read_words(words)))[:WORDS]
    return {
        word: np.clip(matrix @ matrix[place[word]], 0, 1).astype(float).tolist() for word in chosen
    }
