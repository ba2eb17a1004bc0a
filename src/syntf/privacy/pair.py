"""The least ε of many draws at a δ, where one pair of rows is worse than all others.

E_t(P‖Q) = Σ_w max(0, P(w) − t·Q(w)) is what an (ε, δ)-guarantee bounds: for any two documents, in
either order, it must be at most δ at t = e^ε.

**From documents to rows.** A document is a distribution μ over tuples of n rows, one row for each
draw: however its targets are found, the tuple is chosen first and each draw then passes the
mechanism by itself. So the release of d is Σ μ_d(x)·P_x, a mixture over x of products
P_x = P_x1 × … × P_xn; adding up profiles is postprocessing. Weigh the pairs of tuples (x, y) of two
documents by μ_d(x)·μ_d'(y): both releases become mixtures with the same weights. E_t is jointly
convex, hence at most its maximum over pairs (P_x, P_y) of products of n rows. An author's N
documents, drawn separately, are a tuple of N·n rows.

**Domination.** If (P, Q) has E_t(P‖Q) ≥ E_t(P_v‖P_v') for all rows v, v' and all t > 0, then by
Blackwell's theorem (P_v, P_v') results from (P, Q) by some randomised processing. Applied to each
draw, it yields any product of n pairs of rows from (Pⁿ, Qⁿ). So E_t of two documents is at most
E_t(Pⁿ‖Qⁿ), with equality if (P, Q) is itself a pair of rows: then no accounting can find a smaller
ε.

**Any mechanism of loss ℓ** is dominated by randomised response to one question, answered truthfully
with probability e^ℓ/(1 + e^ℓ) (Kairouz, Oh and Viswanath, "The composition theorem for differential
privacy", 2015).

**Randomised response** is dominated by two of its own rows, of any two different true answers. With
M answers and ratio R, a row gives its true answer the probability R/(R + M − 1) and every other
answer 1/(R + M − 1). Rows of different true answers differ in these two answers alone, and all such
pairs have the same E_t. For a row and itself E_t = max(0, 1 − t), the least that it ever is. The
integers of :mod:`syntf.mechanism.response` are exactly these probabilities: nothing is rounded.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf

from syntf.core.checks import fraction
from syntf.core.exact import EXACT, float_up, times_up
from syntf.mechanism.base import Mechanism
from syntf.mechanism.response import ResponseMechanism

SLACK = Decimal("1e-40")
"""More than the sum of all roundings to 60 digits."""

MAX_DRAWS = 1_000_000
"""Up to here the sums take seconds at most, and their error stays far below the slack."""


def epsilon_at(mechanism: Mechanism, draws: int, delta: float) -> float:
    """Return an ε that holds at `delta` for this many draws, at most n·ℓ.

    An author's N documents of n draws are N·n draws. For randomised response it is the least ε
    that is true; for other mechanisms it follows from their loss alone.

    Guarantee
    ---------
    Any two documents (or authors) with this many draws are (ε, δ)-indistinguishable. The result
    is rounded up and the same on every machine.

    >>> round(epsilon_at(ResponseMechanism(4000, loss=8.0), 100, 1e-6), 1)  # n·ℓ is 800
    527.9
    """
    delta, ratio = fraction("delta", delta), mechanism.ratio
    if isinstance(mechanism, ResponseMechanism):
        epsilon = response(ratio, mechanism.answers, draws, delta)
    else:
        epsilon = any_mechanism(ratio, draws, delta)
    return min(epsilon, times_up(mechanism.loss, draws))


def response(ratio: Fraction, answers: int, draws: int, delta: float) -> float:
    """Return the least ε for this many draws of randomised response, whose loss is ln `ratio`.

    The result is infinite for more than `MAX_DRAWS` draws.

    >>> response(Fraction(3), 2, 1, 0.25)  # e^ε = (3/4 − 1/4) / (1/4)
    0.6931471805599454
    """
    everything = ratio + max(answers, 2) - 1  # a single answer loses nothing; two lose no less
    return _least_epsilon(ratio / everything, 1 / everything, draws, Decimal(delta))


def any_mechanism(ratio: Fraction, draws: int, delta: float) -> float:
    """Return an ε for this many draws of any mechanism whose loss is ln `ratio`.

    The result is infinite for more than `MAX_DRAWS` draws.
    """
    return response(ratio, 2, draws, delta)


def _least_epsilon(up: Fraction, down: Fraction, draws: int, delta: Decimal) -> float:
    """Return the least ε for P = (up, stay, down) and Q = (down, stay, up).

    Each draw is a step +1, 0 or −1. The sum d of all steps is sufficient: P(d) = Q(d)·(up/down)^d.
    So E_t = max over D of A − t·B, with A = P(d ≥ D) and B = Q(d ≥ D), and e^ε is the greatest
    (A − δ)/B. A is concave in B, so once the quotient falls it keeps falling. With i = n − d, the
    probabilities are the coefficients of (up + stay·y + down·y²)ⁿ, and follow each other by
    i·up·c(i) = (n+1−i)·stay·c(i−1) + (2n+2−i)·down·c(i−2). For d > 0, which is where e^ε > 1, all
    terms are positive and nothing cancels. The result is rounded up.
    """
    if draws > MAX_DRAWS:
        return inf
    with localcontext(EXACT):
        p, stay, q = _decimal(up), _decimal(1 - up - down), _decimal(down)
        step = _decimal(up / down)
        previous, chance = Decimal(0), (p.ln() * draws).exp()
        factor = (step.ln() * -draws).exp()  # Q(d) / P(d)
        sum_p, sum_q = chance, chance * factor
        best = (sum_p * (1 + SLACK) - delta) / (sum_q * (1 - SLACK))
        for i in range(1, draws):
            following = (draws + 1 - i) * stay * chance + (2 * draws + 2 - i) * q * previous
            previous, chance = chance, following / (i * p)
            factor *= step
            sum_p, sum_q = sum_p + chance, sum_q + chance * factor
            if sum_p * (1 + SLACK) <= delta:  # the quotient is not positive
                continue
            quotient = (sum_p * (1 + SLACK) - delta) / (sum_q * (1 - SLACK))
            if quotient < best * (1 - SLACK):
                break
            best = max(best, quotient)
        epsilon = best.ln() if best > 1 else Decimal(0)
        return float_up(epsilon * (1 + SLACK))


def _decimal(value: Fraction) -> Decimal:
    """Return a fraction to 60 digits."""
    return EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
