import itertools
from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.core.exact import EXACT
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.privacy import dominating_pair
from syntf.privacy.dominating_pair import MAX_DRAWS, any_mechanism, neighbourhood


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
def test_any_mechanism_is_the_least_epsilon_of_randomised_response(ratio, draws, delta):
    true = [ratio / (1 + ratio), 1 / (1 + ratio)]
    p, q = product([true] * draws), product([true[::-1]] * draws)
    epsilon = any_mechanism(ratio, draws, delta)
    assert hockey(p, q, exp(epsilon)) <= Fraction(delta)
    if epsilon > 0:
        assert hockey(p, q, exp(epsilon * (1 - 1e-12) - 1e-12)) > Fraction(delta)


def test_any_mechanism_by_hand():
    # One draw: e^ε = (3/4 − δ)/(1/4). Two: the outcomes (9, 3, 3, 1)/16, at D = 2 and D = 0.
    assert any_mechanism(Fraction(3), 1, 0.25) == pytest.approx(np.log(2), rel=1e-15)
    assert any_mechanism(Fraction(3), 2, 1 / 16) == pytest.approx(np.log(8), rel=1e-15)
    assert any_mechanism(Fraction(3), 1, 0.75) == 0
    assert any_mechanism(Fraction(1), 5, 1e-9) == 0


def test_a_probability_that_rounding_moves_below_delta_counts():
    """P(d ≥ 1) is δ + 4e-61 and Q(d ≥ 1) is 1e-70, so e^ε is 4e9; to 60 digits P is δ itself."""
    up, down = Fraction(1, 2) + Fraction(4, 10**61), Fraction(1, 10**70)
    assert dominating_pair._least_epsilon(up, down, 2, Decimal("0.75")) >= log(4e9)


def test_too_many_draws_give_infinity():
    mechanism = NeighbourhoodMechanism([[0], [1]], outputs=9, epsilon=4.0)
    assert any_mechanism(Fraction(3), MAX_DRAWS + 1, 1e-6) == inf
    assert neighbourhood(mechanism, MAX_DRAWS + 1, 1e-6) == inf


NEIGHBOURS = [
    ([[0], [1], [2], [1]], 5),
    ([[0, 1], [1, 2], [3, 4], [2, 0]], 5),
    ([[0, 1], [2, 3]], 4),
    ([[0, 1, 2], [2, 3, 0], [5, 4, 3]], 6),
]


@pytest.mark.parametrize(("neighbours", "outputs"), NEIGHBOURS)
@pytest.mark.parametrize("bits", [6, 8, 11, 62])
@pytest.mark.parametrize("delta", [1e-5, 0.02, 0.3])
def test_no_products_of_rows_exceed_epsilon(neighbours, outputs, bits, delta):
    """All rows, the empty document's too, in all products of two; uneven shares included."""
    mechanism = NeighbourhoodMechanism(neighbours, outputs=outputs, epsilon=3.0, total_bits=bits)
    rows = table(mechanism)
    for draws in (1, 2):
        epsilon = neighbourhood(mechanism, draws, delta)
        if epsilon == inf:
            assert bits == 6
            continue
        t = exp(epsilon)
        products = [product(chosen) for chosen in itertools.product(rows, repeat=draws)]
        worst = max(hockey(p, q, t) for p in products for q in products)
        assert worst <= Fraction(delta)


@pytest.mark.parametrize("draws", [1, 2, 5])
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.2])
def test_rows_without_a_common_neighbour_attain_epsilon(draws, delta):
    mechanism = NeighbourhoodMechanism([[0], [1], [2]], outputs=4, epsilon=5.0)
    first, second, *_ = table(mechanism)
    epsilon = neighbourhood(mechanism, draws, delta)
    p, q = product([first] * draws), product([second] * draws)
    assert hockey(p, q, exp(epsilon - 1e-9)) > Fraction(delta)
    assert epsilon < any_mechanism(mechanism.ratio, draws, delta)


def test_too_few_outputs_to_separate_neighbours_give_infinity():
    mechanism = NeighbourhoodMechanism([[0, 1], [1, 2]], outputs=3, epsilon=5.0)
    assert neighbourhood(mechanism, 1, 1e-6) == inf


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-4, 0.05]))
def test_documents_lose_no_more_than_rows(seed, delta):
    """Releases are mixtures of products, with random probabilities of the tuples of inputs."""
    rng = np.random.default_rng(seed)
    mechanism = NeighbourhoodMechanism([[0], [1], [2]], outputs=3, epsilon=3.0, total_bits=20)
    products = [product(chosen) for chosen in itertools.product(table(mechanism), repeat=2)]

    def release():
        chances = rng.integers(0, 9, len(products)) * (rng.random(len(products)) < 0.3)
        chances[rng.integers(len(products))] += 1
        parts = [Fraction(int(c), int(chances.sum())) for c in chances]
        return [sum(c * p[w] for c, p in zip(parts, products, strict=True) if c) for w in range(9)]

    assert hockey(release(), release(), exp(neighbourhood(mechanism, 2, delta))) <= delta


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
    for loss, outputs, draws, delta in [
        (0.5, 40, 60, 1e-6), (2.0, 100, 30, 1e-6), (5.0, 500, 40, 1e-5), (8.0, 3000, 20, 1e-3),
    ]:  # fmt: skip
        neighbours = [[0], [1], [2]]
        mechanism = NeighbourhoodMechanism(neighbours, outputs=outputs, epsilon=2 * loss)
        p, b = (float(mechanism.weights(0)[i] / mechanism.total) for i in (0, 1))
        for up, down in ((p, b), (1 / (1 + np.exp(-loss)), 1 / (1 + np.exp(loss)))):
            stay = [1 - up - down] if up == p else []
            asked.append(([up, down, *stay], [down, up, *stay], draws, delta))
        own.append(neighbourhood(mechanism, draws, delta))
        own.append(any_mechanism(mechanism.ratio, draws, delta))
    for epsilon, theirs, (*_, draws, _) in zip(own, oracle(PLD, asked), asked, strict=True):
        assert theirs - 1e-4 * draws - 1e-3 <= epsilon <= theirs + 1e-6
