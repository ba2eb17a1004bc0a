"""Parts of the paper's parameter grid (its Table 2)."""

from collections.abc import Sequence
from itertools import product
from typing import Any

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.results import Parameters
from syntf.research.paper import GRID, OPTIMUM


def combinations(**values: Sequence[Any]) -> list[Parameters]:
    """Return all combinations of these values; parameters without values stay at the optimum."""
    axes = {name: values.get(name, (value,)) for name, value in OPTIMUM._asdict().items()}
    return [Parameters(*combined) for combined in product(*axes.values())]


QUICK = [*combinations(epsilon=(35.0, 40.0, 47.5, 55.0)), *combinations(spelling=(0.0,))]
"""Few parameters that still show the shape of the figures."""


def figure_parameters() -> list[Parameters]:
    """Return the parameters of the paper's figures: each ε and each s, the rest at the optimum."""
    varied = (combinations(**{name: GRID[name]}) for name in ("epsilon", "spelling"))
    return list(dict.fromkeys([OPTIMUM, *(one for part in varied for one in part)]))


def parse_grid(options: Sequence[str]) -> list[Parameters]:
    """Parse values of `--grid`: ``full``, or ``NAME=VALUE,…`` for each parameter to vary.

    >>> len(parse_grid(["full"])), len(parse_grid(["epsilon=all", "spelling=0,0.3"]))
    (810, 18)
    """
    if "full" in options:
        return combinations(**GRID)
    return combinations(**dict(_parse_option(option) for option in options)) if options else []


def _parse_option(option: str) -> tuple[str, tuple[Any, ...]]:
    name, _, values = option.partition("=")
    if name not in GRID or not values:
        raise SyntfError(
            f"--grid {option!r} is unknown: use full, or NAME=VALUE,… with one of {', '.join(GRID)}"
        )
    if values == "all":
        return name, GRID[name]
    try:
        return name, tuple(_parse_value(name, text.strip()) for text in values.split(","))
    except ValueError:
        choices = ", ".join(str(value).lower() for value in GRID[name])
        wanted = (
            f"values of {choices}"
            if name in ("morphology", "synsets")
            else "numbers separated by commas, or all"
        )
        raise SyntfError(f"--grid {name} takes {wanted}, not {values!r}") from None


def _parse_value(name: str, text: str) -> Any:
    if name in ("epsilon", "spelling"):
        return float(text)
    if name == "length":
        return int(text)
    known = {str(value).lower(): value for value in GRID[name]}
    if text.lower() not in known:
        raise ValueError
    return known[text.lower()]
