"""Lists of public entries, and the answer that a document has in a list.

An *entry* is a topic, a node of the codebook's tree or a centre between its leaves, or a word. An
*answer* is a set of `size` entries; with `size` 1 it is one entry. The answers of a list are
numbered (:mod:`syntf.mechanism.subsets`), and the mechanism randomises the number.
"""

import heapq
import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from math import isqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.codebook import Codebook
from syntf.codebook.encoder import Encoded, Encoder
from syntf.codebook.integers import (
    LENGTH,
    Vectors,
    nearest,
    nearest_several,
    products,
    stretch,
)
from syntf.mechanism import subsets
from syntf.mechanism.response import ResponseMechanism

Kind = Literal["topics", "words"]

ROUNDS = 10
"""Steps of weighted k-means by which a list of topics is moved to the middle of its points."""

_MASS_BITS = 40  # the mass of all released topics together, after noise is subtracted
_LEAF_BITS = 16  # bits cut from the mass of a leaf, so that weighted sums stay exact
_BLOCK = 512  # documents, or words, compared with a whole list of words at once
_LEAST = LENGTH * LENGTH // 1000  # the product that a word counts with if it is less similar


@dataclass(frozen=True, eq=False)
class EntryList:
    """A public list of entries.

    kind : ``topics`` or ``words``.
    vectors : int16, entries × dimensions.
    rows : for words, their rows in the word vectors, ascending; empty for topics.
    size : the number of entries in an answer.
    shift : int16: subtracted from encoded documents before the nearest topic is found; empty for
        no shift.
    labels : names of the topics, if a person has named them; otherwise empty.
    """

    kind: Kind
    vectors: Vectors
    rows: NDArray[np.int32]
    size: int = 1
    shift: NDArray[np.int16] = field(default_factory=lambda: np.zeros(0, dtype=np.int16))
    labels: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def answers(self) -> int:
        """The number of different answers."""
        return subsets.number_of_sets(len(self), self.size)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of everything that decides what an answer stands for."""
        found = sha256(f"{self.kind} {self.size} {self.vectors.shape}\n".encode())
        found.update(np.ascontiguousarray(self.vectors, dtype="<i2").data)
        found.update(np.ascontiguousarray(self.rows, dtype="<i4").data)
        found.update(np.ascontiguousarray(self.shift, dtype="<i2").data)
        if self.labels:
            found.update(f"\nlabels {json.dumps(self.labels)}".encode())
        return found.hexdigest()

    def entries(self, answers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the entries of each answer, a row of `size` numbers in ascending order."""
        if self.size == 1:
            return answers.reshape(-1, 1)
        return subsets.unrank(answers.ravel(), len(self), self.size)

    def targets(self, encoded: Encoded, encoder: Encoder, draws: int = 1) -> NDArray[np.int64]:
        """Return the answers that describe each document best, `draws` of them for each.

        The first answer holds the best entries, the second the next best, and so on. Each
        document is looked at by itself.
        """
        count = draws * self.size
        if self.kind == "topics":
            best = _best_topics(self._shifted(encoded.vectors), self.vectors, count)
        else:
            best = best_words(encoded, encoder, self.rows, self.vectors, count)
        if self.size == 1:
            return best
        sets = np.sort(best.reshape(len(encoded) * draws, self.size), axis=1)
        return subsets.rank(sets).reshape(len(encoded), draws)

    def _shifted(self, documents: Vectors) -> Vectors:
        if not len(self.shift):
            return documents
        shifted = stretch(documents - self.shift.astype(np.int32))
        shifted[~documents.any(axis=1)] = 0  # a document without a known word stays without one
        return shifted


def topic_list(
    codebook: Codebook,
    count: int,
    mass: NDArray[np.int64] | None = None,
    rounds: int = 0,
    size: int = 1,
) -> EntryList:
    """Return a list of `count` topics: nodes of the tree, moved by `rounds` steps of k-means.

    The tree is cut where `mass` is: the node with the largest mass times spread is split until
    there are enough nodes. By default the mass of a node is its number of public points. Topics
    that a person has named are not moved. An answer is a set of `size` topics.
    """
    weight = codebook.points.astype(np.int64) if mass is None else mass
    nodes = _cut(codebook, count, weight)
    vectors = stretch(codebook.nodes[nodes])
    none = np.zeros(0, dtype=np.int32)
    if codebook.labels:
        labels = tuple(codebook.labels[node] for node in nodes.tolist())
        return EntryList("topics", vectors, none, size, labels=labels)
    return EntryList("topics", _moved(vectors, codebook, weight, rounds), none, size)


