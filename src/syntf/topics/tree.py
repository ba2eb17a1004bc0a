"""Grow a tree of topics over public points: split the widest group in two, again and again.

The cuts of such a tree are lists of any length, coarse or fine: a short list for a small loss, a
long one for a larger loss. The computation uses floating point. It is done once, when a codebook is
made; the integers that come out are what a codebook keeps.
"""

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from syntf.core.progress import stage
from syntf.topics.integers import stretch

SPREAD_SCALE = 10_000
"""What 1 is in the spread of a node."""

Points = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes of a binary tree, a parent before its children, which stand side by side.

    nodes : int8: the mean direction of the points of each node.
    child : int32: the first child of each node, 0 for a leaf.
    points : int32: the number of points of each node.
    spread : int32: the mean of 1 − cosine of the points to the node, in 1/10000.
    members : the numbers of the points of each node.
    """

    nodes: NDArray[np.int8]
    child: NDArray[np.int32]
    points: NDArray[np.int32]
    spread: NDArray[np.int32]
    members: list[NDArray[np.intp]]

    def arrays(self) -> dict[str, Any]:
        """Return what a codebook keeps of the tree, by the names of its fields."""
        names = ("nodes", "child", "points", "spread")
        return {name: getattr(self, name) for name in names}


def grow_tree(points: Points, leaves: int) -> Tree:
    """Split the group with the largest sum of 1 − cosine until there are enough leaves.

    A split is a 2-means of scikit-learn on one thread, so that it comes out the same every time.

    Parameters
    ----------
    points : float32, one direction of length 1 for each public point.
    leaves : the number of leaves at most.

    Returns
    -------
    A tree with different leaves. It has fewer leaves than asked for if no group can be split.
    """
    members, child = [np.arange(len(points))], [0]
    directions: list[Points] = []
    widths: list[float] = []
    waiting: list[tuple[float, int]] = []
    taken: set[bytes] = set()

    def measure(rows: NDArray[np.intp]) -> tuple[Points, float]:
        total = points[rows].sum(axis=0, dtype=np.float64)
        length = float(np.linalg.norm(total))
        return (total / max(length, 1e-12)).astype(np.float32), max(0.0, len(rows) - length)

    def keep(direction: Points, width: float) -> None:
        taken.add(_key(direction))
        heapq.heappush(waiting, (-width, len(directions)))
        directions.append(direction)
        widths.append(width)

    keep(*measure(members[0]))
    with stage("grouping", leaves) as advance, threadpool_limits(1):
        while len(members) < 2 * leaves - 1 and waiting:
            _, number = heapq.heappop(waiting)
            rows = members[number]
            if widths[number] < 1e-6 * len(rows):
                continue  # all points are the same
            second = KMeans(2, n_init=1, random_state=0).fit(points[rows]).labels_ == 1
            halves = [rows[~second], rows[second]]
            parts = [measure(half) for half in halves]
            keys = {_key(direction) for direction, _ in parts}
            if not all(map(len, halves)) or len(keys - taken) < 2:
                continue
            child[number] = len(members)
            for half, part in zip(halves, parts, strict=True):
                members.append(half)
                child.append(0)
                keep(*part)
            advance(1)
    sizes = np.array([len(rows) for rows in members], dtype=np.int32)
    spread = np.rint(SPREAD_SCALE * np.array(widths) / sizes).astype(np.int32)
    nodes = to_int8(np.stack(directions))
    return Tree(nodes, np.array(child, dtype=np.int32), sizes, spread, members)


def to_int8(directions: NDArray[np.floating]) -> NDArray[np.int8]:
    """Scale each row until its largest component is ±127 and round; a row of zeros stays zero."""
    largest = np.abs(directions).max(axis=1, keepdims=True)
    return np.rint(directions * (127 / np.where(largest > 0, largest, 1))).astype(np.int8)


def unit_rows(rows: NDArray[np.number]) -> Points:
    """Scale each row to length 1; a row of zeros stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return np.asarray(rows / lengths, dtype=np.float32)


def _key(direction: Points) -> bytes:
    """Return what two topics must not share: their stretched vectors."""
    return stretch(to_int8(direction[None])).tobytes()
