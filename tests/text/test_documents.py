from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.stats import chisquare
from sklearn.feature_extraction.text import TfidfTransformer

from syntf.core import entropy
from syntf.mechanism.synthesis import draw_terms
from syntf.text.documents import (
    Documents,
    concatenate,
    document_frequency,
    first_documents,
    fitted_idf,
    public_idf,
    repeat,
    term_frequencies,
)


def documents(*terms):
    starts = np.cumsum([0, *map(len, terms)]).astype(np.int64)
    return Documents(starts, np.array([t for d in terms for t in d], dtype=np.int32))


def exactly(draws):
    """A source that makes the draws these integers below 2**53, and no others."""

    def source(size):
        raw = np.array(draws, dtype="<u8") << np.uint64(11)
        assert size == raw.nbytes
        return raw.tobytes()

    return source


LISTS = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=7), min_size=1, max_size=6)


@given(LISTS, st.integers(1, 5), st.booleans())
def test_draw_terms_gives_each_document_its_own_terms(recorded, lists, length, weighted):
    source = recorded()
    weights = np.linspace(1, 3, 6) if weighted else None
    drawn = draw_terms(documents(*lists), length, source, weights)
    assert (drawn.shape, drawn.dtype) == ((len(lists), length), np.int32)
    assert all(set(row) <= set(own) for row, own in zip(drawn.tolist(), lists, strict=True))
    assert source.sizes == [8 * len(lists) * length]  # nothing else decides what is read


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 12, 6), np.full(6, 1e-3)])
@given(lists=LISTS)
def test_extreme_draws_stay_inside_their_document(weights, lists):
    ends = [0, (1 << 53) - 1] * len(lists)
    drawn = draw_terms(documents(*lists), 2, exactly(ends), weights)
    assert drawn.tolist() == [[own[0], own[-1]] for own in lists]


def test_each_occurrence_gets_exactly_its_share_of_points():
    """2**12 equally spaced points stand for all: each occurrence gets the same number of them."""
    lists = [[3, 1, 3, 2], [5], [0, 0, 1, 0, 0, 0, 4, 4]]
    points = np.arange(1 << 12) << 41
    drawn = draw_terms(documents(*lists), 1 << 12, exactly(np.tile(points, 3)))
    for row, own in zip(drawn, lists, strict=True):
        wanted = np.bincount(own, minlength=6) * ((1 << 12) // len(own))
        assert np.bincount(row, minlength=6).tolist() == wanted.tolist()


def test_each_weighted_occurrence_gets_exactly_its_share_of_points():
    weights = np.array([1.0, 4.0, 2.0, 0.5])
    lists = [[0, 1, 2, 0], [3, 3], [1], [2, 3, 0, 3, 1]]  # weights sum to 8, 1, 4, 8
    points = np.arange(1 << 12) << 41
    drawn = draw_terms(documents(*lists), 1 << 12, exactly(np.tile(points, 4)), weights)
    for row, own in zip(drawn, lists, strict=True):
        share = np.bincount(own, weights=weights[own], minlength=4) / weights[own].sum()
        assert np.bincount(row, minlength=4).tolist() == (share * (1 << 12)).tolist()


@given(LISTS, st.lists(st.integers(1, 9), min_size=6, max_size=6), st.data())
def test_draws_agree_with_exact_cumulative_sums(lists, weights, data):
    twentieths = st.lists(st.integers(0, (1 << 20) - 1), min_size=len(lists), max_size=len(lists))
    draws = data.draw(twentieths)
    for used in (None, weights):
        wanted = []
        for own, draw in zip(lists, draws, strict=True):
            masses = [1 if used is None else used[term] for term in own]
            point, upto = Fraction(draw, 1 << 20) * sum(masses), 0
            for term, mass in zip(own, masses, strict=True):
                upto += mass
                if point < upto:
                    wanted.append([term])
                    break
        source = exactly(np.array(draws, dtype=np.int64) << 33)
        given_weights = None if used is None else np.array(used, dtype=float)
        assert draw_terms(documents(*lists), 1, source, given_weights).tolist() == wanted


@pytest.mark.parametrize("idf", [None, np.array([1.0, 2.3, 0.7, 5.1, 1.9])])
def test_draws_follow_theta(idf):
    lists = [[0, 1, 1, 2], [4, 4, 4, 3, 0, 2, 2]]
    drawn = draw_terms(documents(*lists), 200_000, entropy.Seeded(11), idf)
    for row, own in zip(drawn, lists, strict=True):
        theta = np.bincount(own, minlength=5) * (1.0 if idf is None else idf)
        seen, present = np.bincount(row, minlength=5), theta > 0
        assert seen[~present].sum() == 0
        expected = theta[present] / theta.sum() * row.size
        assert chisquare(seen[present], expected).pvalue > 1e-6


def test_draws_of_different_documents_are_independent():
    drawn = draw_terms(documents([0, 1], [0, 1]), 100_000, entropy.Seeded(12))
    pairs = np.bincount(2 * drawn[0] + drawn[1], minlength=4)
    assert chisquare(pairs).pvalue > 1e-6


@given(LISTS)
def test_fitted_idf_agrees_with_scikit_learn(lists):
    counts = csr_matrix([np.bincount(own, minlength=8) for own in lists])
    wanted = TfidfTransformer(smooth_idf=True).fit(counts).idf_
    np.testing.assert_allclose(
        fitted_idf(document_frequency(documents(*lists), 8), len(lists)), wanted, rtol=1e-14
    )


def test_public_idf_rises_with_the_rank():
    found = public_idf(np.array([0, 1, 99_999]))
    np.testing.assert_allclose(found, [1, 1 + np.log(2), 1 + np.log(100_000)], rtol=1e-15)


def test_draws_of_a_document_do_not_depend_on_earlier_documents():
    """Weighted sums are exact, so no rounding carries over from one document to the next."""
    rng = np.random.default_rng(1)
    weights = 1 + np.log(1 + np.arange(6.0))
    own = [0, 1, 2, 3, 4, 5, 5, 1]
    upto = np.cumsum(weights[own]) / weights[own].sum()
    near = (upto[:-1, None] * 2.0**53 + np.arange(-300, 300)).astype(np.int64).ravel()
    first = draw_terms(documents(own), len(near), exactly(near), weights)[0]
    for before in ([0], rng.integers(0, 6, 300_001).tolist()):
        points = np.concatenate([np.zeros(len(near), dtype=np.int64), near])
        both = draw_terms(documents(before, own), len(near), exactly(points), weights)
        assert (both[1] == first).all()


@given(LISTS, st.integers(1, 6), st.integers(1, 3))
def test_first_documents_returns_the_first_documents(lists, count, times):
    found = first_documents(documents(*lists), count)
    wanted = documents(*lists[:count])
    assert (found.starts.tolist(), found.terms.tolist()) == (
        wanted.starts.tolist(), wanted.terms.tolist()
    )  # fmt: skip
    again = repeat(found, times)
    assert again.terms.tolist() == wanted.terms.tolist() * times


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=12), min_size=1, max_size=5),
    st.integers(1, 40),
    st.booleans(),
)
def test_systematic_draws_give_each_term_its_share(lists, length, weighted):
    """Each term comes as often as its share of θ times the length says, up to one time."""
    weights = np.arange(1.0, 7.0) if weighted else None
    drawn = draw_terms(documents(*lists), length, entropy.Seeded(5), weights, systematic=True)
    assert drawn.shape == (len(lists), length)
    for terms, row in zip(lists, drawn.tolist(), strict=True):
        total = sum(1 if weights is None else weights[term] for term in terms)
        for term in set(terms):
            one = 1 if weights is None else weights[term]
            # A term that stands at several places has one step of rounding for each of them.
            places = terms.count(term)
            assert abs(row.count(term) - length * places * one / total) <= places
        assert set(row) <= set(terms)


