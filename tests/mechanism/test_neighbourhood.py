"""The neighbourhood mechanism: its rows, its draws, its loss, and that no other needs less.

What it shares with every mechanism is in test_mechanism.py.
"""

import doctest
import itertools
from bisect import bisect_left
from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import chi2

from syntf.core.errors import SyntfError, TableError
from syntf.core.exact import log_up
from syntf.mechanism import neighbourhood
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.nearest import nearest
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.rating import WordRating
from syntf.privacy import bounds

RNG = np.random.default_rng(2018)


def distinct(inputs, outputs, count, rng=RNG):
    """Neighbours at random, distinct in each row."""
    return np.argsort(rng.random((inputs, outputs)), axis=1)[:, :count]


@st.composite
def tables(draw):
    """Neighbours, outputs and bits of a total, from one output and one input on."""
    outputs = draw(st.integers(1, 12))
    count = draw(st.integers(1, outputs))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    neighbours = distinct(draw(st.integers(1, 6)), outputs, count, rng)
    if draw(st.booleans()):
        neighbours[:] = neighbours[0]  # some outputs are near to all inputs
    return neighbours, outputs, draw(st.sampled_from([8, 13, 40, 62]))


epsilons = st.one_of(st.floats(0.001, 200), st.sampled_from([0.001, 0.002, 40.0, 80.0, 1e6]))


def make(table, epsilon):
    """The mechanism; None if its total is too small for so small a loss, and it says so."""
    neighbours, outputs, bits = table
    try:
        return NeighbourhoodMechanism(neighbours, outputs=outputs, epsilon=epsilon, total_bits=bits)
    except SyntfError as error:
        assert "below what whole numbers can express" in str(error)  # noqa: PT017
        assert epsilon < 4 * outputs**2 / 2**bits
        return None


def rows(mechanism):
    return [mechanism.weights(row).tolist() for row in range(mechanism.shape[0])]


@settings(max_examples=200)
@given(tables(), epsilons)
def test_rows_are_a_background_plus_shares_that_differ_by_at_most_one(table, epsilon):
    mechanism = make(table, epsilon)
    if mechanism is None:
        return
    neighbours, outputs, bits = table
    *words, empty = rows(mechanism)
    b = mechanism.background
    assert b >= 1
    for near, row in zip(neighbours.tolist(), words, strict=True):
        assert sum(row) == 2**bits
        shares = [row[w] - b for w in near]
        assert all(weight == b for w, weight in enumerate(row) if w not in near)
        assert shares == sorted(shares, reverse=True)
        assert shares[0] - shares[-1] <= 1
        assert sum(shares) == 2**bits - outputs * b
    assert sum(empty) == 2**bits
    assert empty == sorted(empty, reverse=True)
    assert empty[0] - empty[-1] <= 1


@settings(max_examples=200)
@given(tables(), epsilons)
def test_loss_equals_brute_force_and_is_at_most_half_of_epsilon(table, epsilon):
    mechanism = make(table, epsilon)
    if mechanism is None:
        return
    largest = max(
        Fraction(one[w], other[w])
        for one, other in itertools.product(rows(mechanism), repeat=2)
        for w in range(table[1])
    )
    assert mechanism.ratio == largest
    assert mechanism.loss == log_up(largest)
    assert mechanism.loss <= epsilon / 2
    low, high = mechanism.column_extremes()
    columns = list(zip(*rows(mechanism), strict=True))
    assert (low.tolist(), high.tolist()) == ([*map(min, columns)], [*map(max, columns)])


