import itertools
import subprocess
import sys
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError, TableError
from syntf.core.exact import EXACT
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.privacy import renyi
from syntf.privacy.renyi import (
    COARSE,
    FINE,
    all_pairs,
    column_minimum,
    descend,
    least,
    orders,
    to_epsilon,
)

UNIT = 2.0**-53


def exact(p, q, a, total):
    """Return D of order 1 + a of two rows of weights to 50 digits; `q` may sum to less."""
    with localcontext(EXACT):
        terms = (
            x * ((Decimal(x).ln() - Decimal(y).ln()) * Decimal(a)).exp()
            for x, y in zip(p, q, strict=True)
        )
        return (sum(terms, Decimal(0)) / total).ln() / Decimal(a)


def weights(mechanism):
    return [mechanism.weights(row).tolist() for row in range(mechanism.shape[0])]


def worst(mechanism, a):
    """Return the greatest divergence of two rows, by comparing all pairs."""
    pairs = itertools.permutations(weights(mechanism), 2)
    return max(exact(p, q, a, mechanism.total) for p, q in pairs)


def similar(size, dimensions=50, seed=20180711):
    """Return ratings of synthetic words: cosines, clipped at 0."""
    vectors = np.random.default_rng(seed).normal(size=(size, dimensions))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.clip(vectors @ vectors.T, 0, 1)


# orders and conversion


def test_orders_that_floats_cannot_express_are_left_out():
    assert (min(FINE), max(COARSE)) == (2.0**-12, 128)
    assert set(COARSE) <= set(FINE)
    assert len(COARSE) == 39
    assert max(orders(43.0)) == 12
    assert max(orders(4.0)) == 128
    assert max(orders(4.6875)) == 128
    assert max(orders(4.69)) == 96


@given(st.sampled_from(FINE), st.floats(0, 50), st.integers(1, 10_000), st.floats(1e-12, 0.5))
def test_conversion_is_the_formula_rounded_up(a, divergence, draws, delta):
    with localcontext(EXACT):
        alpha = Decimal(a) + 1
        wanted = Decimal(divergence) * draws + ((alpha - 1) / alpha).ln()
        wanted -= (Decimal(delta) * alpha).ln() / (alpha - 1)
        found = Decimal(to_epsilon(divergence, a, draws, delta))
    assert max(Decimal(0), wanted) <= found
    assert found <= max(Decimal(0), wanted) + abs(wanted) * Decimal("3e-16") + Decimal("1e-39")


def test_conversion_by_hand():
    # α = 2: ε = n·D + ln ½ − ln 2δ
    assert to_epsilon(0.25, 1.0, 8, 0.01) == pytest.approx(
        2 + np.log(0.5) - np.log(0.02), rel=1e-15
    )
    assert to_epsilon(0.0, 1.0, 8, 0.9) == 0


DP_ACCOUNTING = """
import json, sys
from dp_accounting.rdp.rdp_privacy_accountant import compute_epsilon
print(json.dumps([compute_epsilon(*case) for case in json.load(sys.stdin)]))
"""


def test_conversion_agrees_with_dp_accounting(oracle):
    """For orders from 1.01 on: dp-accounting ignores smaller ones."""
    tables = [similar(30), similar(30, 3)]
    cases, own = [], []
    for ratings, epsilon, draws, delta in itertools.product(tables, (1, 9), (5, 300), (1e-6, 0.01)):
        mechanism = ExponentialMechanism(ratings, epsilon=float(epsilon))
        known = {
            a: d for a, d in column_minimum(mechanism, orders(mechanism.loss)).items() if a > 0.01
        }
        cases.append(([1 + a for a in known], [draws * d for d in known.values()], delta))
        own.append(least(known, draws, delta))
    for (epsilon, a), (theirs, order) in zip(own, oracle(DP_ACCOUNTING, cases), strict=True):
        assert epsilon == pytest.approx(theirs, rel=1e-12)
        assert order == 1 + a


def test_descent_finds_the_best_of_all_orders():
    mechanism = ExponentialMechanism(similar(60), epsilon=6.0)
    divergence = all_pairs(mechanism)
    candidates = orders(mechanism.loss)
    for draws in (20, 500, 20_000):
        best = least({a: divergence(a) for a in candidates}, draws, 1e-6)
        for start in (best[1], candidates[10], candidates[-10]):
            assert descend(divergence, candidates, start, draws, 1e-6) == best


# rows


