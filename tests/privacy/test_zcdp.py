"""zCDP against brute force over noisy outputs, exact decimals, published values and an oracle."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from syntf.core.errors import SyntfError
from syntf.privacy import zcdp

DELTA = 1e-6
EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
RHOS = st.fractions(Fraction(1, 10**8), 50)
DELTAS = st.floats(1e-15, 0.1)


def noise(variance):
    """Return the probabilities of the integers −200 … 200."""
    weights = np.exp(-(np.arange(-200, 201.0) ** 2) / (2 * variance))
    return weights / weights.sum()


def moved(probabilities, difference):
    """Return the probabilities with the mean moved by at most 10."""
    return np.roll(probabilities, difference)


def true_delta(p, q, epsilon):
    """Return the least δ for two distributions, in both directions."""
    e = exp(epsilon)
    return max(np.maximum(p - e * q, 0).sum(), np.maximum(q - e * p, 0).sum())


# Brute force


@pytest.mark.parametrize("variance", [1, 2, 5, 20, 100])
@pytest.mark.parametrize("difference", [1, 2, 3])
def test_delta_is_at_least_that_of_all_outputs(variance, difference):
    rho = zcdp.rho(difference**2, variance)
    p = noise(variance)
    for epsilon in EPSILONS:
        true = true_delta(p, moved(p, difference), epsilon)
        assert true <= zcdp.delta(rho, epsilon) + 1e-14
        if 1e-10 < true < 0.1:  # half of ρ would promise too much
            assert true > zcdp.delta(rho / 2, epsilon)


@pytest.mark.parametrize("vector", [(1, 0), (3, 4), (-2, 1)])
def test_delta_holds_for_vectors(vector):
    variance = 10
    rho = zcdp.rho(sum(each**2 for each in vector), variance)
    p = noise(variance)
    joint = np.outer(p, p)
    other = np.outer(*(moved(p, each) for each in vector))
    for epsilon in EPSILONS:
        assert true_delta(joint, other, epsilon) <= zcdp.delta(rho, epsilon) + 1e-14


def test_rho_adds_up_when_the_first_result_chooses_the_second_measurement():
    """A second sum has σ² = 9 and length 1, or σ² = 36 and length 2: ρ is the same."""
    first = noise(4)
    second = {9: noise(9), 36: noise(36)}
    rho = zcdp.rho(1, 4) + zcdp.rho(1, 9)
    assert zcdp.rho(2**2, 36) == zcdp.rho(1, 9)
    chosen = [(9, 1) if result % 2 else (36, 2) for result in range(len(first))]
    joint = first[:, None] * np.array([second[variance] for variance, _ in chosen])
    other = moved(first, 1)[:, None] * np.array([moved(second[v], d) for v, d in chosen])
    for epsilon in EPSILONS:
        true = true_delta(joint, other, epsilon)
        assert true <= zcdp.delta(rho, epsilon) + 1e-14
        if true > 1e-10:  # one measurement alone would promise too much
            assert true > zcdp.delta(zcdp.rho(1, 9), epsilon)


@pytest.mark.parametrize("documents", [2, 3])
def test_groups_lose_the_square_of_their_size(documents):
    """Replaced: from +1 to −1. A person: all documents at once."""
    variance, difference = 30, documents
    one = zcdp.rho(1, variance)
    assert zcdp.of_group(one, documents) == zcdp.rho(documents**2, variance)
    p = noise(variance)
    for epsilon in (0.1, 0.5):
        true = true_delta(p, moved(p, difference), epsilon)
        assert true <= zcdp.delta(zcdp.of_group(one, documents), epsilon)
        assert true > zcdp.delta(documents * one / 2, epsilon)


@given(rho=RHOS, epsilon=st.floats(0.01, 50))
def test_continuous_noise_keeps_to_delta_too(rho, epsilon):
    """The exact δ of the Gaussian mechanism (Balle and Wang, 2018)."""
    mu = sqrt(2 * rho)
    upper, lower = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    true = norm.cdf(upper) - exp(epsilon + norm.logcdf(lower))
    assert true <= zcdp.delta(rho, epsilon) + 1e-14


# The conversion


def least_delta(rho, epsilon):
    """Return the infimum over α by golden sections in 100 digits."""
    with localcontext(prec=100):
        r, e = Decimal(rho.numerator) / rho.denominator, Decimal(epsilon)

        def log_delta(t):
            below, a = t.exp(), 1 + t.exp()
            return below * (a * r - e) + below * below.ln() - a * a.ln()

        low, high = Decimal(-60), Decimal(60)  # of ln(α − 1): unimodal, as it is in α
        golden = (Decimal(5).sqrt() - 1) / 2
        for _ in range(200):
            left, right = high - golden * (high - low), low + golden * (high - low)
            low, high = (low, right) if log_delta(left) < log_delta(right) else (left, high)
        return min(Decimal(1), log_delta((low + high) / 2).exp())


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("rho", [Fraction(1, 10**6), Fraction(1, 41), Fraction(1, 3), Fraction(9)])
def test_delta_is_the_infimum_rounded_up(rho, epsilon):
    least, found = least_delta(rho, epsilon), Decimal(zcdp.delta(rho, epsilon))
    assert least <= found
    if found > Decimal("1e-300"):
        assert found < least * (1 + Decimal("1e-12"))
    if 1e-300 < found < 1:
        back = zcdp.epsilon(rho, float(found))
        assert back == pytest.approx(epsilon, rel=1e-9)
        assert least_delta(rho, back) <= found


@given(rho=RHOS, delta=DELTAS)
def test_epsilon_never_promises_more_than_the_infimum(rho, delta):
    epsilon = zcdp.epsilon(rho, delta)
    if epsilon > 0:
        assert zcdp.delta(rho, epsilon * (1 + 1e-9)) <= delta
        assert zcdp.delta(rho, epsilon * (1 - 1e-6)) >= delta * (1 - 1e-9)


@given(rho=RHOS, delta=DELTAS, factor=st.fractions(Fraction(101, 100), 10))
def test_more_noise_or_a_larger_delta_never_gives_a_larger_epsilon(rho, delta, factor):
    larger = zcdp.epsilon(rho * factor, delta)
    epsilon = zcdp.epsilon(rho, delta)
    assert epsilon <= larger
    assert epsilon <= zcdp.epsilon(rho, delta / float(factor))
    if epsilon > 0:
        assert zcdp.delta(rho, epsilon) <= zcdp.delta(rho * factor, epsilon)
        assert zcdp.delta(rho, epsilon) <= zcdp.delta(rho, epsilon / float(factor))
    assert epsilon <= float(rho) + 2 * sqrt(rho * -log(delta)) * (1 + 1e-12)  # Bun and Steinke


def test_extreme_values_are_still_bounds():
    assert 0 < zcdp.delta(Fraction(1, 10**15), 1.0) < 1e-300
    assert zcdp.delta(Fraction(10**9), 1.0) == 1
    assert zcdp.epsilon(Fraction(1, 2**61), 0.9999) == 0
    assert zcdp.epsilon(Fraction(10**9), DELTA) > 10**9


# Noise for a promise


@pytest.mark.parametrize(("epsilon", "sigma"), [(0.5, 8.68), (1.0, 4.53), (2.0, 2.38), (4.0, 1.27)])
def test_the_noise_of_the_prototype(epsilon, sigma):
    length = 10_000
    variance = zcdp.variance_for(epsilon, DELTA, length**2)
    assert round(sqrt(variance) / length, 2) == sigma


@settings(max_examples=30)
@given(epsilon=st.floats(0.05, 20), delta=DELTAS, length=st.integers(1, 10**9))
def test_the_least_variance_suffices_and_no_less(epsilon, delta, length):
    variance = zcdp.variance_for(epsilon, delta, length)
    assert zcdp.epsilon(zcdp.rho(length, variance), delta) <= epsilon
    if variance > 1:
        assert zcdp.epsilon(zcdp.rho(length, variance - 1), delta) > epsilon


@settings(max_examples=30)
@given(share=st.fractions(Fraction(1, 20), Fraction(19, 20)))
def test_shares_of_a_budget_add_up_to_less_than_it(share):
    whole = zcdp.variance_for(1.0, DELTA, 10**6)
    parts = [-(-whole // each) for each in (share, 1 - share)]
    rho = sum(zcdp.rho(10**6, int(variance)) for variance in parts)
    assert zcdp.epsilon(rho, DELTA) <= 1
    assert rho > zcdp.rho(10**6, whole) * Fraction(9999, 10_000)


def test_a_replaced_document_at_one():
    rho = zcdp.rho(10**8, zcdp.variance_for(1.0, DELTA, 10**8))
    assert zcdp.epsilon(zcdp.of_group(rho, 2), DELTA) == pytest.approx(2.112, abs=1e-3)


@pytest.mark.parametrize("bad", [0, -1, inf, float("nan"), True, "1"])
def test_values_without_meaning_are_refused(bad):
    rho = Fraction(1, 40)
    with pytest.raises(SyntfError, match="epsilon must be"):
        zcdp.delta(rho, bad)
    with pytest.raises(SyntfError, match="epsilon must be"):
        zcdp.variance_for(bad, DELTA, 100)
    with pytest.raises(SyntfError, match="delta must be"):
        zcdp.epsilon(rho, bad)
    with pytest.raises(SyntfError, match="squared_length must be"):
        zcdp.rho(bad, 100)
    with pytest.raises(SyntfError, match="documents must be"):
        zcdp.of_group(rho, bad)


def test_a_promise_that_no_noise_can_keep_is_refused():
    with pytest.raises(SyntfError, match="no noise is enough"):
        zcdp.variance_for(1e-9, 1e-12, 10**12)


# Membership


@pytest.mark.parametrize(("epsilon", "figure"), [(1.0, 0.088), (4.0, 0.307)])
def test_the_advantage_of_an_attacker(epsilon, figure):
    variance = zcdp.variance_for(epsilon, DELTA, 10**8)
    assert round(zcdp.advantage(zcdp.rho(10**8, variance)), 3) == figure


@pytest.mark.parametrize("difference", [1, 2, 7, 10])
def test_the_advantage_is_the_total_variation(difference):
    p = noise(400)
    variation = abs(p - moved(p, difference)).sum() / 2
    found = zcdp.advantage(zcdp.rho(difference**2, 400))
    assert found == pytest.approx(variation, abs=1 / 400)


ORACLE = """
import json, sys
import numpy as np
from dp_accounting import rdp
from dp_accounting.pld import privacy_loss_distribution as pld
orders = 1 + np.geomspace(1e-3, 1e5, 4000)
found = []
for variance, length, delta in json.load(sys.stdin):
    renyi = orders * length**2 / (2 * variance)
    true = pld.from_discrete_gaussian_mechanism(variance**0.5, length, use_connect_dots=True)
    found.append((rdp.compute_epsilon(orders, renyi, delta)[0], true.get_epsilon_for_delta(delta)))
print(json.dumps(found))
"""


def test_epsilon_agrees_with_dp_accounting(oracle):
    """Its conversion of Rényi divergences is the same one, and the true ε is smaller."""
    asked = [(v, d, delta) for v in (4, 30, 500) for d in (1, 2, 5) for delta in (1e-3, 1e-6, 1e-9)]
    for (variance, length, delta), (renyi, true) in zip(asked, oracle(ORACLE, asked), strict=True):
        epsilon = zcdp.epsilon(zcdp.rho(length**2, variance), delta)
        assert true < epsilon <= renyi * (1 + 1e-12)
        assert epsilon == pytest.approx(renyi, rel=1e-4)
