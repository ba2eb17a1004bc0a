"""Lists of public topics, and the answers that a document has in a list.

The answers of a list are its topics and, last, *nothing known*: the true answer of a document
without a known word. The mechanism draws it like any other answer.
"""

import heapq
import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from syntf.mechanism.response import ResponseMechanism
from syntf.topics.codebook import Codebook
from syntf.topics.integers import Vectors, nearest_in_turn, stretch
from syntf.topics.plan import ROUNDS, Plan

NOTHING_KNOWN = "nothing known"
"""The name of the last answer of every list."""


_SCHEME = "syntf topics 2"
_MASS_BITS = 40  # the mass of all released topics together, after noise is subtracted
_LEAF_BITS = 16  # bits cut from the mass of a leaf, so that weighted sums stay exact


@dataclass(frozen=True, eq=False)
class TopicList:
    """A public list of topics.

    vectors : int16, topics × dimensions.
    shift : int16: subtracted from encoded documents before the nearest topic is found; empty for
        no shift.
    names : names of the topics, if a person has named them; otherwise empty.
    """

    vectors: Vectors
    shift: NDArray[np.int16] = field(default_factory=lambda: np.zeros(0, dtype=np.int16))
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of answers: the topics, and *nothing known*."""
        return len(self.vectors) + 1

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of everything that decides what an answer stands for."""
        found = sha256(f"{_SCHEME} {self.vectors.shape}\n".encode())
        found.update(np.ascontiguousarray(self.vectors, dtype="<i2").data)
        found.update(np.ascontiguousarray(self.shift, dtype="<i2").data)
        found.update(f"\n{json.dumps(self.names)}".encode())
        return found.hexdigest()

    def targets(self, encoded: Vectors, draws: int = 1) -> NDArray[np.int64]:
        """Return the `draws` topics that describe each document best, the nearest first.

        Each further one is the nearest to what the topics before leave of the document, see
        :func:`~syntf.topics.integers.nearest_in_turn`. A document without a known word, a row of
        zeros, has the targets *nothing known* and then the topics in their order. Each document is
        looked at by itself.

        >>> topics = TopicList(stretch(np.array([[1, 0], [3, 2], [0, 1]])))
        >>> topics.targets(stretch(np.array([[0, 5], [0, 0]])), 2).tolist()
        [[2, 1], [3, 0]]
        """
        known = encoded.any(axis=1)
        shifted = stretch(encoded - self.shift.astype(np.int32)) if len(self.shift) else encoded
        found = nearest_in_turn(shifted, self.vectors, draws)
        found[~known] = np.arange(-1, draws - 1) % len(self)
        return found

    def sharpened(
        self,
        codebook: Codebook,
        released: NDArray[np.int64],
        mechanism: ResponseMechanism,
        plan: Plan,
    ) -> "TopicList":
        """Return the list of all other documents, which follows what a pilot has released.

        Parameters
        ----------
        codebook : the codebook that this list was made from, by :func:`topic_list`.
        released : the answers of the pilot, released from this list.
        mechanism : the mechanism that drew them; its noise is subtracted.
        plan : says how many topics the new list has.

        Everything here is computed from released and public numbers, in integers. Four tenths of
        the mean of the released topics are subtracted from documents: what all documents of a
        release have in common does not tell them apart.
        """
        counts = np.bincount(released.ravel(), minlength=len(self))
        mass = _without_noise(counts, mechanism)[:-1]
        counts = counts[:-1]  # without "nothing known"
        total = counts @ self.vectors.astype(np.int64)
        shift = (4 * total // (10 * max(1, int(counts.sum())))).astype(np.int16)
        if not mass.any():
            return replace(topic_list(codebook, plan.sharpened_topics), shift=shift)
        tree = _spread(codebook, len(self.vectors), mass)
        made = topic_list(codebook, plan.sharpened_topics, tree >> _LEAF_BITS, ROUNDS)
        return replace(made, shift=shift)


def topic_list(
    codebook: Codebook, count: int, mass: NDArray[np.int64] | None = None, rounds: int = 0
) -> TopicList:
    """Return a list of `count` topics: nodes of the tree, moved by `rounds` steps of k-means.

    The tree is cut where `mass` is: the node with the largest mass times spread is split until
    there are enough nodes. By default the mass of a node is its number of public points. Topics
    that a person has named are not moved.
    """
    weight = codebook.points.astype(np.int64) if mass is None else mass
    nodes = _cut(codebook, count, weight)
    vectors = stretch(codebook.nodes[nodes])
    if codebook.names:
        return TopicList(vectors, names=tuple(codebook.names[node] for node in nodes.tolist()))
    return TopicList(_moved(vectors, codebook, weight, rounds) if rounds else vectors)


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


def _spread(codebook: Codebook, topics: int, mass: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the mass of every node of the tree, from the mass of the topics of a cut."""
    cut = _cut(codebook, topics, codebook.points.astype(np.int64))
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
    return tree


def _moved(vectors: Vectors, codebook: Codebook, weight: NDArray[np.int64], rounds: int) -> Vectors:
    """Move topics to the middle of the public points nearest to them, by steps of k-means."""
    leaves = np.flatnonzero(codebook.leaves & (weight > 0))
    points = codebook.topics[leaves]
    weighted = points * weight[leaves][:, None]
    for _ in range(rounds):
        own = nearest_in_turn(points, vectors, 1)[:, 0]
        order = np.argsort(own, kind="stable")
        near, starts = np.unique(own[order], return_index=True)
        total = np.zeros((len(vectors), codebook.dimensions), dtype=np.int64)
        if len(near):
            total[near] = np.add.reduceat(weighted[order], starts)
        moved = total.any(axis=1)
        vectors = vectors.copy()
        vectors[moved] = stretch(total[moved])
    return vectors


def _without_noise(counts: NDArray[np.intp], mechanism: ResponseMechanism) -> NDArray[np.int64]:
    """Subtract from released counts what noise explains, and one standard deviation more.

    The result sums to about 2**40, in integers.
    """
    total, background, drawn = mechanism.total, mechanism.background, int(counts.sum())
    noise = drawn * background + isqrt(drawn * background * total)
    above = [max(0, count * total - noise) for count in counts.tolist()]
    together = max(1, sum(above))
    return np.array([(value << _MASS_BITS) // together for value in above], dtype=np.int64)
