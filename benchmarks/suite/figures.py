"""Compute figures from the rounds: ratios within a round, their spread, and their limits."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from suite.rows import Measured


class Spread(NamedTuple):
    """The median over the rounds, the least and the largest value."""

    middle: float
    least: float
    most: float


def spread(values: Sequence[float]) -> Spread:
    """Return median, minimum and maximum.

    >>> spread([3.0, 1.0, 2.0])
    Spread(middle=2.0, least=1.0, most=3.0)
    """
    return Spread(statistics.median(values), min(values), max(values))


@dataclass(frozen=True)
class Figure:
    """A number with its value in each round, and the limits that it must and should meet."""

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
        """Return whether the median meets a limit."""
        middle = self.spread.middle
        return middle <= limit if self.better == "less" else middle >= limit


def ratios(ours: Iterable[float], others: Iterable[float]) -> list[float]:
    """Divide the values of each round; rounds that only one of the two has are left out.

    >>> ratios([2.0, 3.0, 8.0], [1.0, 2.0])
    [2.0, 1.5]
    """
    return [our / other for our, other in zip(ours, others, strict=False)]


def growth(large: Iterable[float], small: Iterable[float], start: float) -> list[float]:
    """Return how many times longer the larger takes, after subtracting `start` seconds from both.

    >>> growth([21.0], [3.0], 1.0)
    [10.0]
    """
    return ratios([value - start for value in large], [value - start for value in small])


class Line(NamedTuple):
    """A straight line through measurements, with the standard errors of its two numbers."""

    intercept: float
    slope: float
    intercept_error: float
    slope_error: float


def line(sizes: Sequence[float], values: Sequence[float]) -> Line:
    """Fit ``value = intercept + slope × size`` by least squares of the *relative* deviations.

    Long and short runs vary by about the same percentage, so each deviation is divided by its
    value. Else the largest size alone would decide.

    >>> line([1, 1, 10, 100], [3.0, 3.0, 21.0, 201.0])[:2]
    (1.0, 2.0)
    """
    weights = [1 / value**2 for value in values]
    total = sum(weights)
    x = sum(w * size for w, size in zip(weights, sizes, strict=True)) / total
    y = sum(w * value for w, value in zip(weights, values, strict=True)) / total
    rows = list(zip(weights, sizes, values, strict=True))
    spread_of_sizes = sum(w * (size - x) ** 2 for w, size, _ in rows)
    slope = sum(w * (size - x) * (value - y) for w, size, value in rows) / spread_of_sizes
    intercept = y - slope * x
    rest = sum(w * (value - intercept - slope * size) ** 2 for w, size, value in rows)
    variance = rest / max(len(rows) - 2, 1)
    return Line(
        round(intercept, 12),
        round(slope, 12),
        (variance * (1 / total + x**2 / spread_of_sizes)) ** 0.5,
        (variance / spread_of_sizes) ** 0.5,
    )


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
    """Compare two rows; return an empty list if one of them could not be measured."""
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
    """Return the figure of one row; an empty list if the row could not be measured."""
    values = row.values(of)
    return [Figure(key, title, values, unit, better, must, aim)] if values else []
