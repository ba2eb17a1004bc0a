"""Grow a tree of prototypes over public points: split the widest group in two, again and again.

The cuts of such a tree are lists of any length, coarse or fine: a short list for a small loss, a
long one for a larger loss. The computation uses floating point. It is done once, when a codebook is
made; the integers that come out are what a codebook keeps.
"""

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.integers import stretch
from syntf.core.progress import Advance

POWER_STEPS = 40
"""Steps that look for the direction in which a group is widest."""
MEANS_STEPS = 6
"""Steps of 2-means by which the two halves are moved to their middles."""
SPREAD_SCALE = 10_000

Points = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes of a binary tree, a parent before its children, which stand side by side.

    vectors : int8: the mean direction of the points of each node.
    child : int32: the first child of each node, 0 for a leaf.
    points : int32: the number of points of each node.
    spread : int32: the mean of 1 − cosine of the points to the node, in 1/10000.
    members : the numbers of the points of each node.
    """

    vectors: NDArray[np.int8]
    child: NDArray[np.int32]
    points: NDArray[np.int32]
    spread: NDArray[np.int32]
    members: list[NDArray[np.intp]]


@dataclass(eq=False)
class _Group:
    """Some of the points, their mean direction, and the sum of 1 − cosine to it."""

    rows: NDArray[np.intp]
    centre: Points
    width: float
    child: int = 0

    @classmethod
    def of(cls, points: Points, rows: NDArray[np.intp]) -> "_Group":
        total = points[rows].sum(axis=0)
        length = np.linalg.norm(total)
        centre = total / np.maximum(length, np.float32(1e-12))
        return cls(rows, centre, float(len(rows) - length))


def grow_tree(
    points: Points,
    leaves: int,
    *,
    divisible: int = 8,
    smallest: int = 2,
    progress: Advance | None = None,
) -> Tree:
    """Split the group with the largest sum of 1 − cosine until there are enough leaves.

    Parameters
    ----------
    points : float32, one direction of length 1 for each public point.
    leaves : the number of leaves at most.
    divisible : groups of fewer points are not split.
    smallest : a group is not split if one part would have fewer points.
    progress : called with 1 for every split.

    Returns
    -------
    A tree with different leaves. It has fewer leaves than asked for if no group can be split.
    """
    groups = [_Group.of(points, np.arange(len(points)))]
    waiting = [(-groups[0].width, 0)]
    taken = {_key(groups[0])}
    while len(groups) < 2 * leaves - 1 and waiting:
        _, number = heapq.heappop(waiting)
        group = groups[number]
        if len(group.rows) < divisible:
            continue
        parts = [_Group.of(points, rows) for rows in _halves(points[group.rows], group)]
        keys = {_key(part) for part in parts}
        if min(len(part.rows) for part in parts) < smallest or len(keys - taken) < 2:
            continue
        taken |= keys
        if progress is not None:
            progress(1)
        group.child = len(groups)
        for part in parts:
            heapq.heappush(waiting, (-part.width, len(groups)))
            groups.append(part)
    sizes = np.array([len(group.rows) for group in groups], dtype=np.int32)
    widths = np.array([max(0.0, group.width) for group in groups], dtype=np.float32)
    return Tree(
        to_int8(np.stack([group.centre for group in groups])),
        np.array([group.child for group in groups], dtype=np.int32),
        sizes,
        np.rint(SPREAD_SCALE * widths / sizes.astype(np.float32)).astype(np.int32),
        [group.rows for group in groups],
    )


def to_int8(directions: NDArray[np.floating]) -> NDArray[np.int8]:
    """Scale each row until its largest component is ±127 and round; a row of zeros stays zero."""
    largest = np.abs(directions).max(axis=1, keepdims=True)
    return np.rint(directions * (127 / np.where(largest > 0, largest, 1))).astype(np.int8)


def unit_rows(rows: NDArray[np.floating]) -> Points:
    """Scale each row to length 1; a row of zeros stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return np.asarray(rows / lengths, dtype=np.float32)


def _key(group: _Group) -> bytes:
    """Return what two prototypes must not share: their stretched vectors."""
    return stretch(to_int8(group.centre[None])).tobytes()


def _halves(own: Points, group: _Group) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split a group across its widest direction, then move points to the nearer half."""
    across = own - own @ group.centre[:, None] * group.centre
    direction = across[np.argmax((across**2).sum(axis=1))]
    for _ in range(POWER_STEPS):
        direction = across.T @ (across @ direction)
        direction /= np.linalg.norm(direction) + 1e-12
    second = across @ direction > 0
    for _ in range(MEANS_STEPS):
        if second.all() or not second.any():
            break
        centres = unit_rows(np.stack([own[~second].sum(axis=0), own[second].sum(axis=0)]))
        second = own @ (centres[1] - centres[0]) > 0
    return group.rows[~second], group.rows[second]
