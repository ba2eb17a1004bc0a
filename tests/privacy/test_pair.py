"""The least ε of many draws at a δ, against exact brute force and against dp-accounting."""

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.core.exact import EXACT, times_up
from syntf.mechanism import ExponentialMechanism, ResponseMechanism
from syntf.privacy import pair
from syntf.privacy.pair import MAX_DRAWS, any_mechanism, epsilon_at, response


def exp(value):
    """Return e^value as a fraction, correct to 50 digits."""
    with localcontext(EXACT):
        return Fraction(Decimal(value).exp())


def hockey(p, q, t):
    """Return E_t of two exact distributions."""
    return sum(max(0, x - t * y) for x, y in zip(p, q, strict=True))


def product(rows):
    """Return the exact distribution of one draw from each row."""
    every = [Fraction(1)]
    for row in rows:
        every = [p * x for p in every for x in row]
    return every


def table(mechanism):
    """Return all rows as exact probabilities."""
    rows = range(mechanism.shape[0])
    return [[Fraction(int(w), mechanism.total) for w in mechanism.weights(row)] for row in rows]


@given(
    st.fractions(min_value="101/100", max_value=50, max_denominator=100),
    st.integers(1, 6),
    st.sampled_from([1e-9, 1e-4, 0.03, 0.2, 0.6]),
)
def test_any_mechanism_is_the_least_epsilon_of_an_answer_of_two(ratio, draws, delta):
    true = [ratio / (1 + ratio), 1 / (1 + ratio)]
    p, q = product([true] * draws), product([true[::-1]] * draws)
    epsilon = any_mechanism(ratio, draws, delta)
    assert hockey(p, q, exp(epsilon)) <= Fraction(delta)
    if epsilon > 0:
        assert hockey(p, q, exp(epsilon * (1 - 1e-12) - 1e-12)) > Fraction(delta)


def test_any_mechanism_by_hand():
    # One draw: e^ε = (3/4 − δ)/(1/4). Two: the outcomes (9, 3, 3, 1)/16, at D = 2 and D = 0.
    assert any_mechanism(Fraction(3), 1, 0.25) == pytest.approx(log(2), rel=1e-15)
    assert any_mechanism(Fraction(3), 2, 1 / 16) == pytest.approx(log(8), rel=1e-15)
    assert any_mechanism(Fraction(3), 1, 0.75) == 0
    assert any_mechanism(Fraction(1), 5, 1e-9) == 0


def test_a_probability_that_rounding_moves_below_delta_counts():
    """P(d ≥ 1) is δ + 4e-61 and Q(d ≥ 1) is 1e-70, so e^ε is 4e9; to 60 digits P is δ itself."""
    up, down = Fraction(1, 2) + Fraction(4, 10**61), Fraction(1, 10**70)
    assert pair._least_epsilon(up, down, 2, Decimal("0.75")) >= log(4e9)


@pytest.mark.parametrize("answers", [2, 3, 5])
@pytest.mark.parametrize("bits", [9, 62])
@pytest.mark.parametrize("delta", [1e-5, 0.02, 0.3])
def test_epsilon_is_exactly_that_of_the_worst_products_of_rows(answers, bits, delta):
    """All pairs of products of two rows, as the mechanism's integers have them."""
    mechanism = ResponseMechanism(answers, loss=2.0, total_bits=bits)
    rows = table(mechanism)
    for draws in (1, 2):
        epsilon = epsilon_at(mechanism, draws, delta)
        products = [product(chosen) for chosen in itertools.product(rows, repeat=draws)]
        pairs = list(itertools.product(products, repeat=2))
        assert max(hockey(p, q, exp(epsilon)) for p, q in pairs) <= Fraction(delta)
        if epsilon > 0:
            smaller = exp(epsilon - 1e-9)
            assert max(hockey(p, q, smaller) for p, q in pairs) > Fraction(delta)
        assert epsilon <= any_mechanism(mechanism.ratio, draws, delta)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-4, 0.05]))
