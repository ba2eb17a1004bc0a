"""Linkage attacks: exact scores, cases computed by hand, no privacy and no information."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import cosine_similarity as cosine

from syntf.core.entropy import Seeded
from syntf.evaluation.attack import linkage
from syntf.evaluation.attack.linkage import score_separation
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings

EXACT, NOISE = 600.0, 1e-6
SCORES = st.integers(-3, 3)
AUTHORS = st.lists(st.sampled_from(["", "ann", "bob", "eve"]), max_size=40)


def brute_area(same, other):
    wins = sum(Fraction((s > o) * 2 + (s == o), 2) for s in same for o in other)
    return wins / (len(same) * len(other))


def brute_rate(same, other, allowed):
    """The best of all thresholds, each tried."""
    rates = [Fraction(0)]
    for least in {*same, *other}:
        if Fraction(sum(o >= least for o in other), len(other)) <= allowed:
            rates.append(Fraction(sum(s >= least for s in same), len(same)))
    return max(rates)


@given(st.lists(SCORES, min_size=1, max_size=30), st.lists(SCORES, min_size=1, max_size=30))
def test_area_counts_ties_half(same, other):
    found = score_separation(np.array(same, dtype=float), np.array(other, dtype=float))
    assert found.auc == float(brute_area(same, other))
    assert (found.linked_pairs, found.other_pairs) == (len(same), len(other))


@pytest.mark.parametrize("size", [100, 199, 200, 999, 1000, 1001, 2500])
@pytest.mark.parametrize("values", [5, 60, 10**6])
def test_rates_equal_those_of_the_best_threshold(size, values):
    rng = np.random.default_rng(size + values)
    other = rng.integers(0, values, size).tolist()
    same = rng.choice(sorted(other)[-40:], 50) + rng.choice([-0.5, 0, 0.5], 50)  # in the top
    same = same.tolist()
    found = score_separation(np.array(same), np.array(other))
    assert found.tpr_at_1pct == float(brute_rate(same, other, Fraction(1, 100)))
    if size >= 1000:
        assert found.tpr_at_01pct == float(brute_rate(same, other, Fraction(1, 1000)))
    truth = [1] * len(same) + [0] * len(other)
    assert found.auc == pytest.approx(roc_auc_score(truth, same + other), abs=1e-12)


def test_rate_is_none_if_there_are_too_few_pairs():
    some, given_rates = np.arange(1.0, 3.0), []
    for size in (99, 100, 999, 1000):
        found = score_separation(some, np.zeros(size))
        given_rates.append((found.tpr_at_1pct, found.tpr_at_01pct))
    assert given_rates == [(None, None), (1, None), (1, None), (1, 1)]


def test_infinite_scores_can_be_compared():
    found = score_separation(np.array([np.inf, -np.inf]), np.full(100, -np.inf))
    assert (found.auc, found.tpr_at_1pct) == (0.75, 0.5)


MECHANISMS = [
    ExponentialMechanism(np.random.default_rng(3).random((6, 4)), epsilon=5.0),
    NeighbourhoodMechanism([[0, 1], [2, 0], [3, 1], [1, 3], [2, 3]], outputs=4, epsilon=6.0),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.scheme)
@given(counts=st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1))
def test_output_probabilities_are_shares_times_rows(mechanism, counts):
    theta = np.array(counts) / np.maximum(1, np.sum(counts, axis=1, keepdims=True))
    table = np.array([mechanism.weights(row) / mechanism.total for row in range(6)])
    steps = []
    found = linkage.output_probabilities(csr_matrix(theta), mechanism, steps.append)
    np.testing.assert_allclose(found, theta @ table, rtol=1e-6)
    assert sum(steps) == np.any(theta > 0, axis=0).sum()


def test_term_shares_use_weighted_counts():
    counts = csr_matrix([[1, 3], [0, 2]])
    assert linkage.term_shares(counts, None).toarray().tolist() == [[0.25, 0.75], [0, 1]]
    weighted = linkage.term_shares(counts, np.array([9.0, 1.0])).toarray()
    assert weighted.tolist() == [[0.75, 0.25], [0, 1]]


def test_log_odds_computed_by_hand():
    """Two outputs. A text that gives the first with 3/4 makes it 27/64 · 1/4 likely that the
    first is drawn three times and the second once, in a given order; and so on."""
    released = csr_matrix([[3, 1], [0, 4]])
    texts = np.array([[3 / 4, 1 / 4], [1 / 8, 7 / 8]], dtype=np.float32)
    others = np.array([[3 / 4, 1 / 4], [1 / 4, 3 / 4]], dtype=np.float32)
    # Mixed with their mean, 1/2 each, they give the first output with 5/8 and with 3/8.
    best = [Fraction(5**3 * 3, 8**4), Fraction(5**4, 8**4)]
    wanted = [
        [Fraction(27, 256) / best[0], Fraction(1, 256) / best[1]],
        [Fraction(7, 4096) / best[0], Fraction(2401, 4096) / best[1]],
    ]
    found = linkage.log_odds(released, texts, others)
    np.testing.assert_allclose(found, [[log(x) for x in row] for row in wanted], rtol=1e-5)


def test_membership_compares_with_a_corpus_without_the_document():
    odds = np.array([[5.0, 1.0, 0.0], [2.0, 1.0, 0.0], [3.0, 3.0, 4.0]])
    found = linkage.score_membership(odds)
    assert found.auc == float(brute_area([5, 2, 4], [1, 2, 3]))
    assert odds[0, 0] == 5  # left as it was


def test_cosine_similarity_uses_weighted_counts():
    rng = np.random.default_rng(5)
    first, second = rng.poisson(0.7, (5, 9)), rng.poisson(0.7, (7, 9))
    idf = np.log((1 + 7) / (1 + (second > 0).sum(axis=0))) + 1
    wanted = cosine(np.log1p(first) * idf, np.log1p(second) * idf)
    for given_as in (csr_matrix(first), first.astype(np.float32)):
        found = linkage.cosine_similarity(given_as, csr_matrix(second))
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7)


def test_standardize_uses_rows_and_columns():
    found = linkage.standardize(np.array([[1.0, 3.0], [5.0, 7.0], [9.0, 11.0]]))
    step = (3 / 2) ** 0.5  # of columns; rows are -1 and +1
    np.testing.assert_allclose(found, [[-1 - step, 1 - step], [-1, 1], [-1 + step, 1 + step]])
    assert (linkage.standardize(np.ones((2, 3))) == 0).all()


@given(AUTHORS, st.integers(1, 12))
def test_sampled_partners_share_an_author_and_no_document_is_sampled_twice(names, most):
    authors = np.array(names, dtype=np.str_)
    own, known, partners = linkage.sample_documents(authors, most)
    every = np.concatenate([own, known, partners])
    assert len(set(every.tolist())) == len(every)
    limit = min(most, len(names) // 3)
    assert len(own) == len(known) == limit
    possible = sum(count // 2 for name, count in Counter(names).items() if name)
    assert len(partners) == min(limit, possible)
    assert (authors[known[: len(partners)]] == authors[partners]).all()
    assert "" not in authors[partners]
    counts = Counter(authors[partners].tolist())
    for name, count in Counter(names).items():
        if name and counts[name] < max(counts.values(), default=0) - 1:
            assert counts[name] == count // 2  # no more pairs to take
    for part, again in zip(
        (own, known, partners), linkage.sample_documents(authors, most), strict=True
    ):
        assert (part == again).all()


def test_pairs_are_scored_over_all_and_over_same_labels():
    scores = np.arange(9.0).reshape(3, 3)
    rows, columns = np.array(["x", "y", ""]), np.array(["x", "x", ""])
    different = np.array([[False, True, True], [True, False, True], [False, False, False]])
    found = dict(linkage.score_pairs(scores, rows, columns, different))
    assert found == {
        "any": score_separation(np.array([0.0, 4.0, 8.0]), np.array([1.0, 2.0, 3.0, 5.0])),
        "same label": score_separation(np.array([0.0]), np.array([1.0])),
    }
    unlabelled = np.array(["", "", ""])
    assert list(dict(linkage.score_pairs(scores, unlabelled, unlabelled))) == ["any"]


def words(toy_words, rng, size):
    return " ".join(rng.choice(toy_words, size))


@pytest.fixture(scope="module")
def corpus(toy_words):
    """Authors who write about few things each, under two labels that tell nothing."""
    rng = np.random.default_rng(8)
    texts, authors = [], []
    for number in range(60):
        own = rng.choice(toy_words, 8, replace=False)
        for _ in range(6):
            texts.append(words(own, rng, 12))
            authors.append(f"author{number}")
    labels = rng.choice(["odd", "even"], len(texts))
    return LabelledCorpus(texts, labels, np.array(authors), np.ones(len(texts), dtype=bool))


@pytest.fixture(scope="module")
def anonymizer(toy_words, toy_vectors):
    def build(epsilon, **more):
        settings = Settings(
            epsilon=epsilon, length=60, spelling=0.0, morphology="orth", vectors=toy_vectors,
            vocabulary=toy_words, **more,
        )  # fmt: skip
        return Anonymizer.build(settings, source=Seeded(4))

    return build


def by_task(corpus, anonymizer):
    found = linkage.attack_release(corpus, anonymizer)
    return {(one.task, one.method, one.pairs): one.score for one in found}


TASKS = {
    ("document", "syntf"), ("membership", "syntf"), ("author", "vectorised"),
    ("author", "syntf"), ("author-releases", "syntf"),
}  # fmt: skip


@pytest.mark.parametrize("more", [{}, {"neighbours": 1}, {"weights": "tfidf"}])
def test_everything_is_linked_without_privacy(corpus, anonymizer, more):
    found = by_task(corpus, anonymizer(EXACT if "neighbours" not in more else 80.0, **more))
    assert set(found) == {
        (*task, pairs)
        for task in TASKS
        for pairs in ("any", "same label")
        if (task[0], pairs) != ("membership", "same label")
    }
    for (task, _, _), one in found.items():
        assert one.auc > (0.999 if task == "document" else 0.96)
        if task != "membership":
            assert one.tpr_at_1pct > (0.99 if task == "document" else 0.6)


@pytest.mark.parametrize("more", [{}, {"neighbours": 1}])
def test_nothing_is_linked_in_pure_noise(corpus, anonymizer, more):
    """120 pairs: an area of 0.5 has a standard deviation below 0.03, that of members 0.04."""
    found = by_task(corpus, anonymizer(NOISE if not more else 1e-3, **more))
    for (_, method, _), one in found.items():
        if method == "syntf":
            assert abs(one.auc - 0.5) < 0.12
            assert one.tpr_at_1pct < 0.12
    assert found["author", "vectorised", "any"].auc > 0.97  # as before: no noise in it


def test_random_authors_are_not_linked(corpus, anonymizer):
    """Authors at random: of a text and its own release, only one is in the author's tasks."""
    rng = np.random.default_rng(9)
    found = by_task(replace(corpus, authors=rng.permutation(corpus.authors)), anonymizer(EXACT))
    authors = {key: one.auc for key, one in found.items() if key[0].startswith("author")}
    assert len(authors) == 6
    assert {key: auc for key, auc in authors.items() if abs(auc - 0.5) > 0.15} == {}


