"""The least ε for many draws at a δ, where one pair of rows is worse than every other.

E_t(P‖Q) = Σ_w max(0, P(w) − t·Q(w)) is what an (ε, δ)-guarantee bounds: it must be at most δ at
t = e^ε, for any two documents in either order.

**From documents to rows.** A document is a chance μ over tuples of n rows, one a draw: whichever
way θ is drawn from, independently or systematically, the tuple is chosen first and each draw then
passes the mechanism by itself. So the release of d is Σ μ_d(x)·P_x, a mixture over x of products
P_x = P_x1 × … × P_xn; counting words is done to it afterwards. Weigh the pairs of tuples (x, y)
of two documents by μ_d(x)·μ_d'(y): both releases are mixtures with the same weights. E_t is jointly
convex, hence at most its maximum over pairs (P_x, P_y), products of n rows each. An author's N
documents, drawn for separately, are a tuple of N·n rows.

**Domination.** If (P, Q) has E_t(P‖Q) ≥ E_t(P_v‖P_v') for all rows v, v' and all t > 0, then by
Blackwell's theorem (P_v, P_v') is got from (P, Q) by some processing; done to each draw, it gets
any product of n pairs of rows from (Pⁿ, Qⁿ). So E_t of two documents is at most E_t(Pⁿ‖Qⁿ), and
equal to it where (P, Q) is itself a pair of rows: then no accounting can find a smaller ε.

**Any ℓ-private mechanism** is dominated by the answers to one question that are true with
probability e^ℓ/(1 + e^ℓ) (Kairouz, Oh and Viswanath, "The composition theorem for differential
privacy", 2015).

**The neighbourhood mechanism** is dominated by its own rows without a common neighbour. Write
g(x, y) = max(0, x − t·y). It is convex in x − t·y, so its mixed difference is not positive:
g(b+s, b+s') + g(b, b) ≤ g(b+s, b) + g(b, b+s') for s, s' ≥ 0. The right side is what two outputs
add to E_t where one is v's neighbour and the other that of v'; the left, what they add where both
rows have one of them for a neighbour and neither the other. So parting a common neighbour never
lowers E_t, and with M ≥ 2k outputs all can be parted. A uniform row is the mean of the word row
over all orders of its outputs; E_t is convex in either row, so it is no worse.

**Whole numbers.** Shares differ by one where they do not divide, and so do the weights of the
uniform row: by a factor of at most 1 ± η. With P ≤ (1+η)·P' and Q ≥ (1−η)·Q' in each draw,
E_t(P‖Q) ≤ (1+η)ⁿ · E_t'(P'‖Q') for t' = t·((1−η)/(1+η))ⁿ. So δ is divided by (1+η)ⁿ and ε raised by
n·ln((1+η)/(1−η)).
"""

from decimal import Decimal, localcontext
from fractions import Fraction

from syntf.core.exact import EXACT, float_up
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism

SLACK = Decimal("1e-40")
"""More than all roundings to 60 digits amount to."""

MOST_DRAWS = 1_000_000
"""Up to here the sums below take seconds at most, and err by far less than the slack."""


def any_mechanism(ratio: Fraction, draws: int, delta: float) -> float | None:
    """ε of so many draws from any mechanism whose loss is ln `ratio`; None for too many.

    >>> any_mechanism(Fraction(3), 1, 0.25)  # e^ε = (3/4 − 1/4) / (1/4)
    0.6931471805599454
    """
    return _walk(ratio / (1 + ratio), 1 / (1 + ratio), draws, Decimal(delta))


def neighbourhood(mechanism: NeighbourhoodMechanism, draws: int, delta: float) -> float | None:
    """ε of so many draws from this mechanism; None for too many, or if 2k > M.

    No accounting gives less, if two inputs have no neighbour in common, but for η.
    """
    outputs, count = mechanism.shape[1], len(mechanism.shares)
    total, background = mechanism.total, count * mechanism.background
    near = background + total - outputs * mechanism.background
    uneven = [
        Fraction(1, part // parts)
        for part, parts in ((near, count), (total, outputs))
        if part % parts
    ]
    off = max(uneven, default=Fraction(0))
    if 2 * count > outputs or 2 * off > 1:
        return None
    with localcontext(EXACT):
        above, below = _decimal(1 + off).ln() * draws, _decimal(1 - off).ln() * draws
        shrunk, more = Decimal(delta) * (-above).exp() * (1 - SLACK), above - below
    return _walk(Fraction(near, total), Fraction(background, total), draws, shrunk, more)


def _walk(
    up: Fraction, down: Fraction, draws: int, delta: Decimal, more: Decimal = Decimal(0)
) -> float | None:
    """The least ε for P = (up, stay, down) and Q = (down, stay, up), plus `more`; rounded up.

    The sum d of the steps +1, 0 and −1 says all: P(d) = Q(d)·(up/down)^d. So
    E_t = max over D of A − t·B, with A = P(d ≥ D) and B = Q(d ≥ D), and e^ε is the greatest
    (A − δ)/B. A is concave in B, so that once it falls it goes on falling. With i = n − d, the
    chances are the coefficients of (up + stay·y + down·y²)ⁿ, and follow each other by
    i·up·c(i) = (n+1−i)·stay·c(i−1) + (2n+2−i)·down·c(i−2); for d > 0, which is where e^ε > 1,
    all terms are positive and nothing cancels.
    """
    if draws > MOST_DRAWS:
        return None
    with localcontext(EXACT):
        p, stay, q = _decimal(up), _decimal(1 - up - down), _decimal(down)
        step = _decimal(up / down)
        before, chance = Decimal(0), (p.ln() * draws).exp()
        factor = (step.ln() * -draws).exp()  # Q(d) / P(d)
        above, under = chance, chance * factor
        best = (above * (1 + SLACK) - delta) / (under * (1 - SLACK))
        for i in range(1, draws):
            ahead = (draws + 1 - i) * stay * chance + (2 * draws + 2 - i) * q * before
            before, chance = chance, ahead / (i * p)
            factor *= step
            above, under = above + chance, under + chance * factor
            here = (above * (1 + SLACK) - delta) / (under * (1 - SLACK))
            if above > delta and here < best * (1 - SLACK):
                break
            best = max(best, here)
        found = best.ln() if best > 1 else Decimal(0)
        return float_up((found + more) * (1 + SLACK))


def _decimal(value: Fraction) -> Decimal:
    """To 60 digits."""
    return EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
