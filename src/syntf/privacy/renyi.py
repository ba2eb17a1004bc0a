"""Rényi divergence of a mechanism's rows, and the (ε, δ) that many draws from them add up to.

D_α(P‖Q) = ln Σ_w P(w)^α · Q(w)^(1−α) / (α − 1), for α > 1. This module writes orders as a = α − 1.

**From documents to rows.** As in :mod:`syntf.privacy.dominating_pair`, two releases are mixtures,
with the same weights, of products of n rows. D_α is jointly quasi-convex, so it is at most its
maximum over pairs of products, and over products it adds up. So n draws have
D_α ≤ n · max D_α(P_v‖P_v'), however the n inputs were chosen, and an author's N documents N times
that.

**To (ε, δ).** For every order, ε = n·D_α + ln(a/α) − (ln δ + ln α)/a (Canonne, Kamath and Steinke,
"The discrete Gaussian for differential privacy", 2020, Proposition 12). The least over a grid of
orders is taken; more orders could only lower it.

**Three ways to the divergence of rows.** Let R = P_v/m ≥ 1, where m(w) is the least P(w) of output
w. Then Σ P_v^α·P_v'^(−a) = Σ (P_v·R_v^a) · R_v'^(−a), a matrix product for *all pairs* at once. As
no R_v'^(−a) exceeds 1, the sums of P_v·R_v^a alone are a bound, that of the *column minimum*. For
the neighbourhood mechanism there is a formula, in :func:`neighbourhood`.

**Rounding.** R is two conversions and a division, and its powers come from square roots and
products: IEEE 754 rounds each of these operations to within 1 ± u, u = 2^-53. Measure errors as
logarithms: x stands for the true x times e^η, |η| ≤ h. A square root halves h and adds u; a product
adds both h and u. R has h = 3u; R^a, for a = 2^j or 1.5 · 2^j, has at most 8·max(1, a)·u. A sum of
M positive terms, in whatever order and with fused operations or not, adds at most M·u; P_v·R_v^a
adds 6u and R^(−a) adds one u. Nothing underflows, as orders with a·ℓ > 600 are left out. So the
logarithm of a sum is wrong by at most (M + 16·max(1, a) + 8)·u. This is added, and what follows is
decimal arithmetic, rounded up. The matrix product is assumed to be a sum of products in float64 (no
Strassen, no emulation by lower precision).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.exact import EXACT, float_up
from syntf.core.parallel import Progress, in_parallel
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.privacy.dominating_pair import SLACK

Floats = NDArray[np.float64]
Divergence = Callable[[float], float]
"""A function from a = α − 1 to an upper bound on the divergence of any two rows."""

FINE = [2.0**j * (1 + i / 8) for j in range(-12, 8) for i in range(8)]
"""Orders a for formulas, where each order costs nothing: eight in each doubling."""
COARSE = FINE[:-4:4]
"""Orders a that square roots and products reach: 2^j and 1.5 · 2^j."""

_UNIT = Decimal(2) ** -53 * Decimal("1.001")
_CACHE_ENTRIES = 1 << 15  # entries that stay in a processor's cache from one power to the next
_BLOCK_ROWS = 4096  # rows of a block in the product of all pairs


def orders(loss: float, candidates: Iterable[float] = COARSE) -> list[float]:
    """Return the orders a that floats can express for rows of this loss."""
    return [a for a in candidates if a * loss <= 600]


def to_epsilon(divergence: float, a: float, draws: int, delta: float) -> float:
    """Convert the divergence of order 1 + a of one draw to the ε of many draws, rounded up.

    >>> round(to_epsilon(0.5, 7.0, 10, 1e-6), 6)  # 5 + ln(7/8) − (ln 1e-6 + ln 8)/7
    6.54305
    """
    with localcontext(EXACT):
        order = Decimal(a)
        epsilon = Decimal(divergence) * draws + (order / (order + 1)).ln()
        epsilon -= (Decimal(delta).ln() + (order + 1).ln()) / order
        return max(0.0, float_up(epsilon + (abs(epsilon) + 1) * SLACK))


def least(divergences: Mapping[float, float], draws: int, delta: float) -> tuple[float, float]:
    """Return the least ε over divergences by order, and the order a that gives it."""
    return min((to_epsilon(d, a, draws, delta), a) for a, d in divergences.items())


def descend(
    divergence: Divergence, candidates: list[float], start: float, draws: int, delta: float
) -> tuple[float, float]:
    """Return a locally least ε and its order, searching from `start`: for costly divergences."""

    def at(place: int) -> tuple[float, float]:
        a = candidates[place]
        return to_epsilon(divergence(a), a, draws, delta), a

    first = candidates.index(start)
    best = at(first)
    for step in (1, -1):
        place = first
        while 0 <= place + step < len(candidates) and at(place + step) < best:
            place += step
            best = at(place)
        if place != first:
            break
    return best


def neighbourhood(mechanism: NeighbourhoodMechanism, a: float) -> float:
    """Return the greatest divergence of two rows of a neighbourhood mechanism, rounded up.

    f(x, y) = x·(x/y)^a rises in x, falls in y, and its mixed derivative −a(1+a)·x^a·y^(−a−1) is
    negative. So, as in :mod:`syntf.privacy.dominating_pair`, separating a common neighbour never
    lowers the sum of f over all outputs: f(b+s, b+s') + f(b, b) ≤ f(b+s, b) + f(b, b+s') for all
    shares s and s'. Hence the sum for two rows without a common neighbour bounds that of any two
    word rows, and is exact if there are two such rows. The last row weighs between ⌊T/M⌋ and ⌈T/M⌉
    in each output; the bound takes the lesser where f falls and the greater where it rises.
    """
    total, outputs = mechanism.total, mechanism.shape[1]
    background, count = mechanism.background, len(mechanism.shares)
    near = [background + int(share) for share in mechanism.shares]
    with localcontext(EXACT):

        def f(x: int, y: int) -> Decimal:
            return x * ((Decimal(x).ln() - Decimal(y).ln()) * Decimal(a)).exp()

        def over_neighbours(term: Callable[[int], Decimal]) -> Decimal:
            """Sum over the neighbours, which have at most two different weights."""
            return sum((near.count(x) * term(x) for x in {near[0], near[-1]}), Decimal(0))

        floor, ceiling, rest = total // outputs, -(-total // outputs), outputs - count
        words = over_neighbours(lambda x: f(x, background) + f(background, x))
        from_empty = over_neighbours(lambda x: f(ceiling, x)) + rest * f(ceiling, background)
        to_empty = over_neighbours(lambda x: f(x, floor)) + rest * f(background, floor)
        worst = max(words + (outputs - 2 * count) * background, from_empty, to_empty)
        return _divergence(worst / total, 0, a, mechanism.loss)


def column_minimum(
    mechanism: ExponentialMechanism,
    at_orders: Collection[float],
    rows: NDArray[np.intp] | None = None,
    progress: Progress | None = None,
) -> dict[float, float]:
    """Bound the divergence of these rows, or of all rows, from any other, at coarse orders.

    It takes one pass over the rows, in blocks; each order costs a few operations for each entry.
    """
    inputs, outputs = mechanism.shape
    chosen = np.arange(inputs) if rows is None else rows
    minimum = _column_minima(mechanism)
    found: list[dict[float, float]] = []

    def measure_block(block: slice) -> None:
        ratios = _ratios(mechanism, chosen[block])
        for part in np.array_split(ratios, -(-ratios.size // _CACHE_ENTRIES)):
            chances = part * minimum
            powers = _powers(part, at_orders)
            found.append({a: float((chances * x).sum(axis=1).max()) for a, x in powers})

    in_parallel(measure_block, len(chosen), outputs, progress)
    greatest = {a: max(block[a] for block in found) for a in sorted(at_orders)}
    return {a: _divergence(Decimal(x), outputs, a, mechanism.loss) for a, x in greatest.items()}


def all_pairs(
    mechanism: ExponentialMechanism,
    device: str | None = None,
    rows: NDArray[np.intp] | None = None,
    progress: Progress | None = None,
) -> Divergence:
    """Return a function that finds the greatest divergence of any two of these rows at an order.

    NumPy computes it, or a `device` such as ``cuda``. It takes 2·V²·M operations for each order,
    and 16·V·M bytes. By default all rows are compared.
    """
    place, sqrt = array_functions(device)
    inputs, outputs = mechanism.shape
    chosen = np.arange(inputs) if rows is None else rows
    table = np.empty((len(chosen), outputs))

    def fill_block(block: slice) -> None:
        table[block] = _ratios(mechanism, chosen[block])

    in_parallel(fill_block, len(chosen), outputs, progress)
    starts = range(0, len(chosen), _BLOCK_ROWS)
    blocks = [place(table[start : start + _BLOCK_ROWS]) for start in starts]
    minimum = place(_column_minima(mechanism))

    @cache
    def divergence(a: float) -> float:
        inverse = [1 / dict(_powers(block, {a}, sqrt))[a] for block in blocks]
        greatest = 0.0
        for block in blocks:
            weighed = block * minimum * dict(_powers(block, {a}, sqrt))[a]
            for other in inverse:
                greatest = max(greatest, float((weighed @ other.T).max()))
        return _divergence(Decimal(greatest), outputs, a, mechanism.loss)

    return divergence


def array_functions(device: str | None) -> tuple[Callable[[Floats], Any], Callable[[Any], Any]]:
    """Return functions that move an array to a device and take square roots there."""
    if device is None:
        return np.asarray, np.sqrt
    from syntf.mechanism.gpu import load_cupy

    cupy = load_cupy(device)
    return cupy.asarray, cupy.sqrt


def _column_minima(mechanism: ExponentialMechanism) -> Floats:
    """Return m, the least probability of each output."""
    return mechanism.extremes.low / float(mechanism.total)


def _ratios(mechanism: ExponentialMechanism, rows: NDArray[np.intp]) -> Floats:
    """Return R = P/m of these rows."""
    return mechanism.checked_weights(rows) / mechanism.extremes.low.astype(np.float64)


def _powers(
    ratios: Any, at_orders: Collection[float], sqrt: Callable[[Any], Any] = np.sqrt
) -> Iterator[tuple[float, Any]]:
    """Yield (a, ratios^a) for these coarse orders: by square roots, then by squares."""
    if 1.0 in at_orders:
        yield 1.0, ratios
    for factor, remaining in (
        (0.5, {a for a in at_orders if a < 2} - {1.0}),
        (2.0, {a for a in at_orders if a >= 2}),
    ):
        a, power = 1.0, ratios
        while remaining:
            following = sqrt(power) if factor < 1 else power * power
            found = {a * factor: following}
            if a + a * factor in remaining:  # 1.5 · 2^j
                found[a + a * factor] = power * following
            for order in remaining & set(found):
                yield order, found[order]
            remaining -= set(found)
            a, power = a * factor, following


def _divergence(total: Decimal, terms: int, a: float, most: float) -> float:
    """Return (ln total) / a, rounded up by the error of `terms` float terms; `most` at most."""
    with localcontext(EXACT):
        error = (terms + 16 * Decimal(max(1.0, a)) + 8) * _UNIT if terms else Decimal(0)
        divergence = (total.ln() + error + SLACK) / Decimal(a)
        return min(most, max(0.0, float_up(divergence + SLACK)))
