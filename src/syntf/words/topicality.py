"""Estimate how much a word says about a topic, from public knowledge alone.

Nouns name topics, and so do words that no dictionary has: names, jargon, products. Common words say
less than rare ones. Of two equally common words, the one with the longer original vector says more,
because it occurs in fewer contexts. So a word that may name something weighs

    r / (r + 500) · (length / usual length)²

and any other word next to nothing. Here r is its rank in public texts, 1 for the most common word,
and the usual length is that of vectors of this rank. A language pack has the weights of its words.
Only those of the embedded one were made with the lengths, which are unknown otherwise and left out
of the formula. The words of vectors without a pack are taken to be English.

The privacy loss does not depend on this module: it only decides which words of a document are
drawn.
"""

import numpy as np
from numpy.typing import NDArray

from syntf.words.vectors import WordVectors

HALF_WEIGHT_RANK = 500
"""The rank at which a word weighs half as much as a rare one."""

OTHER_WEIGHT = 1e-4
"""The factor for a word that names nothing; above 0, so that a text of such words has a θ."""


def topical_weights(vectors: WordVectors) -> NDArray[np.float64]:
    """Return the weight of each word, most frequent first.

    >>> vectors = WordVectors.embedded()
    >>> weights = topical_weights(vectors)
    >>> [round(float(weights[vectors.find(word)]), 3) for word in ("year", "engine", "quickly")]
    [0.099, 1.145, 0.0]
    """
    if vectors.pack is None:
        return weigh(names_something(vectors))
    return np.asarray(np.load(vectors.pack.path("topical")), dtype=np.float64)


def weigh(names: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the weights of words of unknown lengths, most frequent first.

    names : whether each word may name something.
    """
    return _weights_of_ranks(len(names)) * np.where(names, 1, OTHER_WEIGHT)


def names_something(vectors: WordVectors) -> NDArray[np.bool_]:
    """Tell for each word whether it can be a noun, or is missing from the lexicon.

    The weights of a pack show it: they differ by a factor of 10,000. Other vectors are looked up in
    the embedded pack.

    >>> vectors = WordVectors.embedded()
    >>> names = names_something(vectors)
    >>> [bool(names[vectors.find(word)]) for word in ("engine", "quickly", "ibm", "run")]
    [True, False, True, True]
    """
    if vectors.pack is not None:
        relative = topical_weights(vectors) / _weights_of_ranks(len(vectors.words))
        return np.asarray(relative >= 20 * OTHER_WEIGHT)
    embedded = WordVectors.embedded()
    known = names_something(embedded)
    rows = (embedded.find(word) for word in vectors.words)
    return np.array([row is None or known[row] for row in rows], dtype=bool)


def _weights_of_ranks(count: int) -> NDArray[np.float64]:
    ranks = np.arange(1.0, count + 1)
    return ranks / (ranks + HALF_WEIGHT_RANK)
