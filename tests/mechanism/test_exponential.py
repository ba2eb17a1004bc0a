"""The Exponential mechanism: exact rows, a measured loss, an exact sampler, and refusals."""

import itertools
import multiprocessing
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.stats import chi2

from syntf.core import cache, progress
from syntf.core.errors import SyntfError, TableError
from syntf.core.exact import GRID, log_up
from syntf.mechanism import ExponentialMechanism, ResponseMechanism, exponential
from syntf.mechanism.base import check_rows, largest_ratio
from syntf.mechanism.exponential import Extremes, cached_exponential, table_key
from syntf.mechanism.rating import ArrayRating, WithEmptyDocument, WordRating
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


def graded(size, loss, **more):
    """The Exponential mechanism of random ratings, with about this loss."""
    return ExponentialMechanism(RNG.random((size, size)), epsilon=2 * loss, **more)


def response(size, loss, **more):
    return ResponseMechanism(size, loss=loss, **more)


every = pytest.mark.parametrize("make", [graded, response])


def rounding_error(epsilon):
    """The largest relative error of a weight: for at most 8 outputs, 2**58 · exp(-ε/2) rounded."""
    return 0.5 / (2.0**58 * np.exp(-epsilon / 2))


def brute_force(weights):
    """The largest ratio over all pairs of rows, in exact fractions."""
    return max(
        Fraction(one[w], other[w])
        for one, other in itertools.product(weights.tolist(), repeat=2)
        for w in range(weights.shape[1])
    )


@settings(max_examples=100)
@given(ratings, epsilons)
def test_rows_are_positive_integers_with_one_total_and_the_loss_is_that_of_brute_force(
    values, epsilon
):
    mechanism = ExponentialMechanism(values, epsilon=epsilon)
    weights = all_weights(mechanism)
    assert weights.dtype == np.int64
    assert weights.min() >= 1
    assert [sum(row) for row in weights.tolist()] == [2**62] * len(values)
    assert mechanism.ratio == brute_force(weights)
    assert mechanism.loss == log_up(mechanism.ratio) == bounds.tight_loss(weights)


@every
def test_loss_equals_brute_force_for_fifty_words(make):
    mechanism = make(50, 23.75)
    weights = all_weights(mechanism)
    assert {sum(row) for row in weights.tolist()} == {mechanism.total} == {2**62}
    assert mechanism.ratio == brute_force(weights)
    assert mechanism.loss == pytest.approx(log_up(mechanism.ratio), rel=1e-9)
    assert mechanism.loss >= log_up(mechanism.ratio)


def test_the_largest_ratio_is_exact_where_floats_cannot_tell():
    for seed in range(200):
        table = np.random.default_rng(seed).integers(2**61 - 2000, 2**61 + 2000, (2, 5))
        low, high = table.min(axis=0), table.max(axis=0)
        exact = max(map(Fraction, high.tolist(), low.tolist()))
        assert largest_ratio(low, high) == exact


@settings(max_examples=100)
@given(ratings, st.floats(0.01, 60))
def test_rows_are_the_softmax_of_the_rounded_ratings(values, epsilon):
    mechanism = ExponentialMechanism(values, epsilon=epsilon)
    exponent = epsilon / 2 * np.rint(values * GRID) / GRID
    exact = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    tolerance = 2 * rounding_error(epsilon) + 1e-13
    np.testing.assert_allclose(all_weights(mechanism) / 2.0**62, exact, rtol=tolerance, atol=0)


@settings(max_examples=100)
@given(ratings, st.floats(0.01, 60))
def test_tight_is_at_most_improved_is_at_most_standard_but_for_rounding(values, epsilon):
    mechanism = ExponentialMechanism(values, epsilon=epsilon)
    improved = bounds.improved_loss(epsilon, values.shape[1])
    assert mechanism.loss <= improved + 2 * rounding_error(epsilon) + 1e-9
    assert improved <= bounds.standard_loss(epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 16.0, 40.0])
@pytest.mark.parametrize("good", [1, 3])
def test_flat_neighbourhoods_cost_half_of_epsilon(epsilon, good):
    """Rated 1 for `good` outputs and 0 for the others: the loss is ε/2, in closed form."""
    values = np.zeros((20, 20))
    for row in range(20):
        values[row, (row + np.arange(good)) % 20] = 1
    assert ExponentialMechanism(values, epsilon=epsilon).loss == pytest.approx(epsilon / 2)


