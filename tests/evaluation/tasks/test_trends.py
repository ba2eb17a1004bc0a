"""Trends: the corrected shares of labels and prototypes, and the coverage of their intervals."""

import numpy as np
import pytest

from syntf.core.errors import SyntfError
from syntf.evaluation.tasks.prototypes import prototype_shares
from syntf.evaluation.tasks.trends import (
    LabelShare,
    label_shares,
    periods_of,
    score_trends,
)
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings


def test_many_times_are_joined_into_periods_of_about_the_same_size():
    values = [str(number) for number in range(100) for _ in range(3)]
    periods, names = periods_of([*values, ""])
    assert len(names) == 12
    assert (names[0], names[-1]) == ("0 to 7", "92 to 99")
    assert periods[-1] == -1
    sizes = np.bincount(periods[:-1])
    assert sizes.max() - sizes.min() <= 3
    assert (np.diff(periods[:-1]) >= 0).all()
    with pytest.raises(SyntfError, match="two different values"):
        periods_of(["x", "x", ""])


def test_a_known_confusion_is_undone():
    """Of a's documents 1 in 5 is taken for b, of b's 2 in 5 for a, in training and in testing."""
    unit = 2000
    parts = [("a", "a", 4), ("a", "b", 1), ("b", "a", 2), ("b", "b", 3)]
    tested = [("a", "a", 8), ("a", "b", 2), ("b", "a", 16), ("b", "b", 24)]
    labels, predicted = (
        np.array([one[place] for one in [*parts, *tested] for _ in range(one[2] * unit)])
        for place in (0, 1)
    )
    train = np.arange(60 * unit) < 10 * unit
    rows = label_shares(predicted, labels, train, np.zeros(60 * unit, dtype=int), ["now"])
    assert [(one.label, one.documents) for one in rows] == [("a", 50 * unit), ("b", 50 * unit)]
    np.testing.assert_allclose([one.truth for one in rows], [0.2, 0.8])
    np.testing.assert_allclose([one.counted for one in rows], [24 / 50, 26 / 50])
    np.testing.assert_allclose([one.estimate for one in rows], [0.2, 0.8], atol=0.005)
    assert all(one.low < one.truth < one.high for one in rows)


def test_useless_predictions_leave_the_usual_shares():
    """If predictions do not depend on labels, the estimate stays near the training documents."""
    rng = np.random.default_rng(4)
    labels = np.array(["a"] * 700 + ["b"] * 300 + ["a"] * 100 + ["b"] * 300)
    predicted = rng.choice(["a", "b"], len(labels))
    train = np.arange(1400) < 1000
    rows = label_shares(predicted, labels, train, np.zeros(1400, dtype=int), ["now"])
    assert abs(rows[0].estimate - 0.7) < 0.25
    assert sum(one.estimate for one in rows) == pytest.approx(1)


def test_intervals_hold_the_truth_in_about_95_of_100_cases():
    """Labels are drawn with shares that differ between periods and are predicted with noise."""
    rng = np.random.default_rng(3)
    confusion = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]])
    shares = np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])
    names = np.array(["a", "b", "c"])
    train = np.arange(2400) < 1200
    periods = np.arange(2400) % 2
    rows: list[LabelShare] = []
    for _ in range(150):
        codes = np.array([rng.choice(3, p=shares[period]) for period in periods])
        guesses = (rng.random(2400)[:, None] > np.cumsum(confusion[:, codes].T, axis=1)).sum(axis=1)
        rows += label_shares(names[guesses], names[codes], train, periods, ["early", "late"])
    score = score_trends(rows)
    assert abs(score.coverage - 0.95) < 0.025
    assert score.estimate < 0.75 * score.counted


def test_scores_by_hand():
    rows = [
        LabelShare("x", 10, "a", 0.5, 0.4, 0.45, 0.40, 0.49),
        LabelShare("x", 10, "b", 0.5, 0.6, 0.55, 0.49, 0.61),
    ]
    assert score_trends(rows) == pytest.approx((0.1, 0.05, 0.5))


def test_shares_of_prototypes_are_near_the_truth():
    anonymizer = DocumentAnonymizer.build(Settings.from_preset(document_loss=8.0))
    texts = ["The rocket reached its orbit."] * 300 + ["Fry the garlic for the soup."] * 100
    encoded = anonymizer.read(texts)
    mechanism = anonymizer.mechanism(len(texts))
    drawn = mechanism.release(encoded)
    rows = prototype_shares(mechanism, encoded, drawn)
    assert len(rows) == len(mechanism.general)
    assert [one.truth for one in rows[:2]] == [0.75, 0.25]
    for one in rows[:2]:
        assert abs(one.estimate - one.truth) < 4 * (one.high - one.low) / 4
    assert sum(one.estimate for one in rows) == pytest.approx(1)
    assert sum(one.released for one in rows) == pytest.approx(1)
    some = prototype_shares(mechanism, encoded, drawn, np.arange(300))
    assert (some[0].truth, some[0].documents) == (1.0, 300)
