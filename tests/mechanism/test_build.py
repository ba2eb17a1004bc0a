from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.mechanism.build import search_epsilon
from syntf.mechanism.exponential import ExponentialMechanism

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
def test_measured_loss_is_close_to_and_at_most_the_wanted_loss(loss):
    found = search_epsilon(loss, Measure(RATINGS))
    assert 0.99 * loss <= found.loss <= loss


@settings(max_examples=12)
@given(
    st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=2, max_size=5),
    st.floats(0.01, 25),
)
def test_search_returns_the_largest_allowed_loss_it_tried(ratings, loss):
    measure = Measure(ratings)
    found = search_epsilon(loss, measure)
    losses = [ExponentialMechanism(ratings, epsilon=e).loss for e in measure.tried]
    assert found.loss == max(tried for tried in losses if tried <= loss)
    assert found.epsilon in measure.tried


def test_loss_of_the_result_is_measured():
    found = search_epsilon(2.0, Measure(RATINGS))
    rows = np.array([found.weights(row).tolist() for row in range(30)], dtype=object)
    ratio = max(Fraction(max(column), min(column)) for column in rows.T)
    assert ratio == found.ratio
    assert float(ratio) <= np.exp(2.0)


@pytest.mark.parametrize("ratings", [[[0.4, 0.4], [0.4, 0.4]], [[0.2], [0.9]], [[0.1, 0.8]]])
def test_search_ends_at_once_without_any_loss(ratings):
    measure = Measure(ratings, most=2)
    assert search_epsilon(3.0, measure).loss == 0


@pytest.mark.parametrize("loss", [44, 100, 1000, 1e6, 1e308])
def test_an_unreachable_loss_gives_nearly_the_largest_possible(loss):
    """Weights are 62-bit integers, at least 1: no ε makes their ratio larger than about e^40."""
    most = max(ExponentialMechanism(RATINGS, epsilon=e).loss for e in range(40, 100, 5))
    assert search_epsilon(loss, Measure(RATINGS)).loss > 0.9 * most


@pytest.mark.parametrize("loss", [1e-12, 1e-13, 1e-14, 1e-15, 1e-300])
def test_a_tiny_loss_is_found_or_refused(loss):
    """The remainder of a row's rounding alone loses about 1e-14, however small ε is."""
    measure = Measure(RATINGS, most=30)
    try:
        found = search_epsilon(loss, measure)
    except SyntfError as error:
        assert "loss" in str(error)  # noqa: PT017
    else:
        assert found.loss <= loss
