"""Randomised response: exact rows, the loss that was asked for, and sets as answers."""

from fractions import Fraction
from itertools import combinations
from math import comb, exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.core.exact import log_up
from syntf.mechanism.response import ResponseMechanism
from syntf.mechanism.subsets import rank, unrank


@given(
    answers=st.integers(1, 3000),
    loss=st.floats(0.01, 42, allow_nan=False),
)
def test_rows_sum_to_the_total_and_keep_to_the_loss(answers, loss):
    mechanism = ResponseMechanism(answers, loss=loss)
    weights = mechanism.weights(answers // 2)
    assert sum(weights.tolist()) == mechanism.total
    assert weights.min() >= 1
    assert log_up(mechanism.ratio) <= loss
    if answers > 1:
        assert Fraction(int(weights.max()), int(weights.min())) == mechanism.ratio


@pytest.mark.parametrize("loss", [4, 6, 8, 10, 20])
def test_no_less_than_the_loss_is_used(loss):
    """A background that is smaller by 1 would exceed the loss."""
    mechanism = ResponseMechanism(1000, loss=loss)
    smaller = mechanism.background - 1
    ratio = Fraction(mechanism.total - 1000 * smaller + smaller, smaller)
    assert log_up(ratio) > loss
    assert float(mechanism.keep_probability) == pytest.approx(exp(loss) / (exp(loss) + 999))


@pytest.mark.parametrize(("answers", "loss"), [(2, 1.0), (5, 2.0), (20, 3.5), (60, 0.3)])
def test_every_random_integer_gives_exactly_the_weights(answers, loss):
    """All 4,096 draws of a 12-bit total, for every true answer: brute force over the loss."""
    mechanism = ResponseMechanism(answers, loss=loss, total_bits=12)
    every = (np.arange(4096, dtype="<u8") << np.uint64(52)).tobytes()
    rows = []
    for true in range(answers):
        drawn = mechanism.sample(np.full(4096, true), source=lambda size: every)
        counts = np.bincount(drawn, minlength=answers)
        assert counts.tolist() == mechanism.weights(true).tolist()
        rows.append(counts)
    table = np.array(rows)
    worst = max(
        Fraction(int(high), int(low))
        for high, low in zip(table.max(axis=0), table.min(axis=0), strict=True)
    )
    assert worst == mechanism.ratio
    assert log_up(worst) <= loss


def test_the_same_bytes_are_read_whatever_the_true_answers_are(recorded):
    mechanism = ResponseMechanism(100, loss=5)
    sources = [recorded(), recorded()]
    for source, true in zip(sources, (np.zeros(7, int), np.arange(7) * 9), strict=True):
        mechanism.sample(true, source=source)
    assert sources[0].sizes == sources[1].sizes == [56]


@pytest.mark.parametrize("bad", [[-1], [100], [0.5], ["a"]])
def test_a_true_answer_outside_the_list_is_refused(bad):
    with pytest.raises(SyntfError, match="rows must"):
        ResponseMechanism(100, loss=5).sample(bad)


def test_a_loss_too_small_for_integers_is_refused():
    with pytest.raises(SyntfError, match="below what whole numbers"):
        ResponseMechanism(1000, loss=1e-12, total_bits=20)


def test_the_digest_changes_with_everything_that_changes_the_rows():
    digests = {
        ResponseMechanism(answers, loss=loss).digest
        for answers in (10, 11)
        for loss in (4.0, np.nextafter(4.0, 5))
    }
    assert len(digests) == 4


@pytest.mark.parametrize(("entries", "size"), [(1, 1), (9, 1), (9, 2), (8, 4), (7, 7)])
def test_every_set_has_a_number_of_its_own(entries, size):
    sets = [list(chosen) for chosen in combinations(range(entries), size)]
    numbers = rank(sets)
    assert sorted(numbers.tolist()) == list(range(comb(entries, size)))
    assert unrank(numbers, entries, size).tolist() == sets


@given(st.sets(st.integers(0, 15_999), min_size=4, max_size=4))
def test_large_lists_of_sets_are_numbered_exactly(entries):
    ordered = sorted(entries)
    number = sum(comb(entry, place + 1) for place, entry in enumerate(ordered))
    assert rank([ordered]).tolist() == [number]
    assert unrank([number], 16_000, 4).tolist() == [ordered]
