"""Checks of single values that a person chose; each names the value and what it may be."""

from collections.abc import Sequence
from math import inf, isfinite
from numbers import Integral, Real

from syntf.core.errors import SyntfError


def positive(name: str, value: object) -> float:
    """Return `value` as a float; raise SyntfError unless it is a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise SyntfError(f"{name} must be a number above 0, not {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not isfinite(number) or number <= 0:
        raise SyntfError(f"{name} must be finite and above 0, not {value!r}")
    return number


def fraction(name: str, value: object) -> float:
    """Return `value` as a float; raise SyntfError unless it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or value < 0 or not value <= 1:
        raise SyntfError(f"{name} must be a number from 0 to 1, not {value!r}")
    return float(value)


def count(name: str, value: object, most: int | None = None) -> int:
    """Return `value` as an int; raise SyntfError unless it is whole and from 1 to `most`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        raise SyntfError(f"{name} must be a whole number, at least 1, not {value!r}")
    if most is not None and int(value) > most:
        raise SyntfError(f"{name} must be at most {most}, not {value}")
    return int(value)


def one_of(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise SyntfError unless `value` is one of these texts."""
    if not isinstance(value, str) or value not in choices:
        raise SyntfError(f"{name} must be {' or '.join(choices)}, not {value!r}")


def flag(name: str, value: object) -> None:
    """Raise SyntfError unless `value` is true or false; 0 and 1 count as such."""
    if value not in (True, False):
        raise SyntfError(f"{name} must be true or false, not {value!r}")