@pytest.mark.parametrize("a", COARSE[::3])
def test_errors_of_powers_stay_within_the_bound(a):
    rng = np.random.default_rng(1)
    ratios = np.concatenate([1 + rng.random(40), np.exp(rng.uniform(0, min(43, 600 / a), 40)), [1]])
    made = {
        "in turn": dict(renyi._powers(ratios, set(COARSE[: COARSE.index(a) + 1])))[a],
        "by itself": dict(renyi._powers(ratios, {a}))[a],
    }
    for powers in made.values():
        with localcontext(EXACT):
            for ratio, power in zip(ratios, powers, strict=True):
                off = Decimal(float(power)).ln() - Decimal(float(ratio)).ln() * Decimal(a)
                assert abs(off) <= 8 * max(1, a) * UNIT


def test_powers_yields_exactly_the_requested_orders():
    ratios = np.array([[1.0, 2.0]])
    assert sorted(a for a, _ in renyi._powers(ratios, COARSE)) == COARSE
    for some in ({0.375}, {1.5}, {3.0, 0.25}, {128.0}, {2.0**-12}, {1.5 * 2.0**-12}):
        assert {a for a, _ in renyi._powers(ratios, some)} == some


TABLES = [
    (similar(7, 3), 0.5),
    (similar(7, 3), 8.0),
    (similar(6, 2), 60.0),
    (np.eye(5), 150.0),
    (np.random.default_rng(3).random((9, 4)), 20.0),
]


@pytest.mark.parametrize(("ratings", "epsilon"), TABLES)
def test_divergences_are_at_least_exact_and_close_to_it(ratings, epsilon):
    mechanism = ExponentialMechanism(ratings, epsilon=epsilon)
    candidates = orders(mechanism.loss)[::4]
    low = mechanism.extremes.low.tolist()
    columns, pairs = column_minimum(mechanism, candidates), all_pairs(mechanism)
    for a in candidates:
        over = Decimal("1e-12") + Decimal(100 * UNIT / a)
        truth = worst(mechanism, a)
        assert truth <= Decimal(pairs(a)) <= truth + over
        bound = max(exact(row, low, a, mechanism.total) for row in weights(mechanism))
        bound = min(bound, Decimal(mechanism.loss))
        assert bound <= Decimal(columns[a]) <= bound + over
        assert pairs(a) <= columns[a] <= mechanism.loss


@pytest.mark.parametrize("rows", [1, 3, 5000])
def test_block_sizes_do_not_change_divergences(monkeypatch, rows):
    ratings = similar(40)
    ratings[-1] = np.arange(40) == 39  # the last row is the one that differs most
    mechanism = ExponentialMechanism(ratings, epsilon=9.0)
    candidates = orders(mechanism.loss)
    columns, pairs = column_minimum(mechanism, candidates), all_pairs(mechanism)
    monkeypatch.setattr(renyi, "_BLOCK_ROWS", rows)
    monkeypatch.setattr(renyi, "_CACHE_ENTRIES", rows * 40)
    monkeypatch.setattr("syntf.core.parallel.BLOCK", rows * 100)
    again, in_blocks = column_minimum(mechanism, candidates), all_pairs(mechanism)
    for a in candidates:
        assert again[a] == pytest.approx(columns[a], rel=1e-9)
        assert in_blocks(a) == pytest.approx(pairs(a), rel=1e-9)


def test_divergence_of_chosen_rows():
    mechanism = ExponentialMechanism(similar(40), epsilon=9.0)
    some = np.array([3, 17, 4])
    chosen = [mechanism.weights(row).tolist() for row in some]
    pairs = [exact(p, q, 0.5, mechanism.total) for p, q in itertools.permutations(chosen, 2)]
    assert all_pairs(mechanism, rows=some)(0.5) == pytest.approx(float(max(pairs)), rel=1e-12)
    low = mechanism.extremes.low.tolist()
    columns = [exact(row, low, 0.5, mechanism.total) for row in chosen]
    found = column_minimum(mechanism, [0.5], some)
    assert found == {0.5: pytest.approx(float(max(columns)), rel=1e-12)}


def test_progress_counts_every_row():
    mechanism = ExponentialMechanism(similar(40), epsilon=9.0)
    progress_calls = []
    column_minimum(mechanism, [1.0], progress=progress_calls.append)
    all_pairs(mechanism, progress=progress_calls.append)
    assert sum(progress_calls) == 80


