"""Randomised response: exact rows, and the loss that was asked for."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.core.exact import log_up
from syntf.mechanism import ResponseMechanism


@given(answers=st.integers(1, 3000), loss=st.floats(0.01, 42))
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


def test_the_first_and_the_last_point_of_each_part_of_a_row():
    mechanism = ResponseMechanism(4, loss=2.0)
    b, common = mechanism.background, 4 * mechanism.background
    points = [0, b - 1, b, common - 1, common, mechanism.total - 1]
    raw = b"".join((point << 2).to_bytes(8, "little") for point in points)
    drawn = mechanism.sample([2] * 6, source=lambda size: raw)
    assert drawn.tolist() == [0, 0, 1, 3, 2, 2]


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), 0, -1.0, True, None])
def test_an_invalid_loss_is_refused(loss):
    with pytest.raises(SyntfError, match="loss must be"):
        ResponseMechanism(100, loss=loss)


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


def test_the_integers_are_those_of_version_0_2():
    digest = ResponseMechanism(4000, loss=8.0).digest
    assert digest == "4abab0b966b9a827671106d0e4b7b762644c33ab2538e7dda5dd53b6ca2a43e8"
