"""How much a word, and how often a word, says about the topic of a document; public numbers."""

import math

import numpy as np
from numpy.typing import NDArray

from syntf.words.topicality import OTHER_WEIGHT, names_something, topical_weights
from syntf.words.vectors import WordVectors

PLAIN_WORD_WEIGHT = 0.3
"""The weight of a word that names nothing, compared with a word that may name something."""
WEIGHT_SCALE = 1 << 20
MOST_OCCURRENCES = 255


def word_weights(vectors: WordVectors) -> NDArray[np.float32]:
    """Return how much each word says about a topic, from 0 to 1."""
    named = names_something(vectors)
    raised = np.minimum(np.where(named, 1, 1 / OTHER_WEIGHT) * topical_weights(vectors), 1)
    return (raised * np.where(named, 1, PLAIN_WORD_WEIGHT)).astype(np.float32)


def integer_weights(weights: NDArray[np.floating], vectors: NDArray[np.int8]) -> NDArray[np.uint16]:
    """Divide weights by the lengths of the int8 vectors, and round them to integers."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    scaled = weights * WEIGHT_SCALE / np.maximum(lengths, 1)
    rounded: NDArray[np.uint16] = np.minimum(np.rint(scaled), 65_535).astype(np.uint16)
    return rounded


def occurrence_weights() -> NDArray[np.uint8]:
    """Return 16 times 1 + log n for n = 1 … 255 occurrences, and 0 for none."""
    logarithms = [round(16 * (1 + math.log(times))) for times in range(1, MOST_OCCURRENCES + 1)]
    return np.array([0, *logarithms], dtype=np.uint8)