@pytest.mark.parametrize("change", ["low", "high", "sums"])
def test_rows_outside_the_measured_extremes_are_refused(change):
    mechanism = ExponentialMechanism(similar(12), epsilon=9.0)
    by = {"low": 1, "high": -1, "sums": 1}[change]
    getattr(mechanism.extremes, change)[5] += by
    for measure in (lambda: column_minimum(mechanism, [1.0]), lambda: all_pairs(mechanism)):
        with pytest.raises(TableError, match="differs from the one its loss was measured on"):
            measure()


def test_losses_of_400_synthetic_words():
    """400 words, n = 200, δ = 1e-6: all pairs ≤ column minimum ≤ n·ℓ, and they meet at large ε."""
    found = []
    for epsilon in (1.0, 4.0, 12.0, 24.0, 36.0):
        mechanism = ExponentialMechanism(similar(400, 8), epsilon=epsilon)
        candidates = orders(mechanism.loss)
        pure = 200 * mechanism.loss
        columns, a = least(column_minimum(mechanism, candidates), 200, 1e-6)
        pairs, _ = descend(all_pairs(mechanism), candidates, a, 200, 1e-6)
        found.append((min(pairs, pure), min(columns, pure), pure))
    assert all(pairs < columns < pure for pairs, columns, pure in found[:4])
    assert len(set(found[4])) == 1
    wanted = [
        (17.5, 28.3, 104.5), (132.5, 163.4, 423.7), (906.1, 929.7, 1303.7),
        (2446.5, 2449.7, 2543.3), (3719.1, 3719.1, 3719.1),
    ]  # fmt: skip
    np.testing.assert_allclose(found, wanted, atol=0.051)


# neighbourhoods


@pytest.mark.parametrize("a", [FINE[0], 0.011, 0.5, 1.0, 7.0, 40.0])
@pytest.mark.parametrize("bits", [6, 7, 12, 62])
@pytest.mark.parametrize(
    ("neighbours", "outputs", "apart"),
    [
        ([[0], [1], [4]], 5, True),
        ([[0, 1], [1, 2], [3, 4], [2, 0]], 5, True),
        ([[1, 0], [0, 1], [1, 2]], 4, False),
        ([[0, 1, 2], [2, 3, 0], [5, 4, 3]], 6, True),
        ([[0, 1], [1, 2]], 3, False),
    ],
)
def test_closed_form_bounds_every_pair_of_neighbourhood_rows(a, bits, neighbours, outputs, apart):
    mechanism = NeighbourhoodMechanism(neighbours, outputs=outputs, epsilon=2.2, total_bits=bits)
    truth, found = worst(mechanism, a), Decimal(renyi.neighbourhood(mechanism, a))
    assert truth <= found
    if apart and bits == 62:
        assert found <= truth + Decimal("1e-15")


def test_closed_form_agrees_with_comparing_all_rows():
    """0 and 1 as ratings; the losses and rows of both mechanisms are the same but for rounding."""
    nearest = np.random.default_rng(8).permutation(60)[:, None] // 2
    ratings = np.zeros((61, 30))
    np.put_along_axis(ratings[:60], nearest, 1, axis=1)
    graded = ExponentialMechanism(ratings, epsilon=9.0)
    sparse = NeighbourhoodMechanism(nearest, outputs=30, epsilon=9.0)
    pairs = all_pairs(graded)
    for a in orders(4.5):
        assert renyi.neighbourhood(sparse, a) == pytest.approx(pairs(a), rel=1e-8)


# devices


def test_another_array_library_agrees(monkeypatch):
    """NumPy stands in for CuPy, whose functions have the same names."""
    monkeypatch.setattr("syntf.mechanism.gpu.load_cupy", lambda device: np)
    mechanism = ExponentialMechanism(similar(70), epsilon=12.0)
    ours, theirs = all_pairs(mechanism), all_pairs(mechanism, "cuda")
    for a in orders(mechanism.loss):
        assert theirs(a) == pytest.approx(ours(a), rel=1e-10)
        assert Decimal(theirs(a)) >= exact(
            *(mechanism.weights(i).tolist() for i in (0, 1)), a, mechanism.total
        )


def test_missing_device_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(SyntfError, match="cuda needs cupy"):
        renyi.array_functions("cuda")


def test_cupy_is_imported_only_for_a_device(python):
    script = "import sys, syntf.privacy.accounting, syntf.cli.commands.bounds;"
    script += "sys.exit('cupy' in sys.modules)"
    assert subprocess.run([python, "-c", script], check=False).returncode == 0