def test_odds_use_texts_that_were_not_released(corpus, anonymizer, monkeypatch):
    seen = {}
    for whole in (linkage.log_odds, linkage.cosine_similarity):

        def spy(*given, whole=whole):
            seen.setdefault(whole.__name__, []).append(given)
            return whole(*given)

        monkeypatch.setattr(linkage, whole.__name__, spy)
    by_task(replace(corpus, authors=corpus.authors[::-1]), anonymizer(20.0))
    ((released, texts, others),) = seen["log_odds"]
    assert (released.shape[0], len(texts), len(others)) == (120, 120, 120)
    assert not (texts[:, None] == others).all(axis=2).any()
    expected = seen["cosine_similarity"][1][0]
    np.testing.assert_allclose(expected.sum(axis=1), 60, rtol=1e-5)


def test_all_pairs_of_the_sample_are_scored(corpus, anonymizer):
    found = by_task(corpus, anonymizer(NOISE))
    one = found["document", "syntf", "any"]
    assert (one.linked_pairs, one.other_pairs) == (120, 120 * 119)
    one = found["author", "syntf", "any"]
    assert (one.linked_pairs, one.other_pairs) == (120, 120 * 118)  # two pairs an author


def test_documents_without_a_known_word_are_left_out(corpus, anonymizer):
    own, known, partners = linkage.sample_documents(corpus.authors)
    texts = list(corpus.texts)
    for i in (*own[:3], known[0], partners[1]):
        texts[i] = "qwxyz"
    found = by_task(replace(corpus, texts=texts), anonymizer(EXACT))
    assert found["document", "syntf", "any"].linked_pairs == 117
    assert found["author", "syntf", "any"].linked_pairs == 118
    assert found["document", "syntf", "any"].auc > 0.99
    assert found["author", "vectorised", "any"].auc > 0.97  # pairs are still pairs


def test_tasks_that_a_corpus_does_not_allow_are_skipped(corpus, anonymizer):
    none = np.full(len(corpus), "", dtype=np.str_)
    nobody = by_task(replace(corpus, authors=none, labels=none), anonymizer(EXACT))
    assert set(nobody) == {("document", "syntf", "any"), ("membership", "syntf", "any")}
    alone = np.array([f"author{i}" for i in range(len(corpus))])
    assert {task for task, *_ in by_task(replace(corpus, authors=alone), anonymizer(EXACT))} == {
        "document", "membership"
    }  # fmt: skip
    few = LabelledCorpus(corpus.texts[:2], none[:2], none[:2], corpus.train[:2])
    assert by_task(few, anonymizer(EXACT)) == {}
    empty = replace(corpus, texts=["qwxyz"] * len(corpus))
    assert by_task(empty, anonymizer(EXACT)) == {}