def test_documents_lose_no_more_than_rows(seed, delta):
    """Releases are mixtures of products, with random probabilities of the tuples of targets."""
    rng = np.random.default_rng(seed)
    mechanism = ResponseMechanism(3, loss=1.5, total_bits=20)
    products = [product(chosen) for chosen in itertools.product(table(mechanism), repeat=2)]

    def release():
        chances = rng.integers(0, 9, len(products)) * (rng.random(len(products)) < 0.3)
        chances[rng.integers(len(products))] += 1
        parts = [Fraction(int(c), int(chances.sum())) for c in chances]
        return [sum(c * p[w] for c, p in zip(parts, products, strict=True) if c) for w in range(9)]

    assert hockey(release(), release(), exp(epsilon_at(mechanism, 2, delta))) <= delta


@pytest.mark.parametrize("seed", range(5))
def test_epsilon_of_another_mechanism_follows_from_its_loss(seed):
    values = np.random.default_rng(seed).random((4, 3))
    mechanism = ExponentialMechanism(values, epsilon=4.0)
    products = [product(chosen) for chosen in itertools.product(table(mechanism), repeat=2)]
    t = exp(epsilon_at(mechanism, 2, 0.02))
    assert max(hockey(p, q, t) for p in products for q in products) <= Fraction(0.02)


@pytest.mark.parametrize("draws", [1, 150, 2000])
def test_epsilon_is_at_most_the_sum_of_losses_and_falls_with_delta(draws):
    mechanism = ResponseMechanism(4000, loss=8.0)
    pure = times_up(8.0, draws)
    found = [epsilon_at(mechanism, draws, delta) for delta in (0, 1e-9, 1e-3, 0.5)]
    assert pure == pytest.approx(found[0])
    assert pure >= found[0] > found[1] > found[2] > found[3]
    assert epsilon_at(ResponseMechanism(1, loss=8.0), draws, 0) <= pure


def test_too_many_draws_lose_the_sum():
    mechanism = ResponseMechanism(9, loss=2.0)
    assert response(mechanism.ratio, 9, MAX_DRAWS + 1, 1e-6) == inf
    assert epsilon_at(mechanism, MAX_DRAWS + 1, 1e-6) == times_up(2.0, MAX_DRAWS + 1)


@pytest.mark.parametrize("delta", [-0.1, 1.1, float("nan"), True, None])
def test_an_invalid_delta_is_refused(delta):
    with pytest.raises(SyntfError, match="delta"):
        epsilon_at(ResponseMechanism(9, loss=2.0), 1, delta)


PLD = """
import json, sys, numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
found = []
for p, q, draws, delta in json.load(sys.stdin):
    logs = [dict(enumerate(np.log(row))) for row in (p, q)]
    one = pld.from_two_probability_mass_functions(*logs, value_discretization_interval=1e-4)
    found.append(one.self_compose(draws).get_epsilon_for_delta(delta))
print(json.dumps(found))
"""


def test_epsilon_agrees_with_dp_accounting(oracle):
    """dp-accounting rounds losses up to multiples of 1e-4 for each draw."""
    asked, own = [], []
    for loss, answers, draws, delta in [
        (0.5, 40, 60, 1e-6), (2.0, 100, 30, 1e-6), (5.0, 500, 40, 1e-5), (8.0, 3000, 20, 1e-3),
    ]:  # fmt: skip
        mechanism = ResponseMechanism(answers, loss=loss)
        up, down = (float(mechanism.weights(0)[i] / mechanism.total) for i in (0, 1))
        stay = 1 - up - down
        asked.append(([up, down, stay], [down, up, stay], draws, delta))
        own.append(epsilon_at(mechanism, draws, delta))
        up, down = 1 / (1 + np.exp(-loss)), 1 / (1 + np.exp(loss))
        asked.append(([up, down], [down, up], draws, delta))
        own.append(any_mechanism(mechanism.ratio, draws, delta))
    for epsilon, theirs, (*_, draws, _) in zip(own, oracle(PLD, asked), asked, strict=True):
        assert theirs - 1e-4 * draws - 1e-3 <= epsilon <= theirs + 1e-6