def test_the_empty_document_is_uniform_and_part_of_the_loss():
    values = np.ones((3, 5))
    values[:, 0] = 0  # all words avoid output 0
    words = ExponentialMechanism(values, epsilon=6.0)
    whole = ExponentialMechanism(WithEmptyDocument(ArrayRating(values)), epsilon=6.0)
    assert np.ptp(whole.weights(3)) <= 2**15
    assert words.loss < 1e-9
    assert whole.loss > 2
    assert whole.ratio == brute_force(all_weights(whole))


def every_point(bits):
    """A source that gives each integer below 2**bits once, in order."""
    points = np.arange(1 << bits, dtype="<u8") << np.uint64(64 - bits)
    return lambda size: points.tobytes()[:size]


@every
@pytest.mark.parametrize("loss", [0.05, 1.0, 6.0, 100.0])
def test_all_4096_inputs_reproduce_the_weights(make, loss):
    mechanism = make(9, loss, total_bits=12)
    for row in range(9):
        drawn = mechanism.sample(np.full(4096, row), source=every_point(12))
        assert np.bincount(drawn, minlength=9).tolist() == mechanism.weights(row).tolist()


@every
def test_draw_i_uses_the_ith_eight_bytes_whatever_the_rows(make):
    mechanism = make(11, 4.0)
    rows = RNG.integers(0, 11, (50, 10))
    raw = RNG.bytes(8 * 500)
    drawn = mechanism.sample(rows, source=lambda size: raw)
    assert drawn.shape == rows.shape
    for i in RNG.integers(0, 500, 60):
        own = raw[8 * i : 8 * i + 8]
        alone = mechanism.sample([rows.flat[i]], source=lambda size, own=own: own)
        assert alone[0] == drawn.flat[i]


def test_blocks_threads_and_batches_do_not_change_what_is_measured_or_drawn(monkeypatch):
    values, rows, raw = RNG.random((97, 31)), RNG.integers(0, 97, 4000), RNG.bytes(8 * 4000)

    def stream():
        read = [0]

        def source(size):
            read.append(read[-1] + size)
            return raw[read[-2] : read[-1]]

        return source

    whole = ExponentialMechanism(values, epsilon=20.0)
    drawn = whole.sample(rows, source=stream())
    monkeypatch.setattr(exponential, "BLOCK", 100)
    monkeypatch.setattr(exponential, "MOST_DRAWS", 700)
    parts = ExponentialMechanism(values, epsilon=20.0)
    assert parts.digest == whole.digest
    assert (parts.sample(rows, source=stream()) == drawn).all()


def chi_square(counts, weights):
    """The statistic and its bound at 1e-6, cells pooled until each expects ten or more."""
    order = np.argsort(weights)
    expected = counts.sum() * (weights / weights.sum())[order]
    cell = np.floor(np.cumsum(expected) / 10).astype(int)
    expected, found = np.bincount(cell, expected), np.bincount(cell, counts[order])
    expected, found = expected[expected > 0], found[expected > 0]
    return ((found - expected) ** 2 / expected).sum(), chi2.isf(1e-6, len(expected) - 1)


@pytest.mark.parametrize("kind", ["graded", "response"])
def test_samples_fit_the_table_and_reject_ten_percent_more_or_less(kind):
    values = np.clip(RNG.normal(0.3, 0.2, (3, 400)), 0, 1)
    tables = {
        x: ResponseMechanism(400, loss=8.0 * x)
        if kind == "response"
        else ExponentialMechanism(values, epsilon=20.0 * x)
        for x in (0.9, 1.0, 1.1)
    }
    drawn = tables[1.0].sample(np.zeros(400_000, dtype=int))
    counts = np.bincount(drawn, minlength=400)
    for factor, table in tables.items():
        statistic, bound = chi_square(counts, table.weights(0).astype(np.float64))
        assert (statistic <= bound) == (factor == 1.0), (factor, statistic, bound)


