"""The loss of sums with discrete Gaussian noise: zCDP, and what it means as (ε, δ).

A mechanism is *ρ-zCDP* if for neighbours and every order α > 1 the Rényi divergence D_α of its
outputs, in either direction, is at most αρ (Bun and Steinke, 2016).

**Theorem.** Let x and y be vectors of integers with |x − y|² ≤ Δ². Adding an independent discrete
Gaussian of parameter σ² to each coordinate is ρ-zCDP with ρ = Δ²/2σ² (Canonne, Kamath and Steinke,
"The Discrete Gaussian for Differential Privacy", 2020, *CKS*, Theorem 14).

*Proof.* For one coordinate let d be the difference and Z = Σ_k exp(−k²/2σ²). Completing the square,
exp((α−1) D_α) = Σ_k exp(−(αk² + (1−α)(k−d)²)/2σ²) / Z
= exp(α(α−1)d²/2σ²) · Σ_k exp(−(k − (1−α)d)²/2σ²) / Z. A Gaussian has a positive Fourier transform,
so by Poisson's summation formula its sum over shifted integers is largest without a shift, where it
is Z. Hence D_α ≤ αd²/2σ². Noises are independent, so divergences add, and Σ d² ≤ Δ². ∎

**Several measurements.** If each is ρ_i-zCDP, all together are Σ ρ_i-zCDP, even if what is measured
was chosen from the noisy results before (Bun and Steinke, Lemma 2.3), and what is computed from
noisy results alone loses nothing more. Here ρ is an exact fraction, so sums of it are exact.

**(ε, δ).** ρ-zCDP implies (ε, δ)-differential privacy with
δ = exp((α−1)(αρ−ε)) / (α−1) · (1 − 1/α)^α for every α > 1 (CKS, Corollary 13). Floating point only
chooses α; the formula is evaluated in decimals and rounded up, so that rounding never favours us.
"""

from bisect import bisect_left
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from math import erf, log, log1p, sqrt

from syntf.core import checks
from syntf.core.errors import SyntfError
from syntf.core.exact import EXACT, float_up
from syntf.mechanism.gaussian import MOST_VARIANCE

_SLACK = Decimal("1e-50")  # more than the relative error of a term computed with 60 digits


def rho(squared_length: int, variance: int) -> Fraction:
    """Return ρ of one noisy sum, to which a document adds a vector of at most this length.

    >>> rho(squared_length=100, variance=200)
    Fraction(1, 4)
    """
    length = checks.count("squared_length", squared_length)
    return Fraction(length, 2 * checks.count("variance", variance, MOST_VARIANCE))


def of_group(rho: Fraction, documents: int) -> Fraction:
    """Return ρ for neighbours that are this many added or removed documents apart.

    The vectors of m documents of a person add up to one of length at most mΔ. To replace is to
    remove and to add: ``of_group(rho, 2)`` for a document, ``of_group(rho, 2 * m)`` for a person.

    >>> of_group(Fraction(1, 4), 2)
    Fraction(1, 1)
    """
    return rho * checks.count("documents", documents) ** 2


def delta(rho: Fraction, epsilon: float) -> float:
    """Return a δ with which ρ-zCDP implies (ε, δ)-differential privacy, rounded up.

    >>> round(delta(Fraction(1, 40), 1.0), 9)
    1.336e-06
    """
    most, r = checks.positive("epsilon", epsilon), float(rho)
    # The derivative of ln δ grows with α.
    a = _root(lambda a: (2 * a - 1) * r - most + log1p(-1 / a), (most + 1) / (2 * r) + 2)
    with localcontext(EXACT):
        quadratic = a * (a - 1) * rho.numerator / rho.denominator
        terms = quadratic, -(a - 1) * Decimal(most), (a - 1) * (a - 1).ln(), -a * a.ln()
        return min(1.0, float_up(_sum_up(*terms).exp() * (1 + _SLACK) + Decimal("1e-400")))


def epsilon(rho: Fraction, delta: float) -> float:
    """Return an ε with which ρ-zCDP implies (ε, δ)-differential privacy, rounded up, at least 0.

    The formula for δ, solved for ε, is αρ + ln(1 − 1/α) − (ln δ + ln α)/(α−1).

    >>> round(epsilon(Fraction(1, 40), 1e-6), 3)
    1.014
    """
    if not 0 < checks.fraction("delta", delta) < 1:
        raise SyntfError(f"delta must be above 0 and below 1, not {delta!r}")
    r, log_delta = float(rho), log(delta)
    # (α−1)² times the derivative of ε grows with α.
    a = _root(lambda a: r * (a - 1) ** 2 + log(a) + log_delta, 2 + sqrt(-log_delta / r))
    with localcontext(EXACT):
        rest = a - 1
        loss = a * rho.numerator / rho.denominator
        terms = loss, rest.ln(), -a.ln(), -Decimal(delta).ln() / rest, -a.ln() / rest
        return max(0.0, float_up(_sum_up(*terms)))


_epsilon = epsilon


def variance_for(epsilon: float, delta: float, squared_length: int) -> int:
    """Return the least σ² with which one noisy sum is (ε, δ)-differentially private.

    For a measurement with a share s of a budget, divide by s and round up: its ρ is s times that
    of the whole, or less.

    >>> round(sqrt(variance_for(epsilon=1.0, delta=1e-6, squared_length=1_000_000)) / 1000, 2)
    4.53
    """
    most = checks.positive("epsilon", epsilon)
    length, variances = squared_length, range(1, MOST_VARIANCE + 1)
    found = 1 + bisect_left(variances, True, key=lambda v: _epsilon(rho(length, v), delta) <= most)
    if found > MOST_VARIANCE:
        raise SyntfError(f"epsilon {epsilon:g} at delta {delta:g} is too small: no noise is enough")
    return found


def advantage(rho: Fraction) -> float:
    """Return the largest advantage of a membership attacker who knows all other documents.

    It is the total variation of two Gaussians at the distance Δ, 2Φ(Δ/2σ) − 1 with Δ/σ = √(2ρ), and
    nearly that of discrete ones: what an evaluation should find, no part of a guarantee.

    >>> round(advantage(rho(squared_length=100, variance=2053)), 3)  # ε = 1 at δ = 1e-6
    0.088
    """
    return erf(sqrt(rho) / 2)


def _root(growing: Callable[[float], float], high: float) -> Decimal:
    """Return a number above 1 near to where a growing function is 0; it is positive at `high`."""
    low = 1 + 2.0**-30
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if growing(middle) < 0 else (low, middle)
    return Decimal(high)


def _sum_up(*terms: Decimal) -> Decimal:
    """Add terms with small relative errors; the result is at least the true sum."""
    return sum(terms, Decimal(0)) + _SLACK * sum((abs(term) for term in terms), Decimal(0))
