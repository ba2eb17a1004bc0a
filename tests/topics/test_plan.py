"""Plans: never more than the loss that was asked for, and no look at a text."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from syntf.topics.codebook import Codebook
from syntf.topics.plan import MOST_PER_DRAW, PILOT_FROM, make_plan, pilot_size, split_loss

losses = st.floats(0.05, 1000)
sizes = st.none() | st.integers(0, 10**9)


@pytest.fixture(scope="module")
def books(toy_codebook):
    """The embedded codebook, and supplied and language codebooks of two sizes."""
    embedded = Codebook.embedded()
    supplied = replace(embedded, origin="supplied")
    language = replace(toy_codebook, origin="language")
    return [embedded, supplied, toy_codebook, language]


@given(loss=losses, documents=sizes, book=st.integers(0, 3), pilot=st.booleans())
@example(loss=1000.0, documents=320, book=2, pilot=True)
@example(loss=12.000000001, documents=None, book=0, pilot=True)
def test_all_draws_together_keep_to_the_loss(books, loss, documents, book, pilot):
    plan = make_plan(loss, documents, books[book], pilot=pilot)
    leaves = int(np.count_nonzero(books[book].leaves))
    assert Fraction(plan.loss_per_draw) * plan.draws <= Fraction(loss)
    assert 0 < plan.loss_per_draw <= MOST_PER_DRAW
    assert 2 <= plan.topics <= leaves
    assert plan.draws <= plan.topics
    if plan.pilot:
        assert plan.pilot <= documents
        assert plan.draws <= plan.sharpened_topics <= leaves
    if books[book].is_near or documents is None or not pilot:
        assert plan.pilot == 0


@given(first=losses, second=losses, documents=sizes, book=st.integers(0, 3))
def test_a_larger_loss_never_spends_less(books, first, second, documents, book):
    """And lists for a single draw never become shorter."""
    low, high = sorted((first, second))
    small, large = (make_plan(loss, documents, books[book]) for loss in (low, high))
    assert small.draws <= large.draws
    assert small.pilot == large.pilot
    if small.draws == large.draws:
        assert small.loss_per_draw <= large.loss_per_draw
        assert small.topics <= large.topics
        assert small.sharpened_topics <= large.sharpened_topics


def test_a_loss_up_to_twelve_is_one_draw_that_spends_all_of_it(books):
    for loss in (0.1, 1.0, 6.0, 10.0, 12.0):
        plan = make_plan(loss, 18_846, books[0])
        assert (plan.draws, plan.loss_per_draw) == (1, loss)


def test_a_short_list_has_one_draw(books):
    """More answers from a handful of topics would hide what a document is about."""
    for loss in (10.0, 40.0, 1000.0):
        assert make_plan(loss, 10_000, books[2]).draws == 1


@given(loss=st.floats(0.01, 1000), draws=st.integers(1, 50))
def test_a_split_loss_is_as_large_as_it_may_be(loss, draws):
    each = split_loss(loss, draws)
    assert Fraction(each) * draws <= Fraction(loss)
    assert each == pytest.approx(loss / draws, rel=1e-12)


@pytest.mark.parametrize(
    ("documents", "size"),
    [
        (0, 0),
        (PILOT_FROM - 1, 0),
        (1000, 150),
        (10_000, 1500),
        (15_000, 1500),
        (18_846, 1884),
        (10**8, 1 << 15),
    ],
)
def test_the_pilot_follows_from_the_number_of_documents(documents, size):
    assert pilot_size(documents) == size
