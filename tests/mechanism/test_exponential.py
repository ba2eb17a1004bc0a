"""The guarantee: trust.md's points on the mechanism, each with the test that holds it."""

import itertools
import multiprocessing
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.stats import chi2

from syntf.core.errors import SyntfError, TableError
from syntf.core.exact import GRID, log_up
from syntf.core.parallel import BLOCK
from syntf.mechanism.exponential import ExponentialMechanism, Extremes
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.rating import ArrayRating
from syntf.privacy import bounds

RNG = np.random.default_rng(2018)

ratings = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.floats(0, 1),
)
epsilons = st.floats(0.01, 200)


def all_weights(mechanism):
    return np.array([mechanism.weights(row) for row in range(mechanism.shape[0])])


def exponential(inputs, outputs, epsilon, **more):
    return ExponentialMechanism(RNG.random((inputs, outputs)), epsilon=epsilon, **more)


def neighbourhood(inputs, outputs, epsilon, **more):
    """One input is the document without a known word, the others have up to 3 neighbours."""
    order = np.argsort(RNG.random((inputs - 1, outputs)), axis=1)
    return NeighbourhoodMechanism(order[:, :3], outputs=outputs, epsilon=epsilon, **more)


every = pytest.mark.parametrize("make", [exponential, neighbourhood])


@settings(max_examples=150, deadline=None)
@given(ratings, epsilons)
def test_rows_are_positive_integers_with_one_common_total(values, epsilon):
    """Point 1."""
    weights = all_weights(ExponentialMechanism(values, epsilon=epsilon))
    assert weights.dtype == np.int64
    assert weights.min() >= 1
    assert [sum(row) for row in weights.tolist()] == [2**62] * len(values)


@settings(max_examples=150, deadline=None)
@given(ratings, epsilons)
def test_loss_equals_brute_force_over_all_pairs(values, epsilon):
    """Point 2: brute force over all pairs, in exact fractions, the logarithm rounded up."""
    mechanism = ExponentialMechanism(values, epsilon=epsilon)
    weights = all_weights(mechanism).tolist()
    largest = max(
        Fraction(one[w], other[w])
        for one, other in itertools.product(weights, repeat=2)
        for w in range(len(one))
    )
    assert mechanism.ratio == largest
    assert mechanism.loss == log_up(largest)


@every
def test_loss_equals_brute_force_for_fifty_words(make):
    mechanism = make(50, 50, 47.5)
    assert mechanism.shape == (50, 50)
    weights = all_weights(mechanism).tolist()
    assert {sum(row) for row in weights} == {mechanism.total} == {2**62}
    assert min(map(min, weights)) >= 1
    largest = max(
        Fraction(one[w], other[w])
        for one, other in itertools.permutations(weights, 2)
        for w in range(50)
    )
    assert mechanism.ratio == largest
    assert mechanism.loss == log_up(largest)