def test_swapped_levels_with_the_measured_sum_are_refused():
    values = np.full((4, 6), 0.5)
    values[np.arange(4), np.arange(4)] = 1.0
    mechanism = ExponentialMechanism(values, epsilon=10.0)
    levels = mechanism.rating._levels
    levels[0, [0, 5]] = levels[0, [5, 0]]  # output 5 was never rated high: outside its extremes
    mechanism.sample([1, 2, 3])
    with pytest.raises(TableError, match="nothing was drawn"):
        mechanism.sample([0])


@pytest.mark.parametrize(
    "forge",
    [
        lambda found: found._replace(high=np.minimum(found.high, found.high.max() - 1)),
        lambda found: found._replace(low=np.maximum(found.low, found.low.min() + 1)),
        lambda found: found._replace(sums=found.sums + 1),
    ],
)
def test_forged_extremes_fail_draws_and_never_shrink_the_loss(forge):
    mechanism = ExponentialMechanism(RNG.random((6, 8)), epsilon=10.0)
    forged = forge(mechanism.extremes)
    lying = ExponentialMechanism(mechanism.rating, epsilon=10.0, extremes=forged)
    with pytest.raises(TableError):
        lying.sample(np.arange(6))


def test_a_measured_weight_of_zero_is_refused():
    mechanism = ExponentialMechanism(RNG.random((6, 8)), epsilon=10.0)
    zero = mechanism.extremes._replace(low=np.zeros(8, dtype=np.int64))
    with pytest.raises(TableError, match="below 1"):
        ExponentialMechanism(mechanism.rating, epsilon=10.0, extremes=zero)


def test_the_cache_is_used_repaired_and_never_trusted(empty_cache, monkeypatch):
    rating = ArrayRating(RNG.random((6, 8)))
    first = cached_exponential(rating, 10.0)
    (entry,) = empty_cache.iterdir()
    measured = []
    measure = ExponentialMechanism._measure
    monkeypatch.setattr(
        ExponentialMechanism, "_measure", lambda self: measured.append(1) or measure(self)
    )
    assert cached_exponential(rating, 10.0).digest == first.digest
    assert not measured
    entry.write_bytes(entry.read_bytes()[:-1] + b"\0")
    assert cached_exponential(rating, 10.0).digest == first.digest
    assert measured == [1]
    forged = np.concatenate([first.extremes.sums, first.extremes.low, first.extremes.low + 1])
    cache.store(empty_cache / f"{table_key(rating, 10.0)}.table", forged.astype("<i8").tobytes())
    lying = cached_exponential(rating, 10.0)
    assert lying.loss < first.loss
    for row in range(6):
        with pytest.raises(TableError, match="Delete the cache folder"):
            lying.sample([row])


def test_digest_covers_epsilon_ratings_total_and_extremes():
    values = RNG.random((4, 5)) * 0.9
    other = values.copy()
    other[3, 4] += 2 / GRID
    made = ExponentialMechanism(values, epsilon=5.0)
    wider = Extremes(made.extremes.sums, made.extremes.low, made.extremes.high + 1)
    digests = {
        made.digest,
        ExponentialMechanism(values, epsilon=np.nextafter(5.0, 6)).digest,
        ExponentialMechanism(other, epsilon=5.0).digest,
        ExponentialMechanism(values, epsilon=5.0, total_bits=61).digest,
        ExponentialMechanism(values, epsilon=5.0, extremes=wider).digest,
    }
    assert len(digests) == 5
    assert ExponentialMechanism(values.copy(), epsilon=5.0).digest == made.digest


def test_the_integers_are_those_of_version_0_2(embedded):
    """The digest was computed by the compiled loops of 0.2.0."""
    words, vectors = embedded.words[:3000], embedded.at(range(3000))
    rating = WordRating(words, vectors, words[500:1500], vectors[500:1500], spelling=0.3)
    mechanism = ExponentialMechanism(WithEmptyDocument(rating), epsilon=47.5)
    assert mechanism.digest == "754e72906e61fcd2d5cdb7baacffd044e4239d0b33ac7c189ae9bde1b760b10a"
    assert mechanism.loss == 22.95437800498084