@settings(max_examples=200)
@given(tables(), epsilons)
def test_background_is_the_least_that_keeps_to_the_loss(table, epsilon):
    mechanism = make(table, epsilon)
    if mechanism is None:
        return
    (_, count), outputs = table[0].shape, table[1]

    def worst(background):
        share = -((outputs * background - mechanism.total) // count)
        return Fraction(background + share, background)

    with localcontext(prec=80):
        allowed = (Decimal(min(epsilon, 400)) / 2).exp()  # above e^100, all is allowed
        below = mechanism.background - 1
        assert worst(mechanism.background) <= Fraction(allowed)
        assert below == 0 or worst(below) > Fraction(allowed)


@settings(max_examples=100)
@given(st.integers(1, 5), st.data())
def test_rows_of_different_tables_keep_to_the_loss(outputs, data):
    """The theorem: what any k distinct neighbours make of a row is within R of any other."""
    count = data.draw(st.integers(1, outputs))
    epsilon = data.draw(st.floats(0.01, 100))
    every = np.array(list(itertools.permutations(range(outputs), count)))
    mechanism = NeighbourhoodMechanism(every, outputs=outputs, epsilon=epsilon)
    one = NeighbourhoodMechanism(every[-1:], outputs=outputs, epsilon=epsilon)
    assert one.background == mechanism.background
    assert one.ratio <= mechanism.ratio
    assert log_up(mechanism.ratio) <= epsilon / 2


@pytest.mark.parametrize(
    ("outputs", "count", "epsilon"),
    [
        (10, 3, 4.0),
        (10, 3, 0.2),
        (9, 9, 4.0),  # every output is a neighbour
        (1, 1, 4.0),
        (8, 3, 1e-9),  # nothing is left for the neighbours
        (7, 5, 0.002),  # less is left than there are neighbours
        (31, 30, 7.0),
        (5, 2, 300.0),  # a background of one
    ],
)
def test_every_point_gives_the_output_whose_weight_covers_it(outputs, count, epsilon):
    """Exhaustively: of all 2**14 values of the entropy, each output gets its weight."""
    neighbours = distinct(4, outputs, count)
    mechanism = NeighbourhoodMechanism(neighbours, outputs=outputs, epsilon=epsilon, total_bits=14)
    raw = (np.arange(1 << 14, dtype="<u8") << np.uint64(50)).tobytes()
    for row in range(5):
        drawn = mechanism.sample(np.full(1 << 14, row), source=lambda size: raw)
        assert np.bincount(drawn, minlength=outputs).tolist() == mechanism.weights(row).tolist()


def test_the_cases_above_have_the_named_properties():
    def made(outputs, count, epsilon):
        return NeighbourhoodMechanism(
            distinct(4, outputs, count), outputs=outputs, epsilon=epsilon, total_bits=14
        )

    assert made(8, 3, 1e-9).background == 2**14 // 8
    assert 0 < 2**14 - 7 * made(7, 5, 0.002).background < 5
    assert made(5, 2, 300.0).background == 1


def test_extreme_points_give_the_first_and_the_last_output():
    def drawn(mechanism, row, *edges):
        raw = b"".join((edge << 2).to_bytes(8, "little") for edge in edges)
        return mechanism.sample([row] * len(edges), source=lambda size: raw).tolist()

    mechanism = NeighbourhoodMechanism([[3, 1, 4]], outputs=5, epsilon=6.5)
    b, common = mechanism.background, 5 * mechanism.background
    share, rest = divmod(2**62 - common, 3)
    assert drawn(mechanism, 0, 0, b - 1, b, common - 1) == [0, 0, 1, 4]
    ends = common + share - 1, common + share, common + 3 * share - 1, 2**62 - 1
    assert rest == 2  # the last two points are the first and the second neighbour's
    assert drawn(mechanism, 0, common, *ends) == [3, 3, 1, 4, 1]
    fifth = 2**62 // 5
    assert 2**62 % 5 == 4
    ends = fifth - 1, fifth, 5 * fifth - 1, 5 * fifth, 2**62 - 1
    assert drawn(mechanism, 1, 0, *ends) == [0, 0, 1, 4, 0, 3]


@pytest.mark.parametrize("step", [1, 7, 64])
def test_block_size_does_not_change_draws(monkeypatch, step):
    mechanism = NeighbourhoodMechanism(distinct(20, 30, 4), outputs=30, epsilon=5.0)
    inputs, raw = RNG.integers(0, 21, 500), RNG.bytes(8 * 500)
    whole = mechanism.sample(inputs, source=lambda size: raw)
    monkeypatch.setattr("syntf.mechanism.neighbourhood._BLOCK_DRAWS", step)
    progress_calls = []
    found = mechanism.sample(inputs, source=lambda size: raw, progress=progress_calls.append)
    assert (found == whole).all()
    assert (max(progress_calls), sum(progress_calls)) == (step, 500)


@pytest.mark.parametrize("loss", [0.001, 1.0, 8.0, 9.0, 10.0, 11.0, 20.0])
@pytest.mark.parametrize(("outputs", "count"), [(10_000, 1), (10_000, 3), (5_000, 1), (7, 2)])
def test_probability_of_a_neighbour_has_a_closed_form(outputs, count, loss):
    """k·e^ℓ / (k·e^ℓ + M − k), at the measured loss, which is all but the wanted one."""
    neighbours = distinct(8, outputs, count)
    mechanism = NeighbourhoodMechanism(neighbours, outputs=outputs, epsilon=2 * loss)
    assert mechanism.loss == pytest.approx(loss, rel=1e-9, abs=1e-10)
    measured = sum(mechanism.weights(0)[neighbours[0]].tolist()) / 2**62
    odds = count * exp(mechanism.loss) / (outputs - count)
    assert measured == pytest.approx(odds / (1 + odds), rel=1e-12)
    low, high = bounds.utility_bounds(2 * loss, count, outputs - count, gap=1.0)
    assert low == high == pytest.approx(measured, rel=1e-9)
    needed = bounds.necessary_epsilon(measured, count, outputs - count)
    assert needed == pytest.approx(2 * loss, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 20.0])