@settings(max_examples=100, deadline=None)
@given(ratings, st.floats(0.01, 60))
def test_rows_are_the_softmax_of_the_rounded_ratings(values, epsilon):
    mechanism = ExponentialMechanism(values, epsilon=epsilon)
    exponent = epsilon / 2 * np.rint(values * GRID) / GRID
    exact = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    # With at most 12 outputs the least integer of the table is 2**57 · exp(-ε/2), rounded.
    rounding = 0.5 / (2.0**57 * np.exp(-epsilon / 2))
    np.testing.assert_allclose(
        all_weights(mechanism) / 2.0**62, exact, rtol=2 * rounding + 1e-13, atol=0
    )


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 16.0, 40.0])
@pytest.mark.parametrize("good", [1, 3])
def test_flat_neighbourhoods_cost_half_of_epsilon(epsilon, good):
    """Rated 1 for `good` outputs and 0 for the others: the loss is ε/2, in closed form."""
    values = np.zeros((20, 20))
    for row in range(20):
        values[row, (row + np.arange(good)) % 20] = 1
    mechanism = ExponentialMechanism(values, epsilon=epsilon)
    assert mechanism.loss == pytest.approx(epsilon / 2, abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(ratings, epsilons)
def test_tight_is_at_most_improved_is_at_most_standard(values, epsilon):
    mechanism = ExponentialMechanism(values, epsilon=epsilon)
    improved = bounds.improved_loss(epsilon, values.shape[1])
    assert mechanism.loss <= improved * (1 + 1e-9) + 1e-9
    assert improved <= epsilon * (1 + 1e-12)


def every_point(bits):
    """A source that gives each integer below 2**bits once, in order."""
    points = np.arange(1 << bits, dtype="<u8") << np.uint64(64 - bits)
    return lambda size: points.tobytes()[:size]


@every
@pytest.mark.parametrize("epsilon", [0.1, 2.0, 12.0, 200.0])
def test_all_4096_inputs_reproduce_the_weights(make, epsilon):
    """Point 4, exhaustively: a 12-bit total, every value the entropy can take."""
    mechanism = make(5, 9, epsilon, total_bits=12)
    for row in range(5):
        drawn = mechanism.sample(np.full(4096, row), source=every_point(12))
        assert np.bincount(drawn, minlength=9).tolist() == mechanism.weights(row).tolist()


def test_extreme_points_give_the_first_and_the_last_output():
    mechanism = ExponentialMechanism([[0.2, 0.9, 0.4]], epsilon=9.0)
    upto = np.cumsum(mechanism.weights(0)).tolist()
    edges = [0, upto[0] - 1, upto[0], upto[1] - 1, upto[1], 2**62 - 1]
    raw = b"".join((edge << 2).to_bytes(8, "little") for edge in edges)
    assert mechanism.sample([0] * 6, source=lambda size: raw).tolist() == [0, 0, 1, 1, 2, 2]


@every
def test_draw_i_uses_the_ith_eight_bytes_whatever_the_rows(make):
    mechanism = make(7, 11, 8.0)
    rows = RNG.integers(0, 7, 500)
    raw = RNG.bytes(8 * 500)
    drawn = mechanism.sample(rows, source=lambda size: raw)
    for i in RNG.integers(0, 500, 60):
        alone = mechanism.sample(rows[i : i + 1], source=lambda size, i=i: raw[8 * i : 8 * i + 8])
        assert alone[0] == drawn[i]


def test_blocks_and_threads_do_not_change_what_is_measured_or_drawn(monkeypatch):
    values = RNG.random((97, 31))
    rows = RNG.integers(0, 97, 4000)
    raw = RNG.bytes(8 * 4000)
    whole = ExponentialMechanism(values, epsilon=20.0)
    drawn = whole.sample(rows, source=lambda size: raw)
    assert BLOCK > 97 * 31
    monkeypatch.setattr("syntf.core.parallel.BLOCK", 100)
    parts = ExponentialMechanism(values, epsilon=20.0)
    assert parts.digest == whole.digest
    assert (parts.sample(rows, source=lambda size: raw) == drawn).all()


def chi_square(counts, weights):
    """The statistic and its bound at 1e-6, cells pooled until each expects ten or more."""
    order = np.argsort(weights)
    expected = counts.sum() * (weights / weights.sum())[order]
    cell = np.floor(np.cumsum(expected) / 10).astype(int)
    expected, found = np.bincount(cell, expected), np.bincount(cell, counts[order])
    expected, found = expected[expected > 0], found[expected > 0]
    return ((found - expected) ** 2 / expected).sum(), chi2.isf(1e-6, len(expected) - 1)


def test_samples_fit_the_table_and_reject_ten_percent_more_or_less():
    """Point 11: accepts the truth at 1e-6 and rejects ε × 1.1 and ε × 0.9."""
    values = np.clip(RNG.normal(0.3, 0.2, (3, 400)), 0, 1)
    tables = {x: ExponentialMechanism(values, epsilon=20.0 * x) for x in (0.9, 1.0, 1.1)}
    drawn = tables[1.0].sample(np.zeros(400_000, dtype=int))
    counts = np.bincount(drawn, minlength=400)
    for factor, table in tables.items():
        statistic, bound = chi_square(counts, table.weights(0).astype(np.float64))
        assert (statistic <= bound) == (factor == 1.0), (factor, statistic, bound)


@pytest.mark.parametrize("change", [1, -1, 100])
def test_a_flipped_weight_is_refused(change):
    """Point 3: the row drawn from must be the row accounted for."""
    values = RNG.random((6, 8)) * 0.8 + 0.1
    mechanism = ExponentialMechanism(values, epsilon=10.0)
    mechanism.rating._levels[2, 3] = int(mechanism.rating._levels[2, 3]) + change
    mechanism.sample([0, 1, 3, 4, 5])
    with pytest.raises(TableError, match="nothing was drawn"):
        mechanism.sample([0, 2])


def test_swapped_weights_beyond_the_loss_are_refused():
    values = np.full((4, 6), 0.5)
    values[np.arange(4), np.arange(4)] = 1.0
    mechanism = ExponentialMechanism(values, epsilon=10.0)
    levels = mechanism.rating._levels
    levels[0, [0, 5]] = levels[0, [5, 0]]  # output 5 was never rated high: outside its extremes
    with pytest.raises(TableError):
        mechanism.sample([0])


def test_a_wrong_measurement_fails_draws_and_never_shrinks_the_loss():
    mechanism = ExponentialMechanism(RNG.random((6, 8)), epsilon=10.0)
    found = mechanism.extremes
    narrow = Extremes(found.sums, found.low, np.minimum(found.high, found.high.max() - 1))
    lying = ExponentialMechanism(mechanism.rating, epsilon=10.0, extremes=narrow)
    with pytest.raises(TableError):
        lying.sample(np.arange(6))
    zero = Extremes(found.sums, np.zeros_like(found.low), found.high)
    with pytest.raises(TableError, match="below 1"):
        ExponentialMechanism(mechanism.rating, epsilon=10.0, extremes=zero)


@pytest.mark.parametrize(("name", "value"), [("high", -(2**63)), ("low", 2**63 - 1)])
def test_bounds_beyond_all_weights_still_refuse_every_row(name, value):
    """A difference from such a bound does not fit in 64 bits."""
    mechanism = ExponentialMechanism(RNG.random((6, 8)), epsilon=10.0)
    bounds = {array: found.copy() for array, found in vars(mechanism.extremes).items()}
    bounds[name][3] = value
    lying = ExponentialMechanism(mechanism.rating, epsilon=10.0, extremes=Extremes(**bounds))
    for row in range(6):
        with pytest.raises(TableError, match="nothing was drawn"):
            lying.sample([row])


@pytest.mark.parametrize("name", ["sums", "low", "high"])
def test_extremes_of_another_shape_are_refused_and_byte_order_is_converted(name):
    mechanism = ExponentialMechanism(RNG.random((6, 8)), epsilon=10.0)
    given_arrays = vars(mechanism.extremes)
    swapped = {**given_arrays, name: given_arrays[name].astype(">i8")}
    again = ExponentialMechanism(mechanism.rating, epsilon=10.0, extremes=Extremes(**swapped))
    assert again.digest == mechanism.digest
    again.sample(np.arange(6))
    long = {**given_arrays, name: np.append(given_arrays[name], 1)}
    with pytest.raises(TableError, match="another shape"):
        ExponentialMechanism(mechanism.rating, epsilon=10.0, extremes=Extremes(**long))


@pytest.mark.parametrize("change", [np.int64, np.dtype(">u2"), "short"])
def test_levels_of_a_wrong_type_or_shape_are_refused(change):
    class Odd(ArrayRating):
        def levels(self, rows):
            levels = super().levels(rows)
            return levels[:, :-1] if change == "short" else levels.astype(change)

    with pytest.raises(TableError, match="uint16 levels"):
        ExponentialMechanism(Odd(RNG.random((3, 4))), epsilon=1.0)


def test_digest_covers_epsilon_ratings_and_total():
    values = RNG.random((4, 5))
    other = values.copy()
    other[3, 4] += 2 / GRID if other[3, 4] < 0.5 else -2 / GRID
    made = [
        ExponentialMechanism(values, epsilon=5.0),
        ExponentialMechanism(values, epsilon=np.nextafter(5.0, 6)),
        ExponentialMechanism(other, epsilon=5.0),
        ExponentialMechanism(values, epsilon=5.0, total_bits=61),
    ]
    assert len({mechanism.digest for mechanism in made}) == 4
    assert ExponentialMechanism(values.copy(), epsilon=5.0).digest == made[0].digest


@every
@pytest.mark.parametrize(
    "epsilon", [float("nan"), float("inf"), -float("inf"), 0, -2.0, True, False, None, "3"]
)
def test_an_invalid_epsilon_is_refused_with_its_value(make, epsilon):
    """Point 9."""
    with pytest.raises(SyntfError, match="epsilon") as error:
        make(2, 2, epsilon)
    assert repr(epsilon) in str(error.value)


@every
@pytest.mark.parametrize("rows", [[-1], [2], [0, 5], [0.5], ["0"], [True, False]])
def test_invalid_rows_are_refused_before_entropy_is_read(make, rows):
    def no_entropy(size):
        raise AssertionError("read entropy for bad rows")

    mechanism = make(2, 5, 1.0)
    with pytest.raises(SyntfError, match="rows must"):
        mechanism.sample(rows, source=no_entropy)
    if rows[0] in (-1, 2):
        with pytest.raises(SyntfError, match="rows must lie in 0 … 1"):
            mechanism.weights(rows[0])


def test_too_many_draws_are_refused():
    with pytest.raises(SyntfError, match="2147483648 draws at once"):
        exponential(2, 5, 1.0).sample(np.broadcast_to(0, 1 << 31))


@every
def test_outputs_that_do_not_fit_the_total_are_refused(make):
    with pytest.raises(SyntfError, match=r"2\*\*4"):
        make(2, 9, 1.0, total_bits=4)


@every
def test_no_rows_give_no_draws(make):
    mechanism = make(2, 5, 1.0)
    assert mechanism.sample(np.zeros((0,), dtype=int)).shape == (0,)
    assert mechanism.sample(np.zeros((2, 3), dtype=int)).shape == (2, 3)


@every
def test_entropy_read_depends_on_the_number_of_draws_alone(make):
    """Point 12, for the mechanism."""
    asked = []

    def recording(size):
        asked.append(size)
        return bytes(size)

    mechanism = make(9, 4, 3.0)
    for rows in ([0] * 12, [8] * 12, [*range(9), 0, 1, 2]):
        mechanism.sample(rows, source=recording)
    assert asked == [96, 96, 96]


@every
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_never_repeat_a_stream(make, method):
    """Point 5: forked and pickled copies draw anew."""
    mechanism = make(2, 1000, 1.0)
    rows = [0] * 200
    with multiprocessing.get_context(method).Pool(3, maxtasksperchild=1) as pool:
        drawn = pool.map(mechanism.sample, [rows] * 3, chunksize=1)  # each in a process of its own
    drawn.append(mechanism.sample(rows))
    assert len({tuple(draws.tolist()) for draws in drawn}) == 4


@every
def test_there_is_no_seed(make):
    """Point 6: the private path takes no seed and NumPy's has no effect on it."""
    mechanism = make(2, 1000, 1.0)
    draws = []
    for _ in range(2):
        np.random.seed(0)
        draws.append(mechanism.sample([0] * 100).tolist())
    assert draws[0] != draws[1]


def test_an_error_in_a_worker_is_raised(monkeypatch):
    class Broken(ArrayRating):
        def levels(self, rows):
            if 60 in rows:
                raise MemoryError("worker died")
            return super().levels(rows)

    monkeypatch.setattr("syntf.core.parallel.BLOCK", 40)
    with pytest.raises(MemoryError, match="worker died"):
        ExponentialMechanism(Broken(RNG.random((97, 4))), epsilon=1.0)


def test_progress_counts_every_row():
    progress_calls = []
    ExponentialMechanism(RNG.random((30, 4)), epsilon=1.0, progress=progress_calls.append)
    assert sum(progress_calls) == 30


@every
def test_progress_counts_every_draw(make):
    progress_calls = []
    make(30, 4, 1.0).sample([3, 3, 7, 29], progress=progress_calls.append)
    assert sum(progress_calls) == 4
