"""The least ε of many draws at a δ, where one pair of rows is worse than all others.

E_t(P‖Q) = Σ_w max(0, P(w) − t·Q(w)) is what an (ε, δ)-guarantee bounds: for any two documents, in
either order, it must be at most δ at t = e^ε.

**From documents to rows.** A document is a distribution μ over tuples of n rows, one row for each
draw: whether terms are drawn from θ independently or systematically, the tuple is chosen first and
each draw then passes the mechanism by itself. So the release of d is Σ μ_d(x)·P_x, a mixture over x
of products P_x = P_x1 × … × P_xn; counting words is postprocessing. Weigh the pairs of tuples (x,
y) of two documents by μ_d(x)·μ_d'(y): both releases become mixtures with the same weights. E_t is
jointly convex, hence at most its maximum over pairs (P_x, P_y) of products of n rows. An author's N
documents, drawn separately, are a tuple of N·n rows.

**Domination.** If (P, Q) has E_t(P‖Q) ≥ E_t(P_v‖P_v') for all rows v, v' and all t > 0, then by
Blackwell's theorem (P_v, P_v') results from (P, Q) by some randomised processing. Applied to each
draw, it yields any product of n pairs of rows from (Pⁿ, Qⁿ). So E_t of two documents is at most
E_t(Pⁿ‖Qⁿ), with equality if (P, Q) is itself a pair of rows: then no accounting can find a smaller
ε.

**Any mechanism of loss ℓ** is dominated by randomised response to one question, answered truthfully
with probability e^ℓ/(1 + e^ℓ) (Kairouz, Oh and Viswanath, "The composition theorem for differential
privacy", 2015).

**The neighbourhood mechanism** is dominated by two of its own rows without a common neighbour. Let
g(x, y) = max(0, x − t·y). It is convex in x − t·y, so its mixed difference is not positive:
g(b+s, b+s') + g(b, b) ≤ g(b+s, b) + g(b, b+s') for s, s' ≥ 0. The right side is what two outputs
contribute to E_t if one is a neighbour of v and the other of v'. The left side is what they
contribute if the first is a neighbour of both and the second of neither. So separating a common
neighbour never lowers E_t, and with M ≥ 2k outputs all can be separated. A uniform row is the mean
of a word row over all orders of its outputs; E_t is convex in either row, so it is no worse.

**Rounding to integers.** Shares differ by one where they do not divide, and so do the weights of
the uniform row: by a factor of at most 1 ± η. If P ≤ (1+η)·P' and Q ≥ (1−η)·Q' in each draw, then
E_t(P‖Q) ≤ (1+η)ⁿ · E_t'(P'‖Q') for t' = t·((1−η)/(1+η))ⁿ. So δ is divided by (1+η)ⁿ and ε is raised
by n·ln((1+η)/(1−η)).
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf

from syntf.core.exact import EXACT, float_up
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism

SLACK = Decimal("1e-40")
"""More than the sum of all roundings to 60 digits."""

MAX_DRAWS = 1_000_000
"""Up to here the sums take seconds at most, and their error stays far below the slack."""


def any_mechanism(ratio: Fraction, draws: int, delta: float) -> float:
    """Return an ε for this many draws from any mechanism whose loss is ln `ratio`.

    The result is infinite for more than `MAX_DRAWS` draws.

    >>> any_mechanism(Fraction(3), 1, 0.25)  # e^ε = (3/4 − 1/4) / (1/4)
    0.6931471805599454
    """
    return _least_epsilon(ratio / (1 + ratio), 1 / (1 + ratio), draws, Decimal(delta))


def neighbourhood(mechanism: NeighbourhoodMechanism, draws: int, delta: float) -> float:
    """Return an ε for this many draws from a neighbourhood mechanism.

    If two inputs have no common neighbour, it is the least possible ε, except for η. The result is
    infinite for more than `MAX_DRAWS` draws, or if 2k > M.
    """
    outputs, count = mechanism.shape[1], len(mechanism.shares)
    total, background = mechanism.total, count * mechanism.background
    near = background + total - outputs * mechanism.background
    eta = max(
        (Fraction(1, sum_ // n) for sum_, n in ((near, count), (total, outputs)) if sum_ % n),
        default=Fraction(0),
    )
    if 2 * count > outputs or 2 * eta > 1:
        return inf
    with localcontext(EXACT):
        above, below = _decimal(1 + eta).ln() * draws, _decimal(1 - eta).ln() * draws
        smaller_delta = Decimal(delta) * (-above).exp() * (1 - SLACK)
    p, q = Fraction(near, total), Fraction(background, total)
    return _least_epsilon(p, q, draws, smaller_delta, above - below)


def _least_epsilon(
    up: Fraction, down: Fraction, draws: int, delta: Decimal, more: Decimal = Decimal(0)
) -> float:
    """Return the least ε for P = (up, stay, down) and Q = (down, stay, up), plus `more`.

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
        return float_up((epsilon + more) * (1 + SLACK))


def _decimal(value: Fraction) -> Decimal:
    """Return a fraction to 60 digits."""
    return EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
