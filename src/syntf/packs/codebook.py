"""Make the codebook of a language pack from its words alone.

The embedded codebook of English is made from the glosses of WordNet. Other languages have no such
list of public short texts, so public documents are imitated: a document about a word has the words
nearest to it, and frequent words as any text has. The mean and the width of these documents are
the numbers of the encoder, and a tree over them is the codebook. No text is used.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.build import NO_OWN_VECTORS
from syntf.codebook.codebook import Codebook
from syntf.codebook.integers import CENTRE_LENGTH, LENGTH, WHITENING_SCALE
from syntf.codebook.tree import Points, grow_tree, unit_rows
from syntf.codebook.weights import integer_weights, occurrence_weights, word_weights
from syntf.core.progress import Stages, silent
from syntf.vectors.word_vectors import WordVectors

LEAVES = 4096
POINTS = 30_000
"""Words about which a document is imitated, the most frequent ones that may name a topic."""
NEIGHBOURS = 10
"""Nearest words that a document about a word has."""
FREQUENT = 8
"""Words of the language at large that a document has beside them."""
WHITENING = 0.5
"""How far the directions are evened out: 0 not at all, 1 fully."""
COMMON_SHARE = 0.35
"""Share of the direction of all texts together that is removed from every document."""

_BLOCK = 1024
_GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True, eq=False)
class Imitated:
    """Imitated public documents of a language, and the public numbers that follow from them.

    weights : how much each word says about a topic.
    documents : the directions of the documents.
    centre, word_centre : the mean of documents and of words.
    total : the direction of all texts together.
    """

    weights: NDArray[np.float32]
    documents: Points
    centre: Points
    word_centre: Points
    total: Points

    @classmethod
    def make(
        cls, vectors: WordVectors, outputs: NDArray[np.int32], stages: Stages = silent
    ) -> "Imitated":
        """Imitate a document about each of the output words."""
        words = unit_rows(np.asarray(vectors.matrix, dtype=np.float32))
        weights = word_weights(vectors)
        often = _frequency(len(words)) * weights
        rows = outputs[:POINTS]
        word_centre = (words * often[:, None]).sum(axis=0) / often.sum()
        centred = unit_rows(words - word_centre)
        with stages("imitating documents", len(rows)) as advance:
            topics = np.empty((len(rows), words.shape[1]), dtype=np.float32)
            for first in range(0, len(rows), _BLOCK):
                block = slice(first, first + _BLOCK)
                topics[block] = _near(centred, words, rows[block], rows, weights)
                advance(len(topics[block]))
            documents = unit_rows(topics + _frequent_words(words, often, len(rows)))
        total = unit_rows((words * often[:, None]).sum(axis=0)[None])
        return cls(weights, documents, documents.mean(axis=0), word_centre, total)

    def common(self, whiten: NDArray[np.floating]) -> Points:
        """Return the direction that all documents share, after whitening."""
        found: Points = unit_rows((self.total - self.centre) @ whiten)[0]
        return found


def make_codebook(
    vectors: WordVectors, outputs: NDArray[np.int32], stages: Stages = silent
) -> Codebook:
    """Make a codebook for the vectors of a language pack.

    outputs : rows of the words that a release may show, the most frequent first.
    """
    made = Imitated.make(vectors, outputs, stages)
    widths, axes = np.linalg.eigh(np.cov((made.documents - made.centre).T))
    widths = np.maximum(widths, 1e-4 * widths.mean())
    whiten = (axes * (widths / widths.mean()) ** (-WHITENING / 2)) @ axes.T
    points = unit_rows((made.documents - made.centre) @ whiten)
    leaves = min(LEAVES, len(points))
    with stages("grouping words", LEAVES) as advance:
        tree = grow_tree(points, leaves, divisible=2, smallest=1, progress=advance)
    return Codebook(
        nodes=tree.vectors,
        child=tree.child,
        points=tree.points,
        spread=tree.spread,
        outputs=outputs,
        weight=integer_weights(made.weights, vectors.matrix),
        tf=occurrence_weights(),
        centre=_rounded(made.centre),
        word_centre=_rounded(made.word_centre),
        whiten=np.rint(whiten * WHITENING_SCALE).astype(np.int16),
        common=np.rint(COMMON_SHARE * LENGTH * made.common(whiten)).astype(np.int16),
        own_rows=NO_OWN_VECTORS["own_rows"],
        own_weight=NO_OWN_VECTORS["own_weight"],
        own_vectors=NO_OWN_VECTORS["own_vectors"],
        own_centre=NO_OWN_VECTORS["own_centre"],
        vectors_digest=vectors.digest,
        origin="language",
        made_from="the words of a language pack",
    )


def aligned_codebook(
    topics: Codebook, vectors: WordVectors, outputs: NDArray[np.int32], stages: Stages = silent
) -> Codebook:
    """Return a codebook with the topics of another language, for word vectors in its space."""
    made = Imitated.make(vectors, outputs, stages)
    common = made.common(topics.whiten / WHITENING_SCALE)
    return replace(
        topics,
        outputs=outputs,
        weight=integer_weights(made.weights, vectors.matrix),
        centre=_rounded(made.centre),
        word_centre=_rounded(made.word_centre),
        common=np.rint(COMMON_SHARE * LENGTH * common).astype(np.int16),
        vectors_digest=vectors.digest,
        origin="language",
        made_from="the topics of an aligned language pack",
    )


def _rounded(centre: Points) -> NDArray[np.int16]:
    return np.rint(centre * CENTRE_LENGTH).astype(np.int16)


def _frequency(words: int) -> NDArray[np.float64]:
    """Return how often words occur, by their rank: Zipf's law, as Mandelbrot put it."""
    return 1 / (np.arange(1, words + 1) + 2.7)


def _near(
    centred: Points,
    words: Points,
    rows: NDArray[np.int32],
    among: NDArray[np.int32],
    weights: NDArray[np.float32],
) -> Points:
    """Return for each word the weighted sum of the words nearest to it, itself among them."""
    count = min(NEIGHBOURS, len(among) - 1)
    similar = centred[rows] @ centred[among].T
    nearest = among[np.argpartition(-similar, count, axis=1)[:, :count]]
    found: Points = (words[nearest] * weights[nearest][:, :, None]).sum(axis=1)
    return found


def _frequent_words(words: Points, often: NDArray[np.float64], documents: int) -> Points:
    """Return sums of words as frequent as in texts, others for each document.

    The words are spread evenly by the golden ratio, so that no random generator is needed.
    """
    ends = np.cumsum(often) / often.sum()
    places = (np.arange(documents * FREQUENT) * _GOLDEN) % 1.0
    drawn = np.minimum(np.searchsorted(ends, places), len(words) - 1)
    total: Points = words[drawn.reshape(documents, FREQUENT)].sum(axis=1)
    return total
