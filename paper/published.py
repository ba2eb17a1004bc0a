"""The paper's experiment: its parameters, the numbers that it published, and parts of its grid."""

from collections.abc import Sequence
from itertools import product
from typing import Any

from paper.results import Parameters

GRID: dict[str, tuple[Any, ...]] = {
    "epsilon": (35.0, 37.5, 40.0, 42.5, 45.0, 47.5, 50.0, 52.5, 55.0),
    "length": (100, 150, 200),
    "spelling": (0.0, 0.1, 0.2, 0.3, 0.4),
    "morphology": ("lemma", "lower", "orth"),
    "synsets": (False, True),
}
RUNS = 10
"""Table 2: the values of each parameter. Every combination was run this often."""

BEST = 20
"""How many combinations are run this often here, for each classifier."""

OPTIMUM = Parameters(epsilon=47.5, length=150, spelling=0.3, morphology="lemma", synsets=False)

SCENARIOS = {
    "top5-any": (5, 35, 17),
    "top10-any": (10, 28, 9),
    "top5-multi": (5, 29, 9),
    "top10-multi": (10, 21, 8),
}
"""Table 1: the number of authors, and how many training and test messages each has at least."""

ABSOLUTE: dict[str, tuple[float, ...]] = {
    "original": (0.69, 0.71, 0.70, 0.64, 0.71, 0.63, 0.06),
    "syntf": (0.60, 0.61, 0.61, 0.42, 0.44, 0.43, 0.18),
    "scrubadub-names": (0.64, 0.65, 0.65, 0.57, 0.63, 0.57, 0.06),
}
RELATIVE: dict[str, tuple[float, ...]] = {
    "syntf": (0.87, 0.86, 0.87, 0.66, 0.61, 0.69, 0.20),
    "scrubadub-names": (0.92, 0.92, 0.92, 0.90, 0.88, 0.91, 0.02),
}
"""Table 3 (Top 10/Any, naive Bayes, at the optimum): utility F1, precision, recall; attack F1,
precision, recall; gain. scrubadub removed names too in 2018."""


def combinations(**values: Sequence[Any]) -> list[Parameters]:
    """Return all combinations of these values; parameters without values stay at the optimum.

    >>> len(combinations(**GRID)), combinations() == [OPTIMUM]
    (810, True)
    """
    axes = [values.get(name, (value,)) for name, value in OPTIMUM._asdict().items()]
    return [Parameters(*combined) for combined in product(*axes)]


QUICK = [*combinations(epsilon=(35.0, 40.0, 47.5, 55.0)), *combinations(spelling=(0.0,))]
QUICK_RUNS = 2
"""Few combinations that still show the shape of the figures."""

FIGURES = list(
    dict.fromkeys(
        [OPTIMUM, *(one for name in ("epsilon", "spelling")
                    for one in combinations(**{name: GRID[name]}))]
    )
)  # fmt: skip
"""The combinations of the paper's figures: each ε and each s, the rest at the optimum."""
