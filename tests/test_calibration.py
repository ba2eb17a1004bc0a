from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.calibration import epsilon_for_loss
from syntf.errors import SyntfError
from syntf.mechanism import ExponentialMechanism

RATINGS = np.random.default_rng(13).random((30, 20))


class Measure:
    """Measures, and gives up where a search would not end."""

    def __init__(self, ratings, most=60):
        self.ratings, self.most, self.tried = ratings, most, []

    def __call__(self, epsilon):
        self.tried.append(epsilon)
        assert len(self.tried) <= self.most, f"no end in sight: {self.tried[-4:]}"
        return ExponentialMechanism(self.ratings, epsilon=epsilon)


@pytest.mark.parametrize("loss", [1e-7, 1e-5, 1e-3, 0.1, 0.5, 1, 2.5, 7, 12, 20, 30])
def test_the_measured_loss_is_at_most_and_nearly_the_wanted_one(loss):
    found = epsilon_for_loss(loss, Measure(RATINGS))
    assert 0.99 * loss <= found.loss <= loss


@settings(max_examples=25)
@given(
    st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=2, max_size=5),
    st.floats(0.01, 25),
)
def test_any_rating_is_calibrated_or_as_lossy_as_it_gets(ratings, loss):
    found = epsilon_for_loss(loss, Measure(ratings))
    assert found.loss <= loss
    if found.loss < 0.99 * loss:  # no larger ε would have come closer
        more = [ExponentialMechanism(ratings, epsilon=found.epsilon * f).loss for f in (1.02, 2, 9)]
        assert all(other <= found.loss or other > loss for other in more)


def test_the_loss_is_measured_not_computed():
    found = epsilon_for_loss(2.0, Measure(RATINGS))
    rows = np.array([found.weights(row).tolist() for row in range(30)], dtype=object)
    ratio = max(Fraction(max(column), min(column)) for column in rows.T)
    assert ratio == found.ratio
    assert float(ratio) <= np.exp(2.0)


@pytest.mark.parametrize("ratings", [[[0.4, 0.4], [0.4, 0.4]], [[0.2], [0.9]], [[0.1, 0.8]]])
def test_ratings_that_lose_nothing_end_at_once(ratings):
    measure = Measure(ratings, most=2)
    assert epsilon_for_loss(3.0, measure).loss == 0


@pytest.mark.parametrize("loss", [44, 100, 1e6])
def test_a_loss_that_no_epsilon_reaches_gives_the_most_there_is(loss):
    """Weights are 62-bit integers: past about 36 a larger ε changes no ratio."""
    found = epsilon_for_loss(loss, Measure(RATINGS))
    most = ExponentialMechanism(RATINGS, epsilon=1e7).loss
    assert most <= found.loss <= loss or found.loss == pytest.approx(most, rel=0.05)
    assert found.loss > 30


@pytest.mark.parametrize("loss", [1e-12, 1e-13, 1e-14, 1e-15, 1e-300])
def test_a_loss_below_what_integers_can_keep_is_found_or_refused_as_a_loss(loss):
    """The remainder of a row's rounding alone loses about 1e-14, however small ε is."""
    measure = Measure(RATINGS)
    try:
        found = epsilon_for_loss(loss, measure)
    except SyntfError as error:
        assert "loss" in str(error)  # noqa: PT017
    else:
        assert found.loss <= loss
