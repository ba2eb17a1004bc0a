from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.core.checks import positive
from syntf.core.errors import SyntfError
from syntf.core.exact import GRID, exponential_table, log_up, times_up

DIGITS = Context(prec=120, Emin=-(10**9), Emax=10**9, traps=[])


@settings(max_examples=25, deadline=None)
@given(st.floats(0.01, 200), st.integers(2, 61), st.data())
def test_every_level_is_the_nearest_integer_to_the_exponential(epsilon, bits, data):
    table = exponential_table(epsilon, bits)
    for level in data.draw(st.lists(st.integers(0, GRID), min_size=20, max_size=20)):
        exponent = DIGITS.divide(Decimal(epsilon) * (level - GRID), Decimal(2 * GRID))
        exact = DIGITS.multiply(DIGITS.exp(exponent), Decimal(2**bits))
        assert table[level] == 1 or abs(Decimal(int(table[level])) - exact) <= Decimal("0.5000001")
        assert table[level] >= 1


@pytest.mark.parametrize("epsilon", [1e-300, 0.01, 1.0, 47.5, 200.0, 1e6, 1e300])
def test_table_rises_from_at_least_one_to_the_full_weight(epsilon):
    table = exponential_table(epsilon, 46)
    assert len(table) == GRID + 1
    assert table[0] >= 1
    assert table[-1] == 2**46
    assert (np.diff(table) >= 0).all()


@given(st.integers(1, 2**62), st.integers(1, 2**62))
def test_logarithm_is_rounded_up_by_one_step_at_most(top, bottom):
    ratio = Fraction(max(top, bottom), min(top, bottom))
    exact = DIGITS.subtract(
        DIGITS.ln(Decimal(ratio.numerator)), DIGITS.ln(Decimal(ratio.denominator))
    )
    found = log_up(ratio)
    assert Decimal(found) >= exact
    assert Decimal(np.nextafter(found, -1.0)) < exact + Decimal("1e-49")


def test_logarithm_of_one_is_zero():
    assert log_up(Fraction(1)) == 0.0


@given(st.floats(1e-9, 1e9), st.integers(1, 10**9))
def test_product_is_rounded_up(value, count):
    assert Fraction(times_up(value, count)) >= Fraction(value) * count
    assert times_up(value, count) <= value * count * (1 + 1e-15)


@pytest.mark.parametrize(
    "value", [0, -1, 0.0, -0.0, float("nan"), float("inf"), -float("inf"), True, False, None, "1",
     Fraction(1, 10**400), 10**400],
)  # fmt: skip
def test_a_value_that_is_not_a_positive_number_is_refused(value):
    with pytest.raises(SyntfError, match="epsilon") as error:
        positive("epsilon", value)
    assert repr(value) in str(error.value)
