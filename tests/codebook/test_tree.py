"""Trees of prototypes: the widest group is split first, and no two leaves are alike."""

import numpy as np
import pytest

from syntf.codebook.tree import grow_tree, to_int8, unit_rows


@pytest.fixture(scope="module")
def clusters():
    """Four tight clusters of 25 points in two pairs: around ±x with y, and around ±x with z."""
    generator = np.random.default_rng(1)
    centres = np.array([[9, 4, 0, 0], [9, -4, 0, 0], [-9, 0, 4, 0], [-9, 0, -4, 0.0]])
    points = np.repeat(centres, 25, axis=0) + generator.normal(0, 0.3, (100, 4))
    return unit_rows(points)


def parts(tree, points):
    """Return for each leaf the set of clusters whose points are nearest to it."""
    leaves = unit_rows(tree.vectors[tree.child == 0].astype(float))
    nearest = (points @ leaves.T).argmax(axis=1)
    return sorted(sorted(set(np.flatnonzero(nearest == leaf) // 25)) for leaf in range(len(leaves)))


def test_clusters_are_found_from_coarse_to_fine(clusters):
    assert parts(grow_tree(clusters, 2), clusters) == [[0, 1], [2, 3]]
    assert parts(grow_tree(clusters, 4), clusters) == [[0], [1], [2], [3]]


def test_children_stand_side_by_side_after_their_parent_and_share_its_points(clusters):
    tree = grow_tree(clusters, 9)
    parents = np.flatnonzero(tree.child)
    first = tree.child[parents]
    assert (first > parents).all()
    assert (tree.points[first] + tree.points[first + 1] == tree.points[parents]).all()
    assert np.count_nonzero(tree.child == 0) == 9


def test_no_group_is_split_below_the_limits(clusters):
    tree = grow_tree(clusters, 100, divisible=30, smallest=5)
    leaves = tree.child == 0
    assert tree.points[leaves].min() >= 5
    assert tree.points[~leaves].min() >= 30


def test_equal_points_are_one_leaf():
    points = unit_rows(np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1.0]]))
    tree = grow_tree(points, 5, divisible=2, smallest=1)
    assert np.count_nonzero(tree.child == 0) == 2
    assert tree.spread[1:].tolist() == [0, 0]


def test_rounding_keeps_zero_rows():
    assert to_int8(np.array([[0.5, -1.0], [0, 0]])).tolist() == [[64, -127], [0, 0]]
