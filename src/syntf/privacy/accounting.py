"""What many draws lose: n·ℓ, and what sound accounting at a δ leaves of it.

An author's N documents are N·n draws. Every ε here holds for the mechanism's integers, is rounded
up, and is n·ℓ where nothing smaller is known.
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

AFFORDABLE = 10**11
"""V²·M up to which all pairs are compared on the CPU: some seconds an order."""

SAMPLE = 256
"""Rows looked at to tell which orders are worth a pass over all: the most concentrated ones."""

QUICK = 50_000
"""Draws whose sums take no time to speak of."""

COLUMNS, PAIRS = "Rényi, column minimum", "Rényi, all pairs of rows"


@dataclass(frozen=True)
class Epsilon:
    """An ε of so many draws; `order` is the α of the Rényi divergence that it comes from."""

    epsilon: float
    order: float | None = None


@dataclass(frozen=True)
class Account:
    """One way of accounting: its name, and the ε it gives for each number of draws."""

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
    """n·ℓ first, then every ε at `delta` that is known for this kind of mechanism.

    `device`, of PyTorch, compares all pairs of rows of tables of any size.

    >>> mechanism = NeighbourhoodMechanism([[0], [1], [2]], outputs=10_000, epsilon=20.0)
    >>> for account in accounts(mechanism, [100], 1e-6):
    ...     print(account.method, round(account.epsilons[0].epsilon, 1))
    n·ℓ 1000.0
    any mechanism of this loss 1000.0
    Rényi, closed form 904.1
    exact, worst pair of rows 889.5
    """
    if fraction("delta", delta) in (0, 1):
        raise SyntfError(f"delta must lie between 0 and 1, not {delta!r}")
    pure = [times_up(mechanism.loss, count) for count in draws]
    found = {
        "n·ℓ": [Epsilon(loss) for loss in pure],
        "any mechanism of this loss": [
            _known(dominating_pair.any_mechanism(mechanism.ratio, count, delta)) for count in draws
        ],
    }
    if isinstance(mechanism, NeighbourhoodMechanism):
        found |= _neighbourhood(mechanism, draws, delta)
    elif isinstance(mechanism, ExponentialMechanism):
        found |= _exponential(mechanism, draws, delta, pure, device, stages)
    return [
        Account(method, [e if e.epsilon < p else Epsilon(p) for e, p in zip(es, pure, strict=True)])
        for method, es in found.items()
    ]


def affordable(mechanism: Mechanism) -> bool:
    """Whether all pairs of its rows are compared without a device."""
    inputs, outputs = mechanism.shape
    return isinstance(mechanism, NeighbourhoodMechanism) or inputs**2 * outputs <= AFFORDABLE


def quick_epsilons(mechanism: Mechanism, draws: Sequence[int], delta: float) -> list[float]:
    """The least ε that takes no pass over rows: exact for neighbourhoods, else by ℓ alone.

    In decimal arithmetic, so that it comes out the same everywhere.
    """
    found = []
    for count in draws:
        known = [times_up(mechanism.loss, count)]
        if count <= QUICK:
            known.append(
                _known(dominating_pair.any_mechanism(mechanism.ratio, count, delta)).epsilon
            )
            if isinstance(mechanism, NeighbourhoodMechanism):
                exact = dominating_pair.neighbourhood(mechanism, count, delta)
                known.append(_known(exact).epsilon)
        found.append(min(known))
    return found


def _neighbourhood(
    mechanism: NeighbourhoodMechanism, draws: Sequence[int], delta: float
) -> dict[str, list[Epsilon]]:
    known = {a: renyi.neighbourhood(mechanism, a) for a in renyi.orders(mechanism.loss, renyi.FINE)}
    return {
        "Rényi, closed form": [_at(*renyi.least(known, count, delta)) for count in draws],
        "exact, worst pair of rows": [
            _known(dominating_pair.neighbourhood(mechanism, count, delta)) for count in draws
        ],
    }


def _exponential(
    mechanism: ExponentialMechanism,
    draws: Sequence[int],
    delta: float,
    pure: Sequence[float],
    device: str | None,
    stages: Stages,
) -> dict[str, list[Epsilon]]:
    """By the column minimum, and by all pairs of rows where they can be compared.

    A few rows, those whose sums are least beside their best, say first at which orders to look.
    More rows only add to a divergence: where these give no less than n·ℓ at any order, all rows
    would not.
    """
    renyi.engine(device)  # or an error, before the work
    inputs = mechanism.shape[0]
    orders = renyi.orders(mechanism.loss)
    some = np.argsort(mechanism.extremes.sums, kind="stable")[:SAMPLE]

    def promising(sampled: Mapping[float, float]) -> list[float | None]:
        best = [renyi.least(sampled, count, delta) for count in draws]
        return [a if epsilon < p else None for (epsilon, a), p in zip(best, pure, strict=True)]

    starts = promising(renyi.column_minimum(mechanism, orders, some))
    places = [orders.index(a) for a in starts if a is not None]
    worth = {a for place in places for a in orders[max(0, place - 2) : place + 2]}
    result = {COLUMNS: [Epsilon(loss) for loss in pure]}
    if worth:
        with stages("comparing columns", inputs) as advance:
            known = renyi.column_minimum(mechanism, worth, progress=advance)
        result[COLUMNS] = [_at(*renyi.least(known, count, delta)) for count in draws]
    if device is None and not affordable(mechanism):
        return result
    result[PAIRS] = [Epsilon(loss) for loss in pure]
    few = renyi.all_pairs(mechanism, rows=some)
    starts = promising({a: few(a) for a in orders})
    if any(starts):
        with stages("comparing rows", inputs) as advance:
            every = renyi.all_pairs(mechanism, device, progress=advance)
        result[PAIRS] = [
            Epsilon(p) if a is None else _at(*renyi.descend(every, orders, a, count, delta))
            for count, p, a in zip(draws, pure, starts, strict=True)
        ]
    return result


def _at(epsilon: float, a: float) -> Epsilon:
    return Epsilon(epsilon, 1 + a)


def _known(epsilon: float | None) -> Epsilon:
    return Epsilon(float("inf") if epsilon is None else epsilon)
