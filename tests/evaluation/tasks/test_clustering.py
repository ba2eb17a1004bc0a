"""Clusters of documents, and the scores of single labels."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, vstack

from syntf.evaluation.tasks.clustering import cluster, score_clusters
from syntf.evaluation.tasks.survival import score_labels


def blocks(sizes, width=5, seed=0):
    """Documents of several kinds, each kind with words of its own."""
    rng = np.random.default_rng(seed)
    parts = []
    for kind, size in enumerate(sizes):
        rows = np.zeros((size, width * len(sizes)))
        rows[:, kind * width : (kind + 1) * width] = 1 + rng.poisson(2, (size, width))
        parts.append(csr_matrix(rows))
    return vstack(parts).tocsr()


def test_separate_kinds_of_documents_are_found():
    labels = np.repeat(["a", "b", "c"], [20, 30, 10])
    score = score_clusters(blocks([20, 30, 10]), labels)
    assert score == pytest.approx((1.0, 1.0))


def test_documents_without_a_label_are_left_out():
    labels = np.repeat(["a", "", "c"], [20, 30, 10])
    assert score_clusters(blocks([20, 30, 10]), labels) == pytest.approx((1.0, 1.0))


def test_random_labels_have_an_ari_near_zero():
    labels = np.random.default_rng(1).choice(["a", "b", "c"], 300)
    assert abs(score_clusters(blocks([100, 100, 100]), labels).ari) < 0.03


def test_fewer_different_rows_than_clusters():
    counts = csr_matrix([[1, 0]] * 5 + [[0, 1]] * 5)
    found = cluster(counts, 4)
    assert len(set(found[:5])) == len(set(found[5:])) == 1
    assert len(set(cluster(csr_matrix((3, 1)), 2))) == 1


def test_scores_of_labels_by_hand():
    training = np.array(["a"] * 6 + ["b"] * 4)
    truth = np.array(["a", "a", "a", "b"])
    original = truth
    released = [np.array(["a", "a", "b", "a"]), np.array(["a", "a", "a", "a"])]
    first, second = score_labels(training, truth, original, released)
    assert (first.label, first.test) == ("a", 3)
    assert first.released_recall == pytest.approx((2 / 3 + 1) / 2)
    assert first.released_f1 == pytest.approx((2 / 3 + 6 / 7) / 2)
    assert first.chance_f1 == pytest.approx(2 * 0.75 * 0.6 / 1.35)
    assert first.chance_recall == 0.6
    assert second.released_f1 == 0
    assert second.verdict == "lost"
    assert first.kept == pytest.approx((first.released_f1 - 2 / 3) / (1 - 2 / 3))
