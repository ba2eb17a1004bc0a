import sys

import numpy as np
import pytest

from syntf.core.errors import SyntfError
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.privacy import accounting, dominating_pair, renyi
from syntf.privacy.accounting import COLUMNS, PAIRS, Epsilon, accounts, compares_all_pairs
from syntf.privacy.renyi import orders

DRAWS = [200, 10_000]


def similar(size, dimensions):
    vectors = np.random.default_rng(7).normal(size=(size, dimensions))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.clip(vectors @ vectors.T, 0, 1)


def by_name(found):
    return {account.method: account.epsilons for account in found}


@pytest.fixture(scope="module")
def graded():
    return ExponentialMechanism(similar(300, 10), epsilon=5.0)


def test_neighbourhood_mechanism_gets_all_four_methods():
    mechanism = NeighbourhoodMechanism([[0], [1], [2]], outputs=3500, epsilon=17.0)
    found = accounts(mechanism, DRAWS, 1e-6)
    assert [account.method for account in found] == [
        "n·ℓ", "any mechanism of this loss", "Rényi, closed form", "exact, worst pair of rows",
    ]  # fmt: skip
    fine = {a: renyi.neighbourhood(mechanism, a) for a in orders(mechanism.loss, renyi.FINE)}
    for i, draws in enumerate(DRAWS):
        pure, any_, closed, exact = (account.epsilons[i] for account in found)
        assert pure == Epsilon(draws * 8.5)
        assert any_ == Epsilon(dominating_pair.any_mechanism(mechanism.ratio, draws, 1e-6))
        epsilon, a = min((renyi.to_epsilon(fine[a], a, draws, 1e-6), a) for a in fine)
        assert closed == Epsilon(epsilon, 1 + a)
        assert exact == Epsilon(dominating_pair.neighbourhood(mechanism, draws, 1e-6))
        assert exact.epsilon < closed.epsilon < any_.epsilon < pure.epsilon


def test_exponential_mechanism_is_accounted_at_the_best_orders(graded):
    """The orders that a sample of rows selects are the best of all orders."""
    found = by_name(accounts(graded, DRAWS, 1e-6))
    assert list(found) == ["n·ℓ", "any mechanism of this loss", COLUMNS, PAIRS]
    among = orders(graded.loss)
    columns = renyi.column_minimum(graded, among)
    every = renyi.all_pairs(graded)
    pairs = {a: every(a) for a in among}
    for i, draws in enumerate(DRAWS):
        for method, known in ((COLUMNS, columns), (PAIRS, pairs)):
            epsilon, a = renyi.least(known, draws, 1e-6)
            assert found[method][i].epsilon == pytest.approx(epsilon, rel=1e-9)
            assert found[method][i].order == 1 + a
        assert found[PAIRS][i].epsilon < found[COLUMNS][i].epsilon < draws * graded.loss


def test_no_epsilon_exceeds_n_times_the_loss():
    for mechanism in (
        ExponentialMechanism(np.eye(6), epsilon=80.0),
        ExponentialMechanism(similar(30, 4), epsilon=0.01),
        NeighbourhoodMechanism([[0], [1]], outputs=9, epsilon=60.0),
        NeighbourhoodMechanism([[0, 1], [1, 2]], outputs=3, epsilon=4.0),
    ):
        for draws in (1, 40, dominating_pair.MAX_DRAWS + 1):
            pure, *others = accounts(mechanism, [draws], 1e-9)
            assert pure.epsilons[0].epsilon == pytest.approx(draws * mechanism.loss, rel=1e-15)
            assert all(0 < o.epsilons[0].epsilon <= pure.epsilons[0].epsilon for o in others)


def test_no_pass_over_all_rows_if_the_sample_rules_it_out(monkeypatch):
    """At this large loss the sample shows that no order gives less than n·ℓ."""
    mechanism = ExponentialMechanism(np.eye(400), epsilon=60.0)
    seen = []
    checked_weights = mechanism.checked_weights
    monkeypatch.setattr(
        mechanism, "checked_weights", lambda rows: seen.append(len(rows)) or checked_weights(rows)
    )
    found = by_name(accounts(mechanism, [100], 1e-6))
    assert found[COLUMNS] == found[PAIRS] == found["n·ℓ"]
    assert max(seen) == accounting.SAMPLE_ROWS


def test_all_pairs_are_skipped_if_too_expensive(monkeypatch, graded):
    assert compares_all_pairs(graded)
    monkeypatch.setattr(accounting, "MAX_CPU_WORK", 300**3 - 1)
    assert not compares_all_pairs(graded)
    found = by_name(accounts(graded, DRAWS, 1e-6))
    assert list(found) == ["n·ℓ", "any mechanism of this loss", COLUMNS]
    assert compares_all_pairs(
        NeighbourhoodMechanism([[i] for i in range(900)], outputs=900, epsilon=9.0)
    )


def test_device_compares_all_pairs_of_a_table_of_any_size(monkeypatch, graded):
    monkeypatch.setattr("syntf.mechanism.gpu.load_cupy", lambda device: np)
    usual = by_name(accounts(graded, DRAWS, 1e-6))
    monkeypatch.setattr(accounting, "MAX_CPU_WORK", 0)
    found = by_name(accounts(graded, DRAWS, 1e-6, device="cuda"))
    for ours, theirs in zip(usual[PAIRS], found[PAIRS], strict=True):
        assert theirs.epsilon == pytest.approx(ours.epsilon, rel=1e-10)


def test_missing_device_is_reported_before_the_work(monkeypatch, graded):
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr(renyi, "column_minimum", None)
    with pytest.raises(SyntfError, match="cupy"):
        accounts(graded, DRAWS, 1e-6, device="cuda")


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, float("nan"), float("inf"), True, "1e-6"])
def test_delta_outside_zero_and_one_is_refused(graded, delta):
    with pytest.raises(SyntfError, match="delta"):
        accounts(graded, DRAWS, delta)


def test_delta_may_be_a_numpy_float(graded):
    assert accounts(graded, [10], np.float32(0.25)) == accounts(graded, [10], 0.25)
