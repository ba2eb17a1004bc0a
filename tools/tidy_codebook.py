"""Keep names of persons, abbreviations and unsuitable words out of a codebook of English topics.

    python tools/tidy_codebook.py OLD NEW     # two files of codebooks for the embedded vectors

Names and profiles of topics then show common nouns only:

1. nouns in lemminflect's lexicon,
2. that are not used as names: of their 20 nearest words, less than half are missing from the
   lexicon (which leaves out *smith*, *turkey* and *mark*),
3. that are not in src/syntf/data/words_not_shown.txt.

A topic that such words do not describe, because it is one of names or of abbreviations, is removed:
its 10 nearest shown words are much farther away than the 10 nearest words of the old codebook. The
documents that it stood for answer with the topics beside it.

The embedded codebook is what this script makes of the codebook of syntf 0.2.0, which
tools/build_codebook.py of that version made from WordNet.
"""

import sys
from dataclasses import replace

import numpy as np
from lemminflect import getAllLemmas
from numpy.typing import NDArray

from syntf.topics.build import words_not_shown
from syntf.topics.codebook import Codebook
from syntf.topics.encoder import Encoder
from syntf.topics.integers import LENGTH, nearest_several, products
from syntf.topics.tree import SPREAD_SCALE, to_int8, unit_rows
from syntf.words.vectors import WordVectors

COMPARED = 40_000
NEIGHBOURS = 20
NEAREST = 10
LEAST_DESCRIBED = 0.62
"""Topics below this ratio of similarities are removed."""
LEAST_OF_ABBREVIATIONS = 0.75
"""The same for topics of which 8 of the 10 nearest words are unknown and have 4 letters or less."""


def shown_words(vectors: WordVectors, outputs: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell which of the output words may be shown."""
    words, hidden = vectors.words, words_not_shown()
    known = np.array([bool(getAllLemmas(word)) for word in words[:COMPARED]])
    directions = unit_rows(vectors.matrix.astype(np.float32))
    shown = np.zeros(len(outputs), dtype=bool)
    for first in range(0, len(outputs), 1000):
        some = outputs[first : first + 1000]
        similar = directions[some] @ directions[:COMPARED].T
        near = np.argpartition(-similar, NEIGHBOURS, axis=1)[:, : NEIGHBOURS + 1]  # itself, too
        names = [words[row] for row in some.tolist()]
        usable = ["NOUN" in getAllLemmas(name) and name not in hidden for name in names]
        shown[first : first + 1000] = usable & (known[near].mean(axis=1) > 0.5)
    return shown


def poorly_described(encoder: Encoder, shown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which leaves are topics of names or abbreviations."""
    book, words = encoder.codebook, encoder.vectors.words
    every = encoder.word_vectors(book.outputs)
    names = [words[row] for row in book.outputs.tolist()]
    short = np.array([len(name) <= 4 and "NOUN" not in getAllLemmas(name) for name in names])
    near = nearest_several(book.topics, every, NEAREST)
    abbreviations = short[near].mean(axis=1) >= 0.8

    def similarity(vectors: NDArray[np.int16]) -> NDArray[np.float64]:
        best = np.sort(products(book.topics, vectors), axis=1)[:, -NEAREST:]
        return np.asarray(best.mean(axis=1) / LENGTH**2, dtype=np.float64)

    ratio = similarity(every[shown]) / similarity(every)
    least = np.where(abbreviations, LEAST_OF_ABBREVIATIONS, LEAST_DESCRIBED)
    return np.asarray(book.leaves & (ratio < least))


def without_leaves(book: Codebook, removed: NDArray[np.bool_]) -> Codebook:
    """Remove leaves from the tree. A node with one child left gives its place to this child.

    The mean of the points of a leaf is its direction times 1 − spread, so means and spreads of the
    nodes above follow from those of the leaves that are left.
    """
    child = book.child.tolist()
    points = np.where(book.leaves & ~removed, book.points, 0).astype(np.int64)
    length = 1 - book.spread / SPREAD_SCALE
    total = unit_rows(book.nodes).astype(np.float64) * (points * length)[:, None]
    for node in range(len(child) - 1, -1, -1):
        if child[node]:
            points[node] = points[child[node]] + points[child[node] + 1]
            total[node] = total[child[node]] + total[child[node] + 1]

    def kept(node: int) -> int:
        while child[node] and not (points[child[node]] and points[child[node] + 1]):
            node = child[node] if points[child[node]] else child[node] + 1
        return node

    nodes, first = [kept(0)], [0]
    for place, node in enumerate(nodes):  # it grows while it is read
        if child[node]:
            first[place] = len(nodes)
            nodes += [kept(child[node]), kept(child[node] + 1)]
            first += [0, 0]
    lengths = np.linalg.norm(total[nodes], axis=1)
    return replace(
        book,
        nodes=to_int8(total[nodes]),
        child=np.array(first, dtype=np.int32),
        points=points[nodes].astype(np.int32),
        spread=np.rint(SPREAD_SCALE * (1 - lengths / points[nodes])).astype(np.int32),
    )


def main(old: str, new: str) -> None:
    """Read a codebook, tidy it, and write it."""
    book, vectors = Codebook.read(old), WordVectors.embedded()
    shown = shown_words(vectors, book.outputs)
    removed = poorly_described(Encoder(book, vectors), shown)
    print(f"{int(shown.sum()):,} words are shown, {int(removed.sum())} topics are removed")
    tidy = replace(without_leaves(book, removed), outputs=book.outputs[shown], origin="embedded")
    tidy.save(new)


if __name__ == "__main__":
    main(*sys.argv[1:])
