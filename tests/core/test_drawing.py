"""The compiled loops of drawing and counting give the integers of NumPy, bit for bit."""

import os
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.core import drawing, entropy, parallel
from syntf.core.counts import matrix
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.synthesis import draw_terms, synthesize
from syntf.text.documents import Documents, term_frequencies

compiled = pytest.mark.skipif(
    drawing._compiled is None,
    reason="the package was installed without a C compiler: install gcc, then pip install again",
)
ENDS = [0, 1, 2047, 2048, 2**63, 2**64 - 2048, 2**64 - 1]


def both(work):
    """What `work` gives with the compiled loops, and without."""
    fast = work()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "_compiled", None)
        return fast, work()


def bits(rng, count):
    """Eight bytes a draw: at random, or at the ends of what they can be."""
    found = rng.integers(0, 2**64, count, dtype=np.uint64)
    edge = rng.random(count) < 0.3
    found[edge] = rng.choice(np.array(ENDS, dtype=np.uint64), edge.sum())
    return found.astype("<u8").tobytes()


def some_documents(rng, count, terms, longest):
    sizes = rng.integers(1, longest + 1, count)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Documents(starts, rng.integers(0, terms, starts[-1]).astype(np.int32))


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    documents = some_documents(rng, draw(st.integers(0, 9)), 7, draw(st.sampled_from([1, 3, 60])))
    kinds = {
        "none": None,
        "spread": rng.random(7) * 10,
        "alike": np.ones(7),
        "tiny": np.full(7, 1e-12),
        "large": np.exp(rng.random(7) * 20),
    }
    weights = kinds[draw(st.sampled_from(sorted(kinds)))]
    return rng, documents, weights, draw(st.sampled_from([1, 2, 3, 7, 125])), draw(st.booleans())


@compiled
@settings(max_examples=300, deadline=None)
@given(cases())
def test_terms_agree(case):
    rng, documents, weights, length, systematic = case
    raw = bits(rng, len(documents) * (1 if systematic else length))

    def work():
        return draw_terms(
            documents, length, lambda size: raw, weights, systematic=systematic
        )  # fmt: skip

    fast, plain = both(work)
    assert fast.dtype == plain.dtype == np.int32
    assert np.array_equal(fast, plain)


@compiled
@pytest.mark.parametrize("length", [1, 3, 49, 125, 150, 1 << 12])
@pytest.mark.parametrize("weighted", [False, True])
def test_terms_agree_where_a_point_falls_between_two_occurrences(length, weighted):
    """Offsets around every edge of every step: where a rounding that differed would show."""
    own = np.array([2, 0, 1, 1, 3, 0, 2], dtype=np.int32)
    weights = np.array([1.1, 3.7, 2.3, 0.6]) if weighted else None
    masses = np.ones(7) if weights is None else weights[own]
    edges = np.cumsum(masses) / masses.sum() * length % 1 * 2.0**53
    offsets = np.clip((edges[:, None] + np.arange(-40, 40)).ravel(), 0, 2**53 - 1).astype("<u8")
    starts = np.arange(len(offsets) + 1, dtype=np.int64) * 7
    documents = Documents(starts, np.tile(own, len(offsets)))
    raw = (offsets << np.uint64(11)).tobytes()
    fast, plain = both(
        lambda: draw_terms(documents, length, lambda size: raw, weights, systematic=True)
    )
    assert np.array_equal(fast, plain)
    assert length == 49 or len(np.unique(fast, axis=0)) > 1  # 49 steps of 7 begin alike


@compiled
@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40), st.sampled_from([12, 13, 40, 62]), st.data())
def test_outputs_of_neighbours_agree(seed, outputs, total, data):
    rng = np.random.default_rng(seed)
    count = data.draw(st.integers(1, outputs))
    epsilon = data.draw(st.sampled_from([0.9, 4.0, 20.0, 90.0, 300.0]))
    neighbours = np.argsort(rng.random((5, outputs)), axis=1)[:, :count]
    mechanism = NeighbourhoodMechanism(
        neighbours, outputs=outputs, epsilon=epsilon, total_bits=total
    )
    rows = rng.integers(0, 6, (3, 40)).astype(data.draw(st.sampled_from(["i4", "i8", "u1"])))
    edges = np.array([mechanism.background, outputs * mechanism.background, mechanism.total])
    near_edges = (edges[:, None] + np.arange(-2, 2)).ravel() % mechanism.total
    raw = np.frombuffer(bits(rng, 120), dtype="<u8").copy()
    raw[:12] = near_edges.astype(np.uint64) << np.uint64(64 - total)
    fast, plain = both(lambda: mechanism.sample(rows, source=lambda size: raw.tobytes()))
    assert fast.dtype == plain.dtype == np.int32
    assert np.array_equal(fast, plain)


def by_hand(rows, width):
    return [np.bincount(row, minlength=width).tolist() for row in rows]


@pytest.mark.parametrize("loops", [pytest.param("compiled", marks=compiled), "plain"])
@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    width=st.sampled_from([1, 63, 64, 65, 4095, 4096, 4097, 9000]),
    count=st.integers(0, 30),
    step=st.sampled_from([1, 40, 1 << 16]),
)
def test_counts_agree_with_counting_each_row(loops, seed, width, count, step):
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, width, rng.integers(0, 20)) for _ in range(count)]
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    columns = np.concatenate([[], *rows]).astype(np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "STEP", step)
        if loops == "plain":
            patch.setattr(drawing, "_compiled", None)
        counts = drawing.counted(starts, columns, width)
    assert counts.shape == (count, width)
    assert {counts.data.dtype, counts.indices.dtype, counts.indptr.dtype} == {np.dtype(np.int32)}
    assert matrix(counts).toarray().tolist() == by_hand(rows, width)
    assert all((np.diff(counts.indices[a:b]) > 0).all()
               for a, b in zip(counts.indptr, counts.indptr[1:], strict=False))  # fmt: skip
    assert matrix(counts).has_canonical_format