def test_it_equals_the_exponential_mechanism_for_ratings_of_zero_and_one(epsilon):
    neighbours = distinct(12, 20, 3)
    ratings = np.zeros((13, 20))
    np.put_along_axis(ratings[:12], neighbours, 1, axis=1)
    graded = ExponentialMechanism(ratings, epsilon=epsilon)
    mechanism = NeighbourhoodMechanism(neighbours, outputs=20, epsilon=epsilon)
    assert mechanism.shape == graded.shape
    assert mechanism.loss == pytest.approx(graded.loss, rel=1e-6)
    for row in range(13):
        np.testing.assert_allclose(mechanism.weights(row), graded.weights(row), rtol=1e-6)


def best_chance(good, outputs, ratio):
    """By linear programming, the largest p with which any mechanism at all, its columns
    within `ratio`, returns a good output for every input; one more input has none."""
    inputs = len(good) + 1
    size = inputs * outputs
    above, zeros = [], np.zeros(size + 1)
    for w in range(outputs):
        for v, other in itertools.permutations(range(inputs), 2):
            row = zeros.copy()
            row[v * outputs + w], row[other * outputs + w] = 1, -ratio
            above.append(row)
    for v, near in enumerate(good):
        row = zeros.copy()
        row[v * outputs + np.array(near)], row[-1] = -1, 1
        above.append(row)
    equal = np.zeros((inputs, size + 1))
    for v in range(inputs):
        equal[v, v * outputs : (v + 1) * outputs] = 1
    goal = zeros.copy()
    goal[-1] = -1
    found = linprog(goal, np.array(above), np.zeros(len(above)), equal, np.ones(inputs))
    assert found.status == 0
    return -found.fun


BALANCED = {
    "own word": (6, [[w] for w in range(6)]),
    "cycle of two": (5, [[w, (w + 1) % 5] for w in range(5)]),
    "cycle of three": (7, [[w, (w + 1) % 7, (w + 2) % 7] for w in range(7)]),
    "partition": (6, [[0, 1], [2, 3], [4, 5]]),
    "unequal inputs": (4, [[0], [0], [0], [1], [2], [3], [3]]),
    "all pairs": (4, [list(pair) for pair in itertools.combinations(range(4), 2)]),
}


@pytest.mark.parametrize("case", BALANCED)
@pytest.mark.parametrize("loss", [0.3, 1.0, 3.0])
def test_no_mechanism_returns_a_neighbour_more_often(case, loss):
    """The optimum over all mechanisms, of whatever form, is the closed form, and ours."""
    outputs, good = BALANCED[case]
    count = len(good[0])
    best = best_chance(good, outputs, exp(loss))
    odds = count * exp(loss) / (outputs - count)
    assert best == pytest.approx(odds / (1 + odds), abs=1e-8)
    mechanism = NeighbourhoodMechanism(good, outputs=outputs, epsilon=2 * loss)
    for row, near in enumerate(good):
        assert sum(mechanism.weights(row)[near].tolist()) / 2**62 == pytest.approx(best, abs=1e-8)
    assert log(best * (outputs - count) / ((1 - best) * count)) == pytest.approx(loss, abs=1e-6)


@pytest.mark.parametrize(
    ("outputs", "good"),
    [
        (4, [[0], [0], [1]]),  # outputs 2 and 3 are good for nobody
        (3, [[0, 1], [0, 2]]),  # output 0 is good for everybody
    ],
)
def test_other_mechanisms_can_do_better_if_outputs_are_covered_unequally(outputs, good):
    """So the condition of the theorem is needed."""
    odds = len(good[0]) * exp(1.0) / (outputs - len(good[0]))
    assert best_chance(good, outputs, exp(1.0)) > odds / (1 + odds) + 0.01


