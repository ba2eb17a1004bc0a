"""How much a word tells of a topic, from public knowledge alone.

Topics are named by nouns, and by words no dictionary has: names, jargon, products. Common words
tell less than rare ones, and of two words equally common the one with the longer raw vector tells
more, as it keeps to fewer contexts. So a word may weigh

    r / (r + 500) · (length / usual length)²    if it may name something, and next to nothing else,

where r is its rank in public texts, the commonest word being the first, and the usual length is
that of words of its rank. The weights of the embedded words are kept beside them; of other
vectors the lengths are not known, and left out.

Nothing here touches the privacy loss: it decides only which words of a document are drawn.
"""

from collections.abc import Sequence
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from syntf.text.lexicon import lexicon
from syntf.vectors.word_vectors import WordVectors

COMMON = 500
"""The rank at which a word weighs half of what a rare one does."""

REST = 1e-4
"""What is left of the weight of a word that names nothing: a text of such words still has θ."""


def topical_weights(vectors: WordVectors) -> NDArray[np.float64]:
    """The weight of each word, most frequent first.

    >>> vectors = WordVectors.embedded()
    >>> weights = topical_weights(vectors)
    >>> [round(float(weights[vectors.find(word)]), 3) for word in ("year", "engine", "quickly")]
    [0.099, 1.145, 0.0]
    """
    if vectors.is_embedded:
        kept = np.load(str(files("syntf").joinpath("data", "topical.npy")))
        return np.asarray(kept, dtype=np.float64)
    return weigh(vectors.words)


def weigh(words: Sequence[str], lengths: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Weights from ranks, a lexicon of English and, where they are known, lengths of vectors."""
    ranks = np.arange(1.0, len(words) + 1)
    weights: NDArray[np.float64] = ranks / (ranks + COMMON)
    if lengths is not None:
        place = np.log(10 + ranks)
        usual = np.polynomial.Polynomial.fit(place, lengths, 3)(place)
        weights *= (lengths / usual) ** 2
    return np.where(names(words), weights, REST * weights)


def names(words: Sequence[str]) -> NDArray[np.bool_]:
    """Which of the words are nouns, perhaps among other things, or unknown to the lexicon.

    >>> names(["engine", "quickly", "ibm", "run"]).tolist()
    [True, False, True, True]
    """
    lemmas, nouns = lexicon()
    found = (word.lower() for word in words)
    return np.array([form not in lemmas or form in nouns for form in found], dtype=bool)