@pytest.mark.slow
def test_the_loss_of_the_papers_experiment(newsgroups_home):
    """ε = 47.5, s = 0.3, a vocabulary fitted on 20 newsgroups; the paper prints 25.4."""
    from sklearn.datasets import fetch_20newsgroups
    from sklearn.feature_extraction.text import CountVectorizer

    from syntf.words.vectors import WordVectors

    stripped = ("headers", "footers", "quotes")
    texts = fetch_20newsgroups(
        data_home=newsgroups_home, subset="train", remove=stripped, download_if_missing=False
    ).data
    counter = CountVectorizer(min_df=2, stop_words="english", token_pattern=r"(?u)\b[a-z]{2,}\b")
    table = WordVectors.embedded()
    words = [word for word in counter.fit(texts).get_feature_names_out() if word in table]
    vectors = table.at([table.row_of[word] for word in words])
    rating = WordRating(words, vectors, words, vectors, spelling=0.3)
    loss = ExponentialMechanism(WithEmptyDocument(rating), epsilon=47.5).loss
    assert round(loss, 2) == 25.61


@pytest.mark.parametrize(
    "epsilon", [float("nan"), float("inf"), -float("inf"), 0, -2.0, True, None, "3"]
)
def test_an_invalid_epsilon_is_refused_with_its_value(epsilon):
    with pytest.raises(SyntfError, match="epsilon") as error:
        ExponentialMechanism([[0.5]], epsilon=epsilon)
    assert repr(epsilon) in str(error.value)


@every
@pytest.mark.parametrize("rows", [[-1], [5], [0, 9], [0.5], ["0"], [True, False]])
def test_invalid_rows_are_refused_before_entropy_is_read(make, rows):
    def no_entropy(size):
        raise AssertionError("read entropy for bad rows")

    with pytest.raises(SyntfError, match="rows must"):
        make(5, 1.0).sample(rows, source=no_entropy)


def test_valid_rows_are_returned_unchanged():
    rows = np.array([0, 4], dtype=np.uint16)
    assert check_rows(rows, 5) is rows


@every
def test_outputs_that_do_not_fit_the_total_are_refused(make):
    with pytest.raises(SyntfError, match=r"2\*\*4"):
        make(9, 1.0, total_bits=4)


@every
def test_no_rows_give_no_draws(make):
    mechanism = make(5, 1.0)
    assert mechanism.sample(np.zeros((0,), dtype=int)).shape == (0,)
    assert mechanism.sample(np.zeros((0, 3), dtype=int)).shape == (0, 3)


@every
def test_entropy_read_depends_on_the_number_of_draws_alone(make, recorded):
    """The replay test: different documents consume the same entropy and yield the same shape."""
    mechanism, source = make(9, 1.5), recorded()
    for rows in ([0] * 12, [8] * 12, [*range(9), 0, 1, 2]):
        assert mechanism.sample(rows, source=source).shape == (12,)
    assert source.sizes == [96, 96, 96]


@every
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_never_repeat_a_stream(make, method):
    mechanism, rows = make(1000, 0.5), [0] * 200
    with multiprocessing.get_context(method).Pool(2, maxtasksperchild=1) as pool:
        drawn = pool.map(mechanism.sample, [rows] * 2, chunksize=1)  # each in a process of its own
    drawn.append(mechanism.sample(rows))
    assert len({tuple(draws.tolist()) for draws in drawn}) == 3


@every
def test_numpys_seed_has_no_effect(make):
    mechanism, draws = make(1000, 0.5), []
    for _ in range(2):
        np.random.seed(0)
        draws.append(mechanism.sample([0] * 100).tolist())
    assert draws[0] != draws[1]


def test_progress_counts_every_row_and_every_draw(monkeypatch):
    from contextlib import nullcontext

    done = {}

    def listener(name, total):
        done[name] = [total]
        return nullcontext(done[name].append)

    monkeypatch.setattr(exponential, "BLOCK", 16)
    with progress.shown_by(listener):
        ExponentialMechanism(RNG.random((30, 4)), epsilon=1.0).sample([3, 3, 7, 29] * 5)
    assert {name: (total, sum(steps)) for name, (total, *steps) in done.items()} == {
        "measuring the loss": (30, 30),
        "drawing": (20, 20),
    }
