"""The compiled loops give the integers of the reference, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.core.exact import GRID, exponential_table
from syntf.mechanism import kernels, reference
from syntf.mechanism.rating import MAX_DIMENSIONS, WordRating

compiled = pytest.mark.skipif(
    kernels._compiled is None,
    reason="the package was installed without a C compiler: install gcc, then pip install again",
)


@pytest.fixture(scope="module", params=["plain", "wide"])
def loops(request):
    """The loops that any processor has, then those that need AVX-512 and VNNI."""
    here = kernels._compiled.wide()
    if kernels._compiled.wide(request.param == "wide") != (request.param == "wide"):
        pytest.skip("this processor has no AVX-512 VNNI, or the compiler is not GCC or Clang")
    yield request.param
    kernels._compiled.wide(here)


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    # More columns than the loops look at together, too.
    rows, columns = draw(st.integers(1, 7)), draw(st.integers(1, 70) | st.integers(250, 530))
    kind = draw(st.sampled_from(["spread", "few", "equal", "peak"]))
    levels = {
        "spread": rng.integers(0, GRID + 1, (rows, columns)),
        "few": rng.choice([0, 1, GRID - 1, GRID], (rows, columns)),
        "equal": np.full((rows, columns), rng.integers(0, GRID + 1)),
        "peak": np.where(rng.random((rows, columns)) < 0.1, GRID, 0),
    }[kind].astype(np.uint16)
    bits = draw(st.sampled_from([20, 40, 62] if columns > 64 else [12, 20, 40, 62]))
    epsilon = draw(st.floats(0.01, 200))
    table = exponential_table(epsilon, bits - 1 - (columns - 1).bit_length())
    return levels, table, 1 << bits, rng


@compiled
@settings(max_examples=120, deadline=None)
@given(tables())
def test_weights_and_extremes_agree(loops, case):
    levels, table, total, _ = case
    weights, sums = kernels.weigh(levels, table, total)
    expected, expected_sums = reference.weigh(levels, table, total)
    assert (weights == expected).all()
    assert (sums == expected_sums).all()
    for module in (kernels, reference):
        low = np.full(levels.shape[1], total)
        high = np.zeros(levels.shape[1], dtype=np.int64)
        module.widen(levels[-1:], table, total, low, high)
        found = module.widen(levels, table, total, low, high)
        assert (found == expected_sums).all()
        assert (low == expected.min(axis=0)).all()
        assert (high == expected.max(axis=0)).all()


@compiled
@settings(max_examples=100, deadline=None)
@given(tables(), st.sampled_from(["sound", "sum", "low", "high"]))
def test_draws_and_refusals_agree(loops, case, fault):
    levels, table, total, rng = case
    weights, sums = reference.weigh(levels, table, total)
    low, high = weights.min(axis=0), weights.max(axis=0)
    counts = rng.integers(0, 9, len(levels))
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    points = rng.integers(0, total, starts[-1])
    points[:2] = [0, total - 1][: len(points)]
    column = rng.integers(levels.shape[1])
    if fault == "sum":
        sums[rng.integers(len(sums))] += 1
    if fault == "low":
        low[column] += 1
    if fault == "high":
        high[column] -= 1
    order = rng.permutation(len(points)).astype(np.int32)
    found, expected = np.full((2, len(points)), -1, dtype=np.int32)
    # Bits after the point's are not looked at.
    words = (points.astype(np.uint64) << np.uint64(65 - total.bit_length())) | np.uint64(3)
    arguments = (levels, table, total, sums, low, high, starts, order, words)
    sound = [kernels.draw(*arguments, found), reference.draw(*arguments, expected)]
    assert sound == [fault == "sound"] * 2
    if fault == "sound":
        assert (found == expected).all()
        assert (found >= 0).all()


@pytest.mark.parametrize("module", [reference, pytest.param(kernels, marks=compiled)])
def test_draws_are_positions_in_the_cumulative_row(module):
    levels = np.array([[0, GRID, 7]], dtype=np.uint16)
    table = exponential_table(3.0, 8)
    weights, sums = reference.weigh(levels, table, 1 << 12)
    points = np.arange(1 << 12)
    order, drawn = points.astype(np.int32), np.empty(1 << 12, dtype=np.int32)
    assert module.draw(
        levels, table, 1 << 12, sums, weights[0], weights[0],
        np.array([0, 1 << 12]), order, points.astype(np.uint64) << np.uint64(52), drawn,
    )  # fmt: skip
    assert np.bincount(drawn).tolist() == weights[0].tolist()
    assert (np.diff(drawn) >= 0).all()


@compiled
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=150, unique=True),
    st.integers(1, 300),
    st.floats(0, 1),
    st.integers(0, 2**32),
)
def test_ratings_agree(loops, words, dimensions, spelling, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-127, 128, (len(words), dimensions)).astype(np.int8)
    vectors[:, 0] |= 1  # no zero vector
    rows = rng.integers(0, len(words), rng.integers(1, 15))

    def levels():
        return WordRating(words, vectors, words, vectors, spelling=spelling).levels(rows)

    fast = levels()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "_compiled", None)
        assert (levels() == fast).all()


@compiled
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_nearest_outputs_agree(loops, data):
    """The outputs that no level was computed for are not among the nearest, also among ties."""
    words = data.draw(st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=200))
    largest = data.draw(st.sampled_from([1, 2, 127]))  # small numbers: many equal cosines
    dimensions = data.draw(st.integers(1, 12))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    vectors = rng.integers(-largest, largest + 1, (len(words), dimensions)).astype(np.int8)
    vectors[:, 0] |= 1  # no zero vector
    spelling = data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    count = data.draw(st.integers(1, min(len(words), 5)) | st.just(len(words)))
    start = data.draw(st.integers(0, len(words) - 1))
    rating = WordRating(words, vectors, words, vectors, spelling=spelling)
    found = rating.nearest(slice(start, len(words)), count)
    levels = rating.levels(np.arange(start, len(words))).astype(int)
    expected = np.argsort(-levels, axis=1, kind="stable")[:, :count]
    assert found.tolist() == expected.tolist()
    assert reference.nearest(levels.astype(np.uint16), count).tolist() == expected.tolist()


@compiled
def test_nearest_outputs_of_more_inputs_than_one_block_of_products_agree(loops, monkeypatch):
    monkeypatch.setattr(kernels, "BLOCK", 300)  # three inputs at a time, where products are held
    vectors = np.random.default_rng(5).integers(-127, 128, (100, 7)).astype(np.int8)
    words = [f"{number:03}" for number in range(100)]
    rating = WordRating(words, vectors, words, vectors, spelling=0.5)
    expected = reference.nearest(rating.levels(np.arange(100)), 4)
    assert (rating.nearest(slice(0, 100), 4) == expected).all()


@compiled
def test_products_of_the_largest_vectors_agree(loops):
    """As many dimensions as are exact, all at ±127, and more words than a tile."""
    vectors = np.full((67, MAX_DIMENSIONS), 127, dtype=np.int8)
    vectors[1::2] = -127
    words = [chr(0x4E00 + i) for i in range(67)]
    levels = WordRating(words, vectors, words, vectors, spelling=0).levels(np.arange(67))
    same = np.arange(67) % 2
    assert (levels == np.where(same[:, None] == same, GRID, 0)).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=60))
def test_draws_are_grouped_by_input_in_their_order(rows):
    array = np.array(rows, dtype=np.int32)
    for module in (kernels, reference):
        starts, order = module.group(array, 10)
        assert (starts.dtype, order.dtype) == (np.int64, np.int32)
        for v in range(10):
            mine = order[starts[v] : starts[v + 1]].tolist()
            assert mine == [i for i, row in enumerate(rows) if row == v]
