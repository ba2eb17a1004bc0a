"""Rényi divergence of a mechanism's rows, and the (ε, δ) that many draws from them add up to.

D_α(P‖Q) = ln Σ_w P(w)^α · Q(w)^(1−α) / (α − 1), for α > 1. Orders go by a = α − 1 here.

**From documents to rows.** As in :mod:`syntf.privacy.dominating_pair`: two releases are mixtures,
with the same
weights, of products of n rows. D_α is jointly quasi-convex, so it is at most its maximum over
pairs of products; over products it adds up. So n draws have D_α ≤ n · max D_α(P_v‖P_v'), however
the n inputs were chosen, and an author's N documents N times that.

**To (ε, δ).** For every order, ε = n·D_α + ln(a/α) − (ln δ + ln α)/a (Canonne, Kamath and Steinke,
"The discrete Gaussian for differential privacy", 2020, Proposition 12). The least over a grid of
orders is taken; more orders could only lower it.

**Three ways to a row's divergence.** With R = P_v/m ≥ 1, m(w) the least P(w) of a column:
Σ P_v^α·P_v'^(−a) = Σ (P_v·R_v^a) · R_v'^(−a), a matrix product for all pairs at once. As no
R_v'^(−a) exceeds 1, the sums of P_v·R_v^a alone are a bound, that of the *column minimum*. For
neighbourhoods both are formulas, below.

**Rounding.** R is two conversions and a division, its powers come from square roots and
products alone: all of them operations that IEEE 754 rounds to within 1 ± u, u = 2^-53. Count
errors as logarithms: x stands for the true x times e^η, |η| ≤ h. Then h is halved, plus u, by a
square root and added up, plus u, by a product. R has h = 3u; R^a, for a = 2^j or 1.5 · 2^j, at most
8·max(1, a)·u. With that, a sum of M positive terms, in whatever order and with fused operations or
without, errs by at most M·u more; P_v·R_v^a has 6u besides and R^(−a) one. Nothing underflows,
as orders with a·ℓ > 600 are left out. So the logarithm of a sum is off by at most
(M + 16·max(1, a) + 8)·u; that is added, and what follows is decimal arithmetic, rounded up.
Assumed of the matrix product is that it is a sum of products in float64 (no Strassen, no
emulation by lower precision).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from decimal import Decimal, localcontext
from functools import cache
from math import frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError
from syntf.core.exact import EXACT, float_up
from syntf.core.parallel import Progress, in_parallel
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism

Floats = NDArray[np.float64]
Divergence = Callable[[float], float]
"""An upper bound on the divergence of any two rows, by a = α − 1."""

FINE = [2.0**j * (1 + i / 8) for j in range(-12, 8) for i in range(8)]
"""Orders a where each costs nothing: eight in each doubling."""
COARSE = FINE[:-4:4]
"""Orders a that square roots and products reach: 2^j and 1.5 · 2^j."""

SLACK = Decimal("1e-40")
"""More than all roundings to 60 digits amount to."""

_UNIT = Decimal(2) ** -53 * Decimal("1.001")
_CACHED = 1 << 15  # entries that stay in a processor's cache from one power to the next
_ROWS = 4096  # of a block in the product of all pairs


def orders(loss: float, among: Iterable[float] = COARSE) -> list[float]:
    """Those orders a that floats can express for rows of this loss."""
    return [a for a in among if a * loss <= 600]


def converted(divergence: float, a: float, draws: int, delta: float) -> float:
    """ε at `delta` of draws whose divergence of order 1 + a is `divergence` each; rounded up.

    >>> round(converted(0.5, 7.0, 10, 1e-6), 6)  # 5 + ln(7/8) − (ln 1e-6 + ln 8)/7
    6.54305
    """
    with localcontext(EXACT):
        order = Decimal(a)
        epsilon = Decimal(divergence) * draws + (order / (order + 1)).ln()
        epsilon -= (Decimal(delta).ln() + (order + 1).ln()) / order
        return max(0.0, float_up(epsilon + (abs(epsilon) + 1) * SLACK))


def least(found: Mapping[float, float], draws: int, delta: float) -> tuple[float, float]:
    """The least ε over divergences known by order, and the order a it is had at."""
    return min((converted(found[a], a, draws, delta), a) for a in found)


def descend(
    divergence: Divergence, among: list[float], start: float, draws: int, delta: float
) -> tuple[float, float]:
    """The same where each divergence is dear: goes from `start` to a minimum among the orders."""

    def at(place: int) -> tuple[float, float]:
        return converted(divergence(among[place]), among[place], draws, delta), among[place]

    place = among.index(start)
    best = at(place)
    for step in (1, -1):
        here = place
        while 0 <= here + step < len(among) and at(here + step) < best:
            here += step
            best = at(here)
        if here != place:
            break
    return best


def neighbourhood(mechanism: NeighbourhoodMechanism, a: float) -> float:
    """The greatest divergence of two rows of a neighbourhood mechanism, rounded up.

    f(x, y) = x·(x/y)^a rises in x, falls in y, and its mixed derivative −a(1+a)·x^a·y^(−a−1) is
    negative, so that, as in :mod:`syntf.privacy.dominating_pair`, parting a common neighbour never
    lowers the
    sum of f over all outputs: f(b+s, b+s') + f(b, b) ≤ f(b+s, b) + f(b, b+s') whatever the shares
    s and s' are. So the sum for rows without a common neighbour bounds that of any two word rows,
    and is it exactly if there are two such. The last row weighs between ⌊T/M⌋ and ⌈T/M⌉ in each
    output: taken as the lesser where f falls and as the greater where it rises, it is bounded too.
    """
    total, outputs = mechanism.total, mechanism.shape[1]
    background, count = mechanism.background, len(mechanism.shares)
    near = [background + int(share) for share in mechanism.shares]
    with localcontext(EXACT):

        def f(x: int, y: int) -> Decimal:
            return x * ((Decimal(x).ln() - Decimal(y).ln()) * Decimal(a)).exp()

        def summed(term: Callable[[int], Decimal]) -> Decimal:
            """Over the neighbours, of which there are two weights at most."""
            return sum((near.count(x) * term(x) for x in {near[0], near[-1]}), Decimal(0))

        few, many = total // outputs, -(-total // outputs)
        apart = summed(lambda x: f(x, background) + f(background, x))
        from_empty = summed(lambda x: f(many, x)) + (outputs - count) * f(many, background)
        to_empty = summed(lambda x: f(x, few)) + (outputs - count) * f(background, few)
        worst = max(apart + (outputs - 2 * count) * background, from_empty, to_empty)
        return _over(worst / total, 0, a, mechanism.loss)


def column_minimum(
    mechanism: ExponentialMechanism,
    among: Collection[float],
    rows: NDArray[np.intp] | None = None,
    progress: Progress | None = None,
) -> dict[float, float]:
    """For coarse orders, a bound on the divergence of these rows from any other; all rows if None.

    One pass over the rows, in blocks; each order costs a few operations an entry.
    """
    inputs, outputs = mechanism.shape
    chosen = np.arange(inputs) if rows is None else rows
    least = _least(mechanism)
    found: list[dict[float, float]] = []

    def work(block: slice) -> None:
        ratios = _ratios(mechanism, chosen[block])
        for part in np.array_split(ratios, -(-ratios.size // _CACHED)):
            chances = part * least
            powers = _powers(part, among)
            found.append({a: float((chances * x).sum(axis=1).max()) for a, x in powers})

    in_parallel(work, len(chosen), outputs, progress)
    greatest = {a: max(block[a] for block in found) for a in among}
    return {a: _over(Decimal(greatest[a]), outputs, a, mechanism.loss) for a in sorted(among)}


def all_pairs(
    mechanism: ExponentialMechanism,
    device: str | None = None,
    rows: NDArray[np.intp] | None = None,
    progress: Progress | None = None,
) -> Divergence:
    """The greatest divergence of any two of these rows, for one order at a time; all if None.

    By NumPy, or on a `device` of PyTorch. Takes 2·V²·M operations an order, and 16·V·M bytes.
    """
    place, sqrt = engine(device)
    inputs, outputs = mechanism.shape
    chosen = np.arange(inputs) if rows is None else rows
    table = np.empty((len(chosen), outputs))

    def work(block: slice) -> None:
        table[block] = _ratios(mechanism, chosen[block])

    in_parallel(work, len(chosen), outputs, progress)
    blocks = [place(table[start : start + _ROWS]) for start in range(0, len(chosen), _ROWS)]
    least = place(_least(mechanism))

    @cache
    def divergence(a: float) -> float:
        inverse = [1 / _power(block, a, sqrt) for block in blocks]
        greatest = 0.0
        for block in blocks:
            weighed = block * least * _power(block, a, sqrt)
            for other in inverse:
                greatest = max(greatest, float((weighed @ other.T).max()))
        return _over(Decimal(greatest), outputs, a, mechanism.loss)

    return divergence


def engine(device: str | None) -> tuple[Callable[[Floats], Any], Callable[[Any], Any]]:
    """What puts an array where it is worked on, and takes square roots there."""
    if device is None:
        return np.asarray, np.sqrt
    try:
        import torch
    except ImportError:
        raise SyntfError(f"{device} needs PyTorch: pip install torch") from None
    if device != "cpu" and not torch.cuda.is_available():
        raise SyntfError(f"PyTorch finds no device for {device} here")
    return lambda array: torch.as_tensor(array, device=device), torch.sqrt


def _least(mechanism: ExponentialMechanism) -> Floats:
    """m, the least chance of each output."""
    return mechanism.extremes.low / float(mechanism.total)


def _ratios(mechanism: ExponentialMechanism, rows: NDArray[np.intp]) -> Floats:
    """R = P/m of these rows."""
    return mechanism.checked_weights(rows) / mechanism.extremes.low.astype(np.float64)


def _powers(ratios: Floats, among: Collection[float]) -> Iterator[tuple[float, Floats]]:
    """(a, ratios^a) for these coarse orders: by square roots, then by squares."""
    least, most = min(1, *among) / 3, max(1, *among)  # 1.5 · 2^j takes 2^(j−1)
    if 1.0 in among:
        yield 1.0, ratios
    for times, step in ((0.5, np.sqrt), (2.0, np.square)):
        a, power = 1.0, ratios
        while least <= a * times <= most:
            after = step(power)
            if a * times in among:
                yield a * times, after
            if a + a * times in among:
                yield a + a * times, power * after
            a, power = a * times, after


def _power(ratios: Any, a: float, sqrt: Callable[[Any], Any]) -> Any:
    """ratios^a for one coarse order."""
    exponent = frexp(a)[1] - 1  # 2^exponent ≤ a
    power = ratios
    for _ in range(exponent):
        power = power * power
    for _ in range(-exponent):
        power = sqrt(power)
    return power if a == 2.0**exponent else power * sqrt(power)


def _over(value: Decimal, terms: int, a: float, most: float) -> float:
    """(ln value) / a, rounded up by all that `terms` float terms may be off; `most` at most."""
    with localcontext(EXACT):
        error = (terms + 16 * Decimal(max(1.0, a)) + 8) * _UNIT if terms else Decimal(0)
        divergence = (value.ln() + error + SLACK) / Decimal(a)
        return min(most, max(0.0, float_up(divergence + SLACK)))