@compiled
@pytest.mark.parametrize("systematic", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_release_is_the_same_on_any_number_of_threads_and_on_none(
    monkeypatch, systematic, weighted
):
    """From the same entropy: 700 documents, in steps that cut them anywhere."""
    rng = np.random.default_rng(3)
    documents = some_documents(rng, 700, 61, 90)
    neighbours = np.argsort(rng.random((60, 90)), axis=1)[:, :3]
    mechanism = NeighbourhoodMechanism(neighbours, outputs=90, epsilon=9.0)
    weights = rng.random(61) if weighted else None

    def work():
        return synthesize(documents, mechanism, length=31, weights=weights,
                          systematic=systematic, source=entropy.Seeded(7))  # fmt: skip

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "_compiled", None)
        plain = work()
    for threads in (1, 2, 5, None):
        for step in (50, 1000, 1 << 16):
            monkeypatch.setattr(drawing, "STEP", step)
            monkeypatch.setattr("syntf.mechanism.neighbourhood._BLOCK_DRAWS", step)
            with parallel.at_most(threads):
                fast = work()
            for name in ("indptr", "indices", "data"):
                found, wanted = getattr(fast, name), getattr(plain, name)
                assert found.dtype == wanted.dtype
                assert np.array_equal(found, wanted)


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_blocks_come_in_order_on_at_most_the_allowed_threads(threads):
    seen = set()

    def work(block):
        seen.add(threading.get_ident())
        return range(block.start, block.stop)

    with parallel.at_most(threads):
        found = list(parallel.in_blocks(work, 1000, 7))
    assert [i for block in found for i in block] == list(range(1000))
    assert {len(block) for block in found} == {7, 1000 % 7}
    assert len(seen) <= (threads or os.cpu_count())
    assert threads != 1 or seen == {threading.get_ident()}
    assert list(parallel.in_blocks(work, 0, 7)) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_block_reaches_the_caller(threads):
    with parallel.at_most(threads), pytest.raises(ZeroDivisionError):
        list(parallel.in_blocks(lambda block: 1 // (block.start - 4), 9, 2))


@pytest.mark.parametrize("loops", [pytest.param("compiled", marks=compiled), "plain"])
@pytest.mark.parametrize(("terms", "weights"), [([0, 3], [1.0, 2.0]), ([0, -9], [1.0, 2.0])])
def test_a_term_without_a_weight_is_refused_alike(monkeypatch, loops, terms, weights):
    """No loop reads beside an array."""
    if loops == "plain":
        monkeypatch.setattr(drawing, "_compiled", None)
    documents = Documents(np.array([0, 2]), np.array(terms, dtype=np.int32))
    with pytest.raises(IndexError):
        draw_terms(documents, 5, entropy.system, np.array(weights))


@compiled
@pytest.mark.parametrize("starts", [[0, 2, 9], [0, 0, 2], [-1, 2], [2, 0]])
def test_invalid_documents_are_left_to_numpy(starts):
    """Without a term, backwards, or beyond what there is: the loop touches none of it."""
    drawn = drawing.terms(
        np.array(starts), np.array([1, 1], dtype=np.int32),
        np.zeros(8, dtype=np.uint64), 3, None, systematic=True,
    )  # fmt: skip
    assert drawn is None


@compiled
@pytest.mark.parametrize(
    ("starts", "columns"), [([0, 2], [0, 5]), ([0, 2], [0, -1]), ([0, 9], [0, 1]), ([2, 0], [0, 1])]
)
def test_invalid_columns_are_left_to_numpy(starts, columns):
    assert drawing._counts(np.array(starts), np.array(columns, dtype=np.int32), 5) is None


def test_term_frequencies_count_known_terms():
    documents = Documents(np.array([0, 3, 4, 6]), np.array([1, 1, 0, 3, 2, 0], dtype=np.int32))
    counts = term_frequencies(documents, 3)
    assert counts.toarray().tolist() == [[1, 2, 0], [0, 0, 0], [1, 0, 1]]
    assert matrix(counts).has_canonical_format


@compiled
@pytest.mark.parametrize("systematic", [False, True])
def test_the_loop_reads_no_bits_beyond_the_end(systematic):
    starts, terms = np.arange(5, dtype=np.int64), np.zeros(4, dtype=np.int32)
    few = np.zeros(3 if systematic else 3 * 7 + 6, dtype=np.uint64)
    assert drawing.terms(starts, terms, few, 7, None, systematic=systematic) is None
    short = np.empty((3, 7), dtype=np.int32)
    many, none = np.zeros(28, dtype=np.uint64), np.empty(0, dtype=np.int64)
    assert not drawing._compiled.terms(starts, terms, many, none, short, 7, systematic)
    assert not drawing._compiled.terms(starts, terms, many, none, short, 0, systematic)


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int32, np.int64])
def test_a_length_of_any_integer_type_reads_bytes_for_every_draw(kind):
    documents = some_documents(np.random.default_rng(0), 700, 7, 3)
    asked = []

    def source(size):
        asked.append(size)
        return bytes(size)

    assert draw_terms(documents, kind(100), source).shape == (700, 100)
    assert asked == [8 * 700 * 100]
