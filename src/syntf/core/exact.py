"""Exact numbers: the grid of ratings, an exponential in integers, logarithms rounded up.

All arithmetic is on integers or correctly rounded decimals, so it gives the same bits on every
machine.
"""

from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

GRID = 65535
"""Ratings are multiples of 1/GRID, stored as the integers 0 … GRID: their *levels*."""

EXACT = Context(prec=60, rounding=ROUND_HALF_EVEN, Emin=-(10**9), Emax=10**9, traps=[])
"""Decimals of 60 digits, all of them correct in logarithms and exponentials."""

_FIXED = 160  # binary places of the factors that make up the exponential


def exponential_table(epsilon: float, bits: int) -> NDArray[np.int64]:
    """Return the weight of each level: ``2**bits * exp(-epsilon/2 * d/GRID)``, at least 1.

    ``table[GRID - d]`` is the weight d levels below the best.

    Weights are rounded to the nearest integer from 160-bit fixed-point factors: with
    d = 256 i + j, the exponential is the product of one of 256 coarse and one of 256 fine factors,
    each with an error below 2**-159.
    """
    step = EXACT.divide(Decimal(epsilon), Decimal(-2 * GRID))

    def factors(stride: int) -> list[int]:
        """Return 256 powers of one exponential, computed with 64 more bits than are returned."""
        precise = Context(prec=80, rounding=ROUND_HALF_EVEN, Emin=-(10**9), Emax=10**9, traps=[])
        exponential = precise.exp(EXACT.multiply(step, Decimal(stride)))
        one = 1 << (_FIXED + 64)
        ratio = int(precise.multiply(exponential, Decimal(one)))
        powers = [one]
        for _ in range(255):
            powers.append(powers[-1] * ratio >> (_FIXED + 64))
        return [(power + (1 << 63)) >> 64 for power in powers]

    coarse, fine = factors(256), factors(1)
    shift = 2 * _FIXED - bits
    half = 1 << (shift - 1)
    falling = [(c * f + half) >> shift for c in coarse for f in fine]
    return np.maximum(np.array(falling[::-1], dtype=np.int64), 1)


def log_up(ratio: Fraction) -> float:
    """Return the natural logarithm of an exact fraction, never less than the true value."""
    difference = EXACT.subtract(
        EXACT.ln(Decimal(ratio.numerator)), EXACT.ln(Decimal(ratio.denominator))
    )
    bound = EXACT.add(difference, Decimal("1e-50"))  # above the error of the two logarithms
    return float_up(bound) if ratio != 1 else 0.0


def times_up(value: float, count: int) -> float:
    """Return `count` times `value`, never less than the true value."""
    return float_up(EXACT.multiply(Decimal(value), Decimal(int(count))))


def shown(value: float, places: int) -> str:
    """Format a loss for people: `places` decimals, rounded up.

    >>> shown(3842.444, 2), shown(25.61, 2)
    ('3,842.45', '25.61')
    """
    unit = Decimal(1).scaleb(-places)
    return f"{Decimal(repr(float(value))).quantize(unit, ROUND_CEILING, EXACT):,f}"


def shown_ratio(ratio: Fraction) -> str:
    """Format a factor for people: four digits, rounded up.

    >>> shown_ratio(Fraction(7, 2)), shown_ratio(Fraction(10**11, 3))
    ('3.5', '33,340,000,000')
    """
    rounding = Context(prec=4, rounding=ROUND_CEILING)
    return f"{rounding.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)):,f}"


def float_up(value: Decimal) -> float:
    """Return the least float that is not less than a decimal, also as the number it is written as.

    The shortest decimal that stands for a float can lie a little below the float itself.
    """
    result = float(value)
    while min(Decimal(result), Decimal(repr(result))) < value:
        result = nextafter(result, inf)
    return result