@pytest.mark.parametrize("loss", [0.3, 1.0, 3.0])
@pytest.mark.parametrize(
    ("outputs", "covered", "good"),
    [(6, 3, [[0], [1], [2]]), (7, 4, [[0, 1], [2, 3]]), (4, 2, [[0], [0], [1]])],
)
def test_equally_covered_outputs_bound_the_probability(outputs, covered, good, loss):
    def chance(size):
        odds = len(good[0]) * exp(loss) / (size - len(good[0]))
        return odds / (1 + odds)

    assert chance(outputs) < best_chance(good, outputs, exp(loss)) <= chance(covered) + 1e-9


def test_the_page_on_neighbours_agrees_with_the_formulas():
    page = Path(__file__).parents[2] / "docs" / "neighbourhood.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert (failed, tried) == (0, 4)


def test_inputs_with_the_same_neighbours_lose_less():
    mechanism = NeighbourhoodMechanism([[4, 2]] * 9, outputs=10, epsilon=8.0)
    word, empty = rows(mechanism)[0], rows(mechanism)[-1]
    assert mechanism.ratio == max(Fraction(word[4], empty[4]), Fraction(empty[0], word[0]))
    assert mechanism.loss < 3.5
    all_alike = NeighbourhoodMechanism([[0, 1, 2], [2, 0, 1]], outputs=3, epsilon=8.0)
    assert 0 < all_alike.loss < 1e-17
    assert NeighbourhoodMechanism([[0]], outputs=1, epsilon=8.0).loss == 0


