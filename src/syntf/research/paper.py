"""The paper's experiment: its parameters and the numbers that it published."""

from typing import Any, NamedTuple

from syntf.evaluation.experiment.results import Parameters

GRID: dict[str, tuple[Any, ...]] = {
    "epsilon": (35.0, 37.5, 40.0, 42.5, 45.0, 47.5, 50.0, 52.5, 55.0),
    "length": (100, 150, 200),
    "spelling": (0.0, 0.1, 0.2, 0.3, 0.4),
    "morphology": ("lemma", "lower", "orth"),
    "synsets": (False, True),
}
RUNS = 10
"""Table 2: the values of each parameter. Every combination was run this often."""

OPTIMUM = Parameters(epsilon=47.5, length=150, spelling=0.3, morphology="lemma", synsets=False)
LOSS = 25.4
"""The effective loss per word at the optimum."""

AUTHORS = 5735
FREQUENT_AUTHORS = 24
"""The number of authors, and of those with at least 20 messages: 5,711 have fewer."""


class PublishedScenario(NamedTuple):
    """A row of Table 1: the number of authors, and what each of them has at least."""

    authors: int
    groups: int
    min_train: int
    min_test: int


SCENARIOS = {
    "top5-any": PublishedScenario(5, 1, 35, 17),
    "top10-any": PublishedScenario(10, 1, 28, 9),
    "top5-multi": PublishedScenario(5, 2, 29, 9),
    "top10-multi": PublishedScenario(10, 2, 21, 8),
}

Row = tuple[float, float, float, float, float, float, float]
"""Utility F1, precision, recall; attack F1, precision, recall; gain."""

ABSOLUTE: dict[str, Row] = {
    "original": (0.69, 0.71, 0.70, 0.64, 0.71, 0.63, 0.06),
    "syntf": (0.60, 0.61, 0.61, 0.42, 0.44, 0.43, 0.18),
    "scrubadub-names": (0.64, 0.65, 0.65, 0.57, 0.63, 0.57, 0.06),
}
RELATIVE: dict[str, Row] = {
    "syntf": (0.87, 0.86, 0.87, 0.66, 0.61, 0.69, 0.20),
    "scrubadub-names": (0.92, 0.92, 0.92, 0.90, 0.88, 0.91, 0.02),
}
"""Table 3: Top 10/Any, naive Bayes, at the optimum. scrubadub removed names too in 2018."""
