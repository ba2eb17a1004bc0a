"""Ranking scores against values by hand, scikit-learn and every possible order."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics import average_precision_score, ndcg_score

from syntf.evaluation.tasks.ranking import (
    Judged,
    bm25,
    chance_score,
    score_rankings,
    tie_order,
)


def judged(grades):
    grades = np.asarray(grades, dtype=float)
    found = np.flatnonzero(grades)
    return [Judged(0, found, grades[found])]


def test_scores_by_hand():
    # The relevant documents 0, 3 and 4 have the ranks 1, 2 and 5.
    scores = np.array([[9.0, 5.0, 4.0, 8.0, 3.0]])
    found = score_rankings(scores, judged([2, 0, 0, 1, 1]), np.arange(5))
    assert found.mean_average_precision == pytest.approx((1 / 1 + 2 / 2 + 3 / 5) / 3)
    gain = 2 / np.log2(2) + 1 / np.log2(3) + 1 / np.log2(6)
    ideal = 2 / np.log2(2) + 1 / np.log2(3) + 1 / np.log2(4)
    assert found.ndcg_at_10 == pytest.approx(gain / ideal)
    assert found.recall_at_100 == 1


def test_recall_counts_the_first_hundred_documents_only():
    scores = -np.arange(250.0)[None]
    relevant = np.zeros(250)
    relevant[[0, 99, 100, 200]] = 1
    assert score_rankings(scores, judged(relevant), np.arange(250)).recall_at_100 == 0.5


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30).filter(any), st.integers(0, 2**32 - 1))
def test_scores_are_those_of_scikit_learn(grades, seed):
    scores = np.random.default_rng(seed).permutation(len(grades)).astype(float)[None]
    found = score_rankings(scores, judged(grades), np.arange(len(grades)))
    relevant = np.asarray(grades) > 0
    assert found.mean_average_precision == pytest.approx(
        average_precision_score(relevant, scores[0])
    )
    assert found.ndcg_at_10 == pytest.approx(ndcg_score([grades], scores, k=10))


@given(st.lists(st.integers(0, 2), min_size=2, max_size=5).filter(any))
def test_chance_is_the_mean_over_all_orders(grades):
    size = len(grades)
    scores = np.array(list(permutations(range(size))), dtype=float)
    (one,) = judged(grades)
    every = [Judged(row, one.documents, one.grades) for row in range(len(scores))]
    assert chance_score([one], size) == pytest.approx(
        score_rankings(scores, every, np.arange(size))
    )


def test_ties_do_not_follow_the_order_of_the_file():
    names = [str(number) for number in range(1000)]
    order = tie_order(names)
    assert sorted(order) == list(range(1000))
    assert abs(np.corrcoef(order, np.arange(1000))[0, 1]) < 0.1
    assert (tie_order(names[::-1])[::-1] == order).all()


def test_bm25_weights_are_those_of_the_library():
    bm25s = pytest.importorskip("bm25s", reason="needs bm25s: pip install 'syntf[evaluate]'")
    rng = np.random.default_rng(5)
    counts = rng.poisson(0.4, (40, 30))
    counts[:, 0] = 1  # a word that all documents have
    documents = [
        [f"w{word}" for word in row.nonzero()[0] for _ in range(row[word])] for row in counts
    ]
    index = bm25s.BM25(method="lucene")
    index.index(documents, show_progress=False)
    weighted = bm25(csr_matrix(counts)).toarray()
    for query in ([0], [3, 7], [1, 1, 29]):
        ours = weighted[:, query].sum(axis=1)
        theirs = index.get_scores([f"w{word}" for word in query])
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_documents_without_words_are_ranked_last():
    assert bm25(csr_matrix((3, 4))).nnz == 0
    counts = csr_matrix([[0, 0], [1, 0], [0, 2]])
    assert (np.diff(bm25(counts).indptr) == [0, 1, 1]).all()