def test_systematic_draws_read_eight_bytes_for_each_document(recorded):
    source = recorded()
    draw_terms(documents([1, 2], [3], [4, 4, 4]), 50, source, systematic=True)
    assert source.sizes == [3 * 8]


def test_systematic_draws_start_uniformly():
    """Over many documents each term of ten is the first of three as often as any other."""
    drawn = draw_terms(documents(*[list(range(10))] * 4000), 3, entropy.Seeded(8), systematic=True)
    counts = np.bincount(drawn.ravel(), minlength=10)
    assert counts.sum() == 12_000
    assert (abs(counts - 1200) < 5 * np.sqrt(1200)).all()
    assert (np.diff(drawn, axis=1) >= 3).all()  # spread over the document


def test_a_tiny_weight_still_allows_draws():
    drawn = draw_terms(documents([0, 1], [0]), 500, entropy.Seeded(4), np.array([1e-12, 1e-12]))
    assert set(drawn[0].tolist()) == {0, 1}
    assert set(drawn[1].tolist()) == {0}


def test_repeat_returns_the_same_documents():
    once = documents([1, 2], [3], [4, 4])
    twice = repeat(once, 2)
    assert len(twice) == 6
    assert twice.starts.tolist() == [0, 2, 3, 5, 7, 8, 10]
    assert twice.terms.tolist() == [1, 2, 3, 4, 4] * 2


def test_term_frequencies_count_known_terms():
    counts = term_frequencies(documents([1, 1, 0], [3], [2, 0]), 3)
    assert counts.toarray().tolist() == [[1, 2, 0], [0, 0, 0], [1, 0, 1]]


@given(st.lists(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4)), min_size=1))
def test_concatenated_parts_are_the_whole(parts):
    whole = documents(*(row for part in parts for row in part))
    found = concatenate([documents(*part) for part in parts])
    assert found.starts.tolist() == whole.starts.tolist()
    assert found.terms.tolist() == whole.terms.tolist()
    assert (found.starts.dtype, found.terms.dtype) == (np.int64, np.int32)
