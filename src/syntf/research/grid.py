"""Parts of the grid of parameters that the paper tried (its Table 2)."""

from collections.abc import Sequence
from itertools import product
from typing import Any

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.paper import GRID, OPTIMUM, Cell


def cells(**values: Sequence[Any]) -> list[Cell]:
    """All combinations of these values; what is not named stays at the optimum."""
    chosen = {name: values.get(name, (default,)) for name, default in OPTIMUM._asdict().items()}
    return [Cell(*combined) for combined in product(*chosen.values())]


def curves() -> list[Cell]:
    """What the paper's figures show: each ε and each s, all else at the optimum."""
    found = [OPTIMUM, *cells(epsilon=GRID["epsilon"]), *cells(spelling=GRID["spelling"])]
    return list(dict.fromkeys(found))


def parse(options: Sequence[str]) -> list[Cell]:
    """Cells from ``full``, or from ``NAME=VALUE,…`` for each parameter that is to vary.

    >>> len(parse(["full"])), len(parse(["epsilon=all", "spelling=0,0.3"]))
    (810, 18)
    """
    if "full" in options:
        return cells(**GRID)
    return cells(**dict(_values(option) for option in options)) if options else []


def _values(option: str) -> tuple[str, tuple[Any, ...]]:
    name, _, listed = option.partition("=")
    if name not in GRID or not listed:
        raise SyntfError(
            f"--grid is full, or NAME=VALUE,… with one of {', '.join(GRID)}, not {option!r}"
        )
    if listed == "all":
        return name, GRID[name]
    try:
        return name, tuple(_value(name, text.strip()) for text in listed.split(","))
    except ValueError:
        raise SyntfError(f"--grid {name} takes {_kinds(name)}, not {listed!r}") from None


def _value(name: str, text: str) -> Any:
    if name in ("epsilon", "spelling"):
        return float(text)
    if name == "length":
        return int(text)
    known = {str(value).lower(): value for value in GRID[name]}
    if text.lower() not in known:
        raise ValueError
    return known[text.lower()]


def _kinds(name: str) -> str:
    if name in ("morphology", "synsets"):
        return "values of " + ", ".join(str(value).lower() for value in GRID[name])
    return "numbers, with commas between them, or all"