@pytest.mark.parametrize("epsilon", [90.0, 200.0, 1e6, 1e308])
def test_a_huge_epsilon_gives_the_largest_possible_loss(epsilon):
    mechanism = NeighbourhoodMechanism([[0, 1, 2], [3, 4, 5]], outputs=100, epsilon=epsilon)
    assert mechanism.background == 1
    assert mechanism.ratio == 1 + Fraction(-((100 - 2**62) // 3))
    assert mechanism.loss == pytest.approx(log(2**62 / 3))
    assert mechanism.weights(0).min() == 1


@pytest.mark.parametrize("epsilon", [1e-13, 1e-300, 5e-324])
def test_a_tiny_epsilon_is_refused_or_has_no_loss(epsilon):
    with pytest.raises(SyntfError, match="below what whole numbers can express"):
        NeighbourhoodMechanism([[0], [1]], outputs=10_000, epsilon=epsilon)
    assert NeighbourhoodMechanism([[0], [1]], outputs=8192, epsilon=epsilon).loss == 0


@pytest.mark.parametrize(
    ("neighbours", "message"),
    [
        ([[0, 1], [2, 2]], "twice"),
        ([[0, 1, 0]], "twice"),
        ([[0, -1]], "0 … 4"),
        ([[0, 5]], "0 … 4"),
        (np.array([[2**32 + 1]]), "0 … 4"),
        (np.array([[2**63 + 1]], dtype=np.uint64), "0 … 4"),
        ([[0, 1, 2, 3, 4, 0]], "6 distinct neighbours do not fit 5 outputs"),
        ([[0.0, 1.0]], "integers"),
        ([[float("nan")]], "integers"),
        ([[True]], "integers"),
        ([["1"]], "integers"),
        ([0, 1], "inputs × k"),
        ([[]], "inputs × k"),
        (np.empty((0, 2), dtype=int), "inputs × k"),
        ([[[0]]], "inputs × k"),
    ],
)
def test_invalid_neighbours_are_refused(neighbours, message):
    with pytest.raises(TableError, match=message):
        NeighbourhoodMechanism(neighbours, outputs=5, epsilon=1.0)


@pytest.mark.parametrize("outputs", [0, -3, 2**31 + 1])
def test_invalid_numbers_of_outputs_are_refused(outputs):
    with pytest.raises(SyntfError, match=f"{outputs} outputs do not fit"):
        NeighbourhoodMechanism([[0]], outputs=outputs, epsilon=1.0)


@pytest.mark.parametrize("change", [1, -1, 100, -100])
def test_a_changed_neighbour_is_refused_before_any_entropy_is_read(change):
    """trust 3: the rows drawn from are the rows accounted for."""

    def no_entropy(size):
        raise AssertionError("read entropy for a changed table")

    mechanism = NeighbourhoodMechanism([[5, 6], [7, 8], [1, 2]], outputs=20, epsilon=4.0)
    mechanism._neighbours[1, 0] += change
    with pytest.raises(TableError, match="nothing was drawn"):
        mechanism.sample([0, 1], source=no_entropy)
    mechanism._neighbours[1, 0] -= change
    assert mechanism.sample([0, 1]).shape == (2,)


def test_the_mechanism_copies_its_neighbours():
    given_table = np.array([[0, 1], [2, 3]], dtype=np.int32)
    mechanism = NeighbourhoodMechanism(given_table, outputs=5, epsilon=4.0)
    given_table[:] = 4
    mechanism.sample([0, 1, 2])
    assert int(mechanism.weights(1).argmax()) in (2, 3)


def test_digest_covers_everything_that_determines_the_rows():
    table = np.array([[0, 1], [2, 3]])

    def digest(neighbours=table, outputs=5, epsilon=4.0, **more):
        return NeighbourhoodMechanism(neighbours, outputs=outputs, epsilon=epsilon, **more).digest

    others = {
        digest(table[:, ::-1]),
        digest(table[::-1]),
        digest([[0, 1], [2, 4]]),
        digest(table[:, :1]),
        digest(table.reshape(4, 1)),
        digest(outputs=6),
        digest(epsilon=np.nextafter(4.0, 5)),
        digest(rating_digest="other words"),
        digest(total_bits=61),
    }
    assert len(others) == 9
    assert digest() not in others
    for kind in (np.int8, np.uint64, ">i4", "<i8"):
        assert digest(table.astype(kind)) == digest(np.asfortranarray(table)) == digest()


def real_table(embedded, count, epsilon):
    """3,000 embedded words by the nearest of 1,000 of them."""
    words, matrix = embedded.words[:3000], embedded.matrix[:3000]
    rating = WordRating(words, matrix, words[500:1500], matrix[500:1500], spelling=0.3)
    neighbours = nearest(rating, count)
    return neighbours, NeighbourhoodMechanism(neighbours, outputs=1000, epsilon=epsilon)


@pytest.mark.parametrize("count", [1, 3])
def test_samples_fit_the_table_and_reject_ten_percent_more_or_less(embedded, count):
    """trust 11, on real words: accepts the truth at 1e-6, rejects ε × 1.1 and ε × 0.9."""
    neighbours, mechanism = real_table(embedded, count, 14.0)
    drawn = mechanism.sample(np.full(200_000, 2_999))
    # A cell for each neighbour, and ten outputs a cell for all others.
    others = np.setdiff1d(np.arange(1000), neighbours[2_999])
    cells = np.empty(1000, dtype=int)
    cells[neighbours[2_999]] = np.arange(count)
    cells[others] = count + np.arange(len(others)) // 10
    counts = np.bincount(cells[drawn])
    for factor in (0.9, 1.0, 1.1):
        weights = real_table(embedded, count, 14.0 * factor)[1].weights(2_999)
        expected = 200_000 * np.bincount(cells, weights / 2.0**62)
        assert expected.min() > 5
        statistic = ((counts - expected) ** 2 / expected).sum()
        assert (statistic <= chi2.isf(1e-6, len(expected) - 1)) == (factor == 1.0), factor


def test_memory_is_proportional_to_the_neighbours():
    mechanism = NeighbourhoodMechanism(
        RNG.integers(0, 10_000, (100_000, 1)), outputs=10_000, epsilon=20.0
    )
    kept = [value for value in vars(mechanism).values() if isinstance(value, np.ndarray)]
    assert sum(array.nbytes for array in kept) <= 100_000 * 4 + 8
    assert mechanism.sample(np.arange(100_001)).max() < 10_000


@given(
    loss=st.floats(1e-9, 60),
    bits=st.integers(8, 62),
    outputs=st.integers(1, 200),
    count=st.integers(1, 20),
)
def test_the_background_is_the_least_that_keeps_the_loss(loss, bits, outputs, count):
    total = 1 << bits

    def suffices(background):
        shared = total - outputs * background
        return log_up(Fraction(background - (-shared // count), background)) <= loss

    candidates = range(1, total // outputs + 1)
    place = bisect_left(candidates, True, key=suffices)
    if place == len(candidates):
        with pytest.raises(SyntfError, match="below what whole numbers can express"):
            neighbourhood._background(loss, total, outputs, count)
    else:
        assert neighbourhood._background(loss, total, outputs, count) == candidates[place]
