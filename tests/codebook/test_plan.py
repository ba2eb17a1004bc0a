"""Plans: never more than the loss that was asked for, and no look at a text."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from syntf.codebook.plan import PILOT_FROM, make_plan, pilot_size, split_loss


@given(loss=st.floats(0.05, 5000), documents=st.none() | st.integers(0, 10**9))
def test_all_draws_together_keep_to_the_loss(loss, documents):
    plan = make_plan(loss, documents)
    assert Fraction(plan.loss_per_draw) * plan.draws <= Fraction(loss)
    assert plan.loss_per_draw <= 40
    assert plan.entries >= 2
    if documents is None:
        assert plan.pilot == 0


@given(
    loss=st.floats(0.05, 5000),
    leaves=st.integers(2, 10_000),
    documents=st.none() | st.integers(0, 10**9),
    named=st.booleans(),
)
def test_supplied_codebooks_keep_to_the_loss_without_a_pilot(loss, leaves, documents, named):
    plan = make_plan(loss, documents, leaves=leaves, near=True, named=named)
    assert Fraction(plan.loss_per_draw) * plan.draws <= Fraction(loss)
    assert plan.loss_per_draw <= 40
    assert plan.pilot == 0
    if plan.kind == "topics":
        assert 2 <= plan.entries <= leaves
        assert plan.draws * plan.size <= plan.entries
        assert comb(plan.entries, plan.size) >= 2
    else:
        assert not named


@given(
    loss=st.floats(11, 1e12),
    documents=st.none() | st.integers(0, 10**9),
    near=st.booleans(),
)
@example(loss=17_000.0, documents=1_500, near=False)
@example(loss=161_000.0, documents=320, near=False)
@example(loss=25_000.0, documents=320, near=True)
def test_a_document_never_has_more_words_than_a_list(loss, documents, near):
    plan = make_plan(loss, documents, near=near)
    assert Fraction(plan.loss_per_draw) * plan.draws <= Fraction(loss)
    assert plan.loss_per_draw <= 40
    assert plan.draws * plan.size <= plan.entries
    if plan.pilot:
        assert plan.draws * plan.sharpened_size <= plan.sharpened_entries


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
