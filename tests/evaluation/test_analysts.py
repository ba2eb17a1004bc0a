"""Analysts and the classifiers of Weka, compared with their definitions."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC, LinearSVC

from syntf.evaluation.analysts import ANALYSTS, chance_f1, score_predictions
from syntf.evaluation.attack.attackers import MinMaxScaling, weka_predictions


def counts(seed, rows=60, columns=12):
    return np.random.default_rng(seed).poisson(1.5, (rows, columns)).astype(float)


def test_analysts_use_tfidf_and_a_classifier():
    texts = ["cat dog cat", "dog bird", "car bus", "bus train car", "cat bird", "train bus"] * 3
    labels = np.array(["animal", "animal", "road", "road", "animal", "road"] * 3)
    train = np.arange(18) < 12
    vectors = TfidfVectorizer()
    seen = vectors.fit_transform(texts[:12])
    new = vectors.transform(texts[12:])
    from sklearn.feature_extraction.text import CountVectorizer

    counts = CountVectorizer().fit(texts[:12]).transform(texts)
    for name, model in (("nb", MultinomialNB(alpha=0.01)), ("svm", LinearSVC(C=1))):
        predicted = ANALYSTS[name](counts, labels, train)
        assert predicted.tolist() == model.fit(seen, labels[:12]).predict(new).tolist()


def test_test_documents_do_not_change_the_idf():
    data = csr_matrix(counts(1))
    labels = np.array(["x", "y", "z"] * 20)
    train = np.arange(60) < 40
    other = data.toarray()
    other[41:] = 0  # all test rows but the first
    for analyst in ANALYSTS.values():
        first, second = analyst(data, labels, train), analyst(csr_matrix(other), labels, train)
        assert first[0] == second[0]


def test_labels_that_are_nearly_unique_cause_no_warning():
    labels = np.array([f"id{number}" for number in range(60)])
    for analyst in ANALYSTS.values():
        assert len(analyst(csr_matrix(counts(1)), labels, np.arange(60) < 40)) == 20


def test_weka_naive_bayes_equals_its_formula():
    """log((n_c + 1)/(N + C)) + Σ x·log((1 + T_cw)/(W + T_c)), written out."""
    rows, new = counts(2), counts(3, rows=40)
    names = np.array(["a"] * 30 + ["b"] * 20 + ["c"] * 10)
    rows[30:50, :4] += 1
    rows[50:, 4:8] += 1
    scores = []
    for name in ("a", "b", "c"):
        mine = rows[names == name]
        prior = np.log((len(mine) + 1) / (len(rows) + 3))
        words = np.log((1 + mine.sum(axis=0)) / (rows.shape[1] + mine.sum()))
        scores.append(prior + new @ words)
    expected = np.array(["a", "b", "c"])[np.argmax(scores, axis=0)]
    found = weka_predictions(csr_matrix(rows), names, csr_matrix(new))
    assert found["nb"].tolist() == expected.tolist()
    assert len(set(expected)) == 3


def test_weka_priors_add_one_to_each_count():
    """One text by a, nine by b: against 2 to 10 a likelihood ratio of 6.67 wins, not 1 to 9."""
    rows = csr_matrix([[1.0, 0], [1, 1], *[[0, 2]] * 8])
    names = np.array(["a"] + ["b"] * 9)
    assert weka_predictions(rows, names, csr_matrix([[1.0, 0]]))["nb"].tolist() == ["a"]


def test_weka_svm_is_linear_on_scaled_columns():
    rows, new = counts(4), counts(5, rows=30)
    rows[:, 3] = 7  # constant: it must not matter, whatever the new rows hold
    new[:, 3] = 100
    rows[:, 5] += 3  # never zero
    names = np.array(["a", "b", "c"] * 20)
    scaler = MinMaxScaler().fit(rows)
    seen, other = scaler.transform(rows), scaler.transform(new)
    seen[:, 3] = other[:, 3] = 0
    expected = SVC(kernel="linear", C=1).fit(seen, names).predict(other)
    assert (
        weka_predictions(csr_matrix(rows), names, csr_matrix(new))["svm"].tolist()
        == expected.tolist()
    )


def test_scaling_uses_training_rows_and_does_not_clip():
    rows = csr_matrix([[0.0, 2, 5], [4, 3, 5], [2, 6, 5]])
    scale = MinMaxScaling(rows)
    assert scale(rows).toarray().tolist() == [[0, 0, 0], [1, 0.25, 0], [0.5, 1, 0]]
    assert scale(csr_matrix([[8.0, 0, 9]])).toarray().tolist() == [[2, -0.5, 0]]


def test_scores_are_weighted_averages():
    truth = np.array(["a"] * 6 + ["b"] * 3 + ["c"])
    guess = np.array(["a"] * 4 + ["b"] * 4 + ["a"] * 2)
    found = score_predictions(truth, guess)
    for name, score in (("f1", f1_score), ("precision", precision_score), ("recall", recall_score)):
        expected = score(truth, guess, average="weighted", zero_division=0)
        assert getattr(found, name) == pytest.approx(expected)
    assert found.recall == 0.6


@pytest.mark.parametrize(
    ("train", "test"),
    [("abcdefgh", "abcdefgh"), ("aaab", "abbb"), ("ab", "ccab"), ("abc", "aa"), ("a", "b")],
)
def test_chance_is_the_score_of_all_pairs_of_guess_and_truth(train, test):
    train, test = np.array(list(train)), np.array(list(test))
    guesses, truth = np.tile(train, len(test)), np.repeat(test, len(train))
    expected = f1_score(truth, guesses, average="weighted", zero_division=0)
    assert chance_f1(train, test) == pytest.approx(expected)