def _moved(vectors: Vectors, codebook: Codebook, weight: NDArray[np.int64], rounds: int) -> Vectors:
    """Move topics to the middle of the public points nearest to them, by steps of k-means."""
    if not rounds:
        return vectors
    leaves = np.flatnonzero(codebook.leaves & (weight > 0))
    points = codebook.prototypes[leaves].astype(np.float32)  # exact, and converted once
    weighted = codebook.prototypes[leaves] * weight[leaves][:, None]
    for _ in range(rounds):
        own = nearest(points, vectors)
        order = np.argsort(own, kind="stable")
        near, starts = np.unique(own[order], return_index=True)
        total = np.zeros((len(vectors), codebook.dimensions), dtype=np.int64)
        if len(near):
            total[near] = np.add.reduceat(weighted[order], starts)
        moved = total.any(axis=1)
        vectors = vectors.copy()
        vectors[moved] = stretch(total[moved])
    return vectors


def sharpened_topics(
    codebook: Codebook,
    general: EntryList,
    released: NDArray[np.int64],
    mechanism: ResponseMechanism,
    size: int,
) -> EntryList:
    """Return a list of `size` topics that follows the topics a pilot has released.

    Parameters
    ----------
    general : the list of nodes that the pilot answered from, made by :func:`topic_list`.
    released : the released answers of the pilot.
    mechanism : the mechanism that drew them; its noise is subtracted.

    Everything here is computed from released and public numbers, in integers. Four tenths of the
    mean of the released topics are subtracted from documents: what all documents of a release
    have in common does not tell them apart.
    """
    cut = _cut(codebook, len(general), codebook.points.astype(np.int64))
    counts = np.bincount(released, minlength=len(general))
    mass = _corrected(counts, mechanism)
    total = general.vectors[released].astype(np.int64).sum(axis=0)
    shift = (4 * total // (10 * max(1, len(released)))).astype(np.int16)
    if not mass.any():
        return replace(topic_list(codebook, size), shift=shift)
    tree = np.zeros(len(codebook.child), dtype=np.int64)
    tree[cut] = mass
    known = np.zeros(len(codebook.child), dtype=bool)
    known[cut] = True
    child, points = codebook.child.tolist(), codebook.points.tolist()
    for node in range(len(child)):  # hand mass down below the cut; parents stand before children
        if known[node] and child[node]:
            for below in (child[node], child[node] + 1):
                tree[below] = int(tree[node]) * points[below] // points[node]
                known[below] = True
    for node in range(len(child) - 1, -1, -1):  # add it up above the cut
        if not known[node]:
            tree[node] = tree[child[node]] + tree[child[node] + 1]
    return replace(topic_list(codebook, size, tree >> _LEAF_BITS, ROUNDS), shift=shift)


def word_list(codebook: Codebook, encoder: Encoder, count: int, size: int) -> EntryList:
    """Return the list of the `count` most frequent output words, in sets of `size`."""
    rows = np.sort(codebook.outputs[:count])
    return EntryList("words", encoder.word_vectors(rows), rows, size)


def sharpened_words(
    general: EntryList, released: NDArray[np.int64], count: int, size: int
) -> EntryList:
    """Return the list of the `count` words nearest to the words that a pilot has released.

    A word scores, for every released word, the square of its similarity above 0.6.
    """
    entries = general.entries(released).ravel()
    times = np.bincount(entries, minlength=len(general))
    seen = np.flatnonzero(times)
    scores = np.zeros(len(general))
    for first in range(0, len(general), _BLOCK):
        block = slice(first, first + _BLOCK)
        above = np.maximum(
            products(general.vectors[block], general.vectors[seen]) - LENGTH * LENGTH * 6 // 10, 0
        )
        coarse = np.floor(above / 2048).astype(np.float64)
        scores[block] = (coarse * coarse) @ times[seen].astype(np.float64)
    best = np.sort(np.lexsort((np.arange(len(general)), -scores))[:count])
    return EntryList("words", general.vectors[best], general.rows[best], size)


def _cut(codebook: Codebook, size: int, mass: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split the node with the largest mass times spread until there are `size` nodes."""
    child, spread, weight = codebook.child.tolist(), codebook.spread.tolist(), mass.tolist()
    open_nodes = [(-weight[0] * spread[0], 0)]
    leaves: list[int] = []
    while open_nodes and len(open_nodes) + len(leaves) < size:
        _, node = heapq.heappop(open_nodes)
        if not child[node]:
            leaves.append(node)
            continue
        for below in (child[node], child[node] + 1):
            heapq.heappush(open_nodes, (-weight[below] * spread[below], below))
    return np.array(sorted(leaves + [node for _, node in open_nodes]), dtype=np.int64)


def _corrected(counts: NDArray[np.intp], mechanism: ResponseMechanism) -> NDArray[np.int64]:
    """Subtract from released counts what noise explains, and one standard deviation more.

    The result sums to about 2**40, in integers.
    """
    total, background, drawn = mechanism.total, mechanism.background, int(counts.sum())
    noise = drawn * background + isqrt(drawn * background * total)
    above = [max(0, count * total - noise) for count in counts.tolist()]
    together = max(1, sum(above))
    return np.array([(value << _MASS_BITS) // together for value in above], dtype=np.int64)


def _best_topics(documents: Vectors, topics: Vectors, count: int) -> NDArray[np.int64]:
    """Return the `count` nearest topics of each document, the nearest first."""
    if count == 1:
        return nearest(documents, topics).reshape(-1, 1)
    return nearest_several(documents, topics, count)


def best_words(
    encoded: Encoded,
    encoder: Encoder,
    rows: NDArray[np.int32],
    vectors: Vectors,
    count: int,
) -> NDArray[np.int64]:
    """Return the `count` entries of a word list that say most about each document.

    These are its own words with the largest weight · (1 + log tf) · similarity to the document.
    A document with fewer own words in the list gets the most similar other words of the list.
    """
    starts = np.asarray(encoded.counts.indptr, dtype=np.int64)
    documents = np.repeat(np.arange(len(encoded)), np.diff(starts))
    words, times = encoded.counts.indices, encoded.counts.data
    places = np.minimum(np.searchsorted(rows, words), len(rows) - 1)
    listed = rows[places] == words
    documents, words, times, places = (array[listed] for array in (documents, words, times, places))
    similar = np.empty(len(words), dtype=np.int64)
    for first in range(0, len(words), 1 << 16):
        block = slice(first, first + (1 << 16))
        left = encoded.vectors[documents[block]].astype(np.float32)
        similar[block] = np.einsum("ij,ij->i", left, vectors[places[block]].astype(np.float32))
    book = encoder.codebook
    scores = (
        book.tf[np.minimum(times, 255)].astype(np.int64)
        * _word_weights(encoder, rows)[places]
        * np.maximum(similar, _LEAST)
    )
    order = np.lexsort((places, -scores, documents))
    documents, places = documents[order], places[order]
    begins = np.searchsorted(documents, np.arange(len(encoded) + 1))
    best = np.full((len(encoded), count), -1, dtype=np.int64)
    for rank in range(count):
        has = begins[:-1] + rank < begins[1:]
        best[has, rank] = places[begins[:-1][has] + rank]
    lacking = np.flatnonzero(best[:, -1] < 0)
    if len(lacking):
        best[lacking] = _filled(best[lacking], encoded.vectors[lacking], vectors)
    return best


def _word_weights(encoder: Encoder, words: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the weight of words in a topic, without the length of their vectors."""
    matrix = np.asarray(encoder.vectors.matrix[words], dtype=np.int64)
    norms = np.floor(np.sqrt((matrix * matrix).sum(axis=1).astype(np.float64))).astype(np.int64)
    weights: NDArray[np.int64] = encoder.codebook.weight[words].astype(np.int64) * norms >> 8
    return np.maximum(weights, 1)


def _filled(best: NDArray[np.int64], documents: Vectors, entries: Vectors) -> NDArray[np.int64]:
    """Fill the places marked −1 with the nearest entries that are not there yet."""
    count = best.shape[1]
    near = nearest_several(documents, entries, min(2 * count, len(entries)))
    filled = best.copy()
    for row, candidates in zip(filled, near, strict=True):
        own = set(row[row >= 0].tolist())
        others = (entry for entry in candidates.tolist() if entry not in own)
        for place in np.flatnonzero(row < 0):
            row[place] = next(others)
    return filled
