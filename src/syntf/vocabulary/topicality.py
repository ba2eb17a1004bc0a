"""Estimate how much a word says about a topic, from public knowledge alone.

Nouns name topics, and so do words that no dictionary has: names, jargon, products. Common words say
less than rare ones. Of two equally common words, the one with the longer original vector says more,
because it occurs in fewer contexts. So a word that may name something weighs

    r / (r + 500) · (length / usual length)²

and any other word next to nothing. Here r is its rank in public texts, 1 for the most common word,
and the usual length is that of vectors of this rank. A language pack, the embedded one too, has the
weights of its words. For other vectors the lengths are unknown and left out of the formula.

The privacy loss does not depend on this module: it only decides which words of a document are
drawn.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError
from syntf.language.pack import LanguagePack
from syntf.text.lexicon import lexicon
from syntf.vectors.word_vectors import WordVectors

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
        return weigh(vectors.words)
    stored = np.load(str(vectors.pack.path("topical")))
    if stored.shape != (len(vectors.words),) or not (stored > 0).all():
        raise SyntfError(f"{vectors.pack.path('topical')} is not one weight for each word")
    return np.asarray(stored, dtype=np.float64)


def weigh(
    words: Sequence[str],
    lengths: NDArray[np.float64] | None = None,
    pack: LanguagePack | None = None,
) -> NDArray[np.float64]:
    """Compute weights from ranks, the lexicon of a language and, if known, lengths of vectors."""
    ranks = np.arange(1.0, len(words) + 1)
    weights: NDArray[np.float64] = ranks / (ranks + HALF_WEIGHT_RANK)
    if lengths is not None:
        place = np.log(10 + ranks)
        usual = np.polynomial.Polynomial.fit(place, lengths, 3)(place)
        weights *= (lengths / usual) ** 2
    return np.where(names_something(words, pack), weights, OTHER_WEIGHT * weights)


def names_something(words: Sequence[str], pack: LanguagePack | None = None) -> NDArray[np.bool_]:
    """Tell for each word whether it can be a noun or is missing from the lexicon of a language.

    >>> names_something(["engine", "quickly", "ibm", "run"]).tolist()
    [True, False, True, True]
    """
    lemmas, nouns = lexicon(pack)
    forms = (word.lower() for word in words)
    return np.array([form not in lemmas or form in nouns for form in forms], dtype=bool)
