"""Figures drawn from the rounds: ratios within a round, their spread, what is asked of them."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from suite.rows import Measured


class Spread(NamedTuple):
    """The median over rounds, and its range."""

    middle: float
    least: float
    most: float


def spread(values: Sequence[float]) -> Spread:
    """
    >>> spread([3.0, 1.0, 2.0])
    Spread(middle=2.0, least=1.0, most=3.0)
    """
    return Spread(statistics.median(values), min(values), max(values))


@dataclass(frozen=True)
class Figure:
    """A number to watch: its rounds, which way is better, and what is asked of it."""

    key: str
    title: str
    values: Sequence[float]
    unit: str = "×"
    better: Literal["less", "more"] = "less"
    must: float | None = None
    aim: float | None = None

    @property
    def spread(self) -> Spread:
        return spread(self.values)

    def meets(self, limit: float) -> bool:
        """Whether the median is as good as asked, or better."""
        middle = self.spread.middle
        return middle <= limit if self.better == "less" else middle >= limit


def ratios(ours: Iterable[float], others: Iterable[float]) -> list[float]:
    """Round by round, as far as both have rounds.

    >>> ratios([2.0, 3.0, 8.0], [1.0, 2.0])
    [2.0, 1.5]
    """
    return [one / other for one, other in zip(ours, others, strict=False)]


def growth(large: Iterable[float], small: Iterable[float], start: float) -> list[float]:
    """How many times longer the larger takes, a start-up of `start` seconds taken from both.

    >>> growth([21.0], [3.0], 1.0)
    [10.0]
    """
    return ratios([value - start for value in large], [value - start for value in small])


def compared(
    key: str,
    title: str,
    ours: Measured,
    other: Measured,
    *,
    of: str = "seconds",
    better: Literal["less", "more"] = "less",
    must: float | None = None,
    aim: float | None = None,
) -> list[Figure]:
    """A row against another; nothing where one of them could not be measured."""
    values = ratios(ours.values(of), other.values(of))
    return [Figure(key, title, values, better=better, must=must, aim=aim)] if values else []


def plain(
    key: str,
    title: str,
    row: Measured,
    *,
    of: str = "seconds",
    unit: str = "s",
    better: Literal["less", "more"] = "less",
    must: float | None = None,
    aim: float | None = None,
) -> list[Figure]:
    """A row by itself."""
    values = row.values(of)
    return [Figure(key, title, values, unit, better, must, aim)] if values else []
