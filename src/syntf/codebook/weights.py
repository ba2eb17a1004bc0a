"""How much a word, and how often a word, says about the topic of a document; public numbers."""

import math

import numpy as np
from numpy.typing import NDArray

from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.topicality import HALF_WEIGHT_RANK, OTHER_WEIGHT, topical_weights

PLAIN_WORD_WEIGHT = 0.3
"""The weight of a word that names nothing, compared with a word that may name something."""
WEIGHT_SCALE = 1 << 20
MOST_OCCURRENCES = 255


def plain_words(vectors: WordVectors) -> NDArray[np.bool_]:
    """Tell which words name nothing: words such as 'quickly' or 'large'."""
    rank = np.arange(1, len(vectors.words) + 1)
    return np.asarray(
        topical_weights(vectors) < 20 * OTHER_WEIGHT * (rank / (rank + float(HALF_WEIGHT_RANK)))
    )


def word_weights(vectors: WordVectors) -> NDArray[np.float32]:
    """Return how much each word says about a topic, from 0 to 1."""
    plain = plain_words(vectors)
    raised = np.minimum(np.where(plain, 1 / OTHER_WEIGHT, 1) * topical_weights(vectors), 1)
    return (raised * np.where(plain, PLAIN_WORD_WEIGHT, 1)).astype(np.float32)


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
