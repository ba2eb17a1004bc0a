"""Estimate how much a word says about a topic, from public knowledge alone.

Nouns name topics, and so do words that no dictionary has: names, jargon, products. Common words say
less than rare ones. Of two equally common words, the one with the longer original vector says more,
because it occurs in fewer contexts. So a word that may name something weighs

    r / (r + 500) · (length / usual length)²

and any other word next to nothing. Here r is its rank in public texts, 1 for the most common word,
and the usual length is that of vectors of this rank. A language pack, the embedded one too, has the
weights of its words. For other vectors the lengths are unknown and left out of the formula, and
words are taken to be English.

The privacy loss does not depend on this module: it only decides which words of a document are
drawn.
"""

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError
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
    stored = np.load(vectors.pack.path("topical"), allow_pickle=False)
    if stored.shape != (len(vectors.words),) or not (stored > 0).all():
        raise SyntfError(f"{vectors.pack.path('topical')} is not one weight for each word")
    return np.asarray(stored, dtype=np.float64)


def weigh(
    names: NDArray[np.bool_], lengths: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Compute the weights of words, most frequent first.

    names : whether each word may name something.
    lengths : of the original vectors, if they are known.
    """
    ranks = np.arange(1.0, len(names) + 1)
    weights = _of_rank(ranks)
    if lengths is not None:
        place = np.log(10 + ranks)
        usual = np.polynomial.Polynomial.fit(place, lengths, 3)(place)
        weights *= (lengths / usual) ** 2
    return np.where(names, weights, OTHER_WEIGHT * weights)


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
        relative = topical_weights(vectors) / _of_rank(np.arange(1.0, len(vectors.words) + 1))
        return np.asarray(relative >= 20 * OTHER_WEIGHT)
    embedded = WordVectors.embedded()
    known = names_something(embedded)
    rows = (embedded.find(word) for word in vectors.words)
    return np.array([row is None or known[row] for row in rows], dtype=bool)


def _of_rank(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(ranks / (ranks + HALF_WEIGHT_RANK))
