"""Make the codebook of a language pack from its words alone.

The embedded codebook of English was made from the glosses of WordNet. Other languages have no such
list of public short texts, so public documents are imitated: a document about a word has the words
nearest to it, and frequent words as any text has. The mean and the width of these documents are
the numbers of the encoder, and a tree over them is the codebook. No text is used.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syntf.core.progress import stage
from syntf.topics.build import NO_OWN_VECTORS, directions
from syntf.topics.codebook import Codebook
from syntf.topics.integers import CENTRE_LENGTH, LENGTH, WHITENING_SCALE
from syntf.topics.tree import Points, grow_tree, unit_rows
from syntf.topics.weights import integer_weights, occurrence_weights, word_weights
from syntf.words.vectors import WordVectors

LEAVES = 4096
POINTS = 30_000
"""Words about which a document is imitated, the most frequent ones that may name a topic."""
NEIGHBOURS = 10
"""Nearest words that a document about a word has."""
FREQUENT = 8
"""Words of the language at large that a document has beside them."""
COMMON_SHARE = 0.35
"""Share of the direction of all texts together that is removed from every document."""

_BLOCK = 1024
_GOLDEN = (5**0.5 - 1) / 2


def write_pack_codebook(vectors: WordVectors, outputs: NDArray[np.int32], path: Path) -> None:
    """Make the codebook of a language pack and write it to a file.

    outputs : rows of the words that a release may show, the most frequent first.
    """
    words = unit_rows(vectors.matrix.astype(np.float32))
    weights = word_weights(vectors)
    often = weights / (np.arange(len(words)) + 3.7)  # Zipf's law, as Mandelbrot put it
    word_centre = often @ words / often.sum()
    documents = unit_rows(
        _topical_words(words, unit_rows(words - word_centre), weights, outputs[:POINTS])
        + _frequent_words(words, often, len(outputs[:POINTS]))
    )
    learnt = directions(documents)
    centre, whiten = learnt["centre"] / CENTRE_LENGTH, learnt["whiten"] / WHITENING_SCALE
    total = unit_rows((often @ words)[None])
    common = unit_rows((total - centre) @ whiten)[0]
    tree = grow_tree(unit_rows((documents - centre) @ whiten), min(LEAVES, len(documents)))
    Codebook(
        **tree.arrays(),
        **learnt,
        **NO_OWN_VECTORS,
        outputs=outputs,
        weight=integer_weights(weights, vectors.matrix),
        tf=occurrence_weights(),
        word_centre=np.rint(word_centre * CENTRE_LENGTH).astype(np.int16),
        common=np.rint(COMMON_SHARE * LENGTH * common).astype(np.int16),
        vectors_digest=vectors.digest,
        origin="language",
        made_from="the words of a language pack",
    ).save(path)


def _topical_words(
    words: Points, centred: Points, weights: NDArray[np.float32], rows: NDArray[np.int32]
) -> Points:
    """Return for each word the weighted sum of the words nearest to it, itself among them."""
    count = min(NEIGHBOURS, len(rows) - 1)
    found = np.empty((len(rows), words.shape[1]), dtype=np.float32)
    with stage("imitating documents", len(rows)) as advance:
        for first in range(0, len(rows), _BLOCK):
            block = slice(first, first + _BLOCK)
            similar = centred[rows[block]] @ centred[rows].T
            near = rows[np.argpartition(-similar, count, axis=1)[:, :count]]
            found[block] = (words[near] * weights[near][:, :, None]).sum(axis=1)
            advance(len(near))
    return found


def _frequent_words(words: Points, often: NDArray[np.floating], documents: int) -> Points:
    """Return sums of words as frequent as in texts, others for each document.

    The words are spread evenly by the golden ratio, so that no random generator is needed.
    """
    ends = np.cumsum(often, dtype=np.float64) / often.sum(dtype=np.float64)
    places = (np.arange(documents * FREQUENT) * _GOLDEN) % 1.0
    drawn = np.minimum(np.searchsorted(ends, places), len(words) - 1)
    total: Points = words[drawn.reshape(documents, FREQUENT)].sum(axis=1)
    return total
