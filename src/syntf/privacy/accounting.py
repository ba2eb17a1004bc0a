"""The privacy loss of many draws: n·ℓ, and the smaller ε that holds at a δ.

An author's N documents of n words are N·n draws. Every ε holds for the mechanism's integers, is
rounded up, and is n·ℓ if no smaller bound is known. ``docs/decisions/0017-accounting.md`` says why
this is our own code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from syntf.core.checks import fraction
from syntf.core.errors import SyntfError
from syntf.core.exact import times_up
from syntf.core.progress import Stages, silent
from syntf.mechanism.base import Mechanism
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.privacy import dominating_pair, renyi

MAX_CPU_WORK = 10**11
"""Compare all pairs on the CPU if inputs² · outputs is at most this: some seconds for an order."""

SAMPLE_ROWS = 256
"""How many rows show which orders deserve a pass over all rows: the most concentrated ones."""

QUICK_DRAWS = 50_000
"""Up to here, sums over draws take a negligible time."""

PURE, ANY = "n·ℓ", "any mechanism of this loss"
COLUMNS, PAIRS = "Rényi, column minimum", "Rényi, all pairs of rows"
CLOSED_FORM, EXACT_PAIR = "Rényi, closed form", "exact, worst pair of rows"


@dataclass(frozen=True)
class Epsilon:
    """The ε of some number of draws; `order` is the α of the Rényi divergence that gave it."""

    epsilon: float
    order: float | None = None


@dataclass(frozen=True)
class Account:
    """A method of accounting and the ε that it gives for each number of draws."""

    method: str
    epsilons: Sequence[Epsilon]


def accounts(
    mechanism: Mechanism,
    draws: Sequence[int],
    delta: float,
    *,
    device: str | None = None,
    stages: Stages = silent,
) -> list[Account]:
    """Return n·ℓ first, then the ε at `delta` by each method for this kind of mechanism.

    Parameters
    ----------
    draws : numbers of draws.
    delta : δ, above 0 and below 1.
    device : a GPU such as ``cuda`` that compares all pairs of rows, however large the table is.

    Guarantee
    ---------
    Each ε is an upper bound: any two documents (or authors) with this many draws are
    (ε, δ)-indistinguishable. :mod:`~syntf.privacy.dominating_pair` and
    :mod:`~syntf.privacy.renyi` have the proofs.

    Examples
    --------
    >>> mechanism = NeighbourhoodMechanism([[0], [1], [2]], outputs=10_000, epsilon=20.0)
    >>> for account in accounts(mechanism, [100], 1e-6):
    ...     print(account.method, round(account.epsilons[0].epsilon, 1))
    n·ℓ 1000.0
    any mechanism of this loss 1000.0
    Rényi, closed form 904.1
    exact, worst pair of rows 889.5
    """
    delta = fraction("delta", delta)
    if delta in (0, 1):
        raise SyntfError(f"delta must lie between 0 and 1, not {delta!r}")
    pure = [times_up(mechanism.loss, n) for n in draws]
    ratio = mechanism.ratio
    found = {
        PURE: [Epsilon(loss) for loss in pure],
        ANY: [Epsilon(dominating_pair.any_mechanism(ratio, n, delta)) for n in draws],
    }
    if isinstance(mechanism, NeighbourhoodMechanism):
        fine = renyi.orders(mechanism.loss, renyi.FINE)
        divergences = {a: renyi.neighbourhood(mechanism, a) for a in fine}
        found[CLOSED_FORM] = [_at_order(*renyi.least(divergences, n, delta)) for n in draws]
        exact = (dominating_pair.neighbourhood(mechanism, n, delta) for n in draws)
        found[EXACT_PAIR] = [Epsilon(epsilon) for epsilon in exact]
    elif isinstance(mechanism, ExponentialMechanism):
        found |= _exponential(mechanism, draws, delta, pure, device, stages)
    return [
        Account(method, [e if e.epsilon < p else Epsilon(p) for e, p in zip(es, pure, strict=True)])
        for method, es in found.items()
    ]


def compares_all_pairs(mechanism: Mechanism) -> bool:
    """Tell whether :func:`accounts` compares all pairs of rows without a device."""
    inputs, outputs = mechanism.shape
    return isinstance(mechanism, NeighbourhoodMechanism) or inputs**2 * outputs <= MAX_CPU_WORK


def quick_epsilons(mechanism: Mechanism, draws: Sequence[int], delta: float) -> list[float]:
    """Return the least ε that needs no pass over rows: exact for neighbourhoods, else from ℓ alone.

    It uses decimal arithmetic and gives the same digits on every machine.
    """
    found = []
    for n in draws:
        epsilons = [times_up(mechanism.loss, n)]
        if n <= QUICK_DRAWS:
            epsilons.append(dominating_pair.any_mechanism(mechanism.ratio, n, delta))
            if isinstance(mechanism, NeighbourhoodMechanism):
                epsilons.append(dominating_pair.neighbourhood(mechanism, n, delta))
        found.append(min(epsilons))
    return found


def _exponential(
    mechanism: ExponentialMechanism,
    draws: Sequence[int],
    delta: float,
    pure: Sequence[float],
    device: str | None,
    stages: Stages,
) -> dict[str, list[Epsilon]]:
    """Account by the column minimum, and by all pairs of rows if that is affordable.

    A sample of rows, those with the smallest sums relative to their best, shows which orders are
    worth a pass over all rows. More rows can only increase a divergence: if the sample gives no
    less than n·ℓ at any order, neither would all rows.
    """
    renyi.array_functions(device)  # raises an error before the work if the device is missing
    inputs = mechanism.shape[0]
    orders = renyi.orders(mechanism.loss)
    sample = np.argsort(mechanism.extremes.sums, kind="stable")[:SAMPLE_ROWS]

    def promising(divergences: Mapping[float, float]) -> list[float | None]:
        """Return for each number of draws the best order, or None if n·ℓ is smaller."""
        best = [renyi.least(divergences, n, delta) for n in draws]
        return [a if epsilon < p else None for (epsilon, a), p in zip(best, pure, strict=True)]

    starts = promising(renyi.column_minimum(mechanism, orders, sample))
    places = [orders.index(a) for a in starts if a is not None]
    worthwhile = {a for place in places for a in orders[max(0, place - 2) : place + 2]}
    result = {COLUMNS: [Epsilon(loss) for loss in pure]}
    if worthwhile:
        with stages("comparing columns", inputs) as advance:
            divergences = renyi.column_minimum(mechanism, worthwhile, progress=advance)
        result[COLUMNS] = [_at_order(*renyi.least(divergences, n, delta)) for n in draws]
    if device is None and not compares_all_pairs(mechanism):
        return result
    result[PAIRS] = [Epsilon(loss) for loss in pure]
    sampled = renyi.all_pairs(mechanism, rows=sample)
    starts = promising({a: sampled(a) for a in orders})
    if any(starts):
        with stages("comparing rows", inputs) as advance:
            every = renyi.all_pairs(mechanism, device, progress=advance)
        result[PAIRS] = [
            Epsilon(p) if a is None else _at_order(*renyi.descend(every, orders, a, n, delta))
            for n, p, a in zip(draws, pure, starts, strict=True)
        ]
    return result


def _at_order(epsilon: float, a: float) -> Epsilon:
    return Epsilon(epsilon, 1 + a)
