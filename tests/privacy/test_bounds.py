"""The paper's bounds on loss and utility, against its formulas and against real tables."""

from fractions import Fraction
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.mechanism import ExponentialMechanism
from syntf.privacy import bounds


@given(st.floats(0.01, 30), st.integers(2, 10**6))
def test_improved_loss_is_the_papers_formula(epsilon, size):
    eta = (exp(-epsilon / 2) + size - 1) / (exp(epsilon / 2) + size - 1)
    assert bounds.improved_loss(epsilon, size) == pytest.approx(epsilon + log(eta), abs=1e-9)


@pytest.mark.parametrize("size", [2, 100, 30_000])
def test_improved_loss_is_attained_by_the_worst_table(size):
    """Rows that rate one output 1 and the rest 0, and the reverse: the proof's equality."""
    values = np.zeros((2, size))
    values[0, 0] = 1
    values[1, 1:] = 1
    tight = ExponentialMechanism(values, epsilon=8.0).loss
    assert tight == pytest.approx(bounds.improved_loss(8.0, size), abs=1e-7)


def test_improved_loss_stays_finite_for_large_epsilon():
    assert bounds.improved_loss(1e4, 2) == pytest.approx(5e3)
    assert bounds.improved_loss(1e4, 30_000) == pytest.approx(5e3 + log(29_999))
    assert bounds.improved_loss(3.0, 1) == 0


@pytest.mark.parametrize(("spread", "sensitivity"), [(1.0, 0.5), (1.1, 1.0), (-0.1, 1.0)])
def test_improved_loss_is_refused_where_its_condition_fails(spread, sensitivity):
    with pytest.raises(SyntfError, match="spread"):
        bounds.improved_loss(1.0, 10, spread=spread, sensitivity=sensitivity)


def test_documents_and_authors_lose_the_sum():
    assert bounds.document_loss(25.5, 150) == 3825
    assert bounds.author_loss(25.5, 150, 50) == 191_250
    assert Fraction(bounds.author_loss(0.1, 3, 7)) >= 21 * Fraction(0.1)


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6))
def test_documents_within_a_limit_are_counted_exactly(most, each):
    if most < each:
        with pytest.raises(SyntfError, match="single document"):
            bounds.documents_within(most, each)
    else:
        number = bounds.documents_within(most, each)
        assert number * Fraction(each) <= Fraction(most) < (number + 1) * Fraction(each)


@settings(max_examples=100)
@given(st.floats(0.1, 50), st.integers(0, 2**32), st.floats(0.05, 0.95))
def test_utility_lies_within_its_bounds(epsilon, seed, quantile):
    """The theorem on utility, against the mechanism's own rows."""
    row = np.random.default_rng(seed).integers(0, 65536, 40) / 65535
    threshold = np.sort(row)[int(quantile * 40)]
    good = row >= threshold
    if good.all():
        return
    weights = ExponentialMechanism(row[None], epsilon=epsilon).weights(0)
    chance = weights[good].sum() / 2.0**62
    low, high = bounds.utility_bounds(
        epsilon,
        int(good.sum()),
        int((~good).sum()),
        gap=threshold - row[~good].max(),
        spread=row.max() - row.min(),
    )
    assert low * (1 - 1e-6) <= chance <= high * (1 + 1e-6)


@given(st.floats(0.01, 0.99), st.integers(1, 50), st.integers(1, 10**5), st.floats(0.01, 1))
def test_necessary_and_sufficient_epsilon_invert_the_utility_bounds(p, good, bad, gap):
    needed = bounds.necessary_epsilon(p, good, bad)
    enough = bounds.sufficient_epsilon(p, good, bad, gap=gap)
    assert needed <= enough * (1 + 1e-12)
    if needed > 0:
        assert bounds.utility_bounds(needed, good, bad, gap=gap)[1] == pytest.approx(p)
        assert bounds.utility_bounds(enough, good, bad, gap=gap)[0] == pytest.approx(p)


def test_trivial_demands_need_no_epsilon_and_certainty_needs_infinite():
    assert bounds.necessary_epsilon(0.5, 10, 0) == 0
    assert bounds.necessary_epsilon(0.5, 10, 10) == 0
    assert bounds.necessary_epsilon(1.0, 10, 10) == inf


@pytest.mark.parametrize(
    "call",
    [
        lambda: bounds.standard_loss(float("nan")),
        lambda: bounds.improved_loss(-1, 5),
        lambda: bounds.improved_loss(1, 0),
        lambda: bounds.utility_bounds(1.0, 0, 5, gap=0.5),
        lambda: bounds.necessary_epsilon(1.5, 1, 5),
        lambda: bounds.sufficient_epsilon(0.5, 1, 5, gap=0),
    ],
)
def test_bad_arguments_are_refused(call):
    with pytest.raises(SyntfError):
        call()
