"""The paper's experiment: its names, its parameters and the numbers it published."""

from typing import Any, NamedTuple

LABELS = {
    "original": "original text",
    "vectorised": "vectorised",
    "syntf": "SynTF",
    "scrubadub": "scrubadub 2.x",
    "scrubadub-names": "scrubadub with names",
    "utility": "analyst",
    "attack": "attacker",
    "top5-any": "Top 5/Any",
    "top10-any": "Top 10/Any",
    "top5-multi": "Top 5/Multi",
    "top10-multi": "Top 10/Multi",
    "nb": "naive Bayes",
    "svm": "linear SVM",
    "nb-less": "naive Bayes, less ½",
    "logistic": "logistic regression",
    "writeprints": "WritePrints, alphabetical",
    "writeprints-frequency": "WritePrints, by frequency",
    "writeprints-random": "WritePrints, random order",
    "words": "words",
    "characters": "characters",
    "embeddings": "word vectors",
    "words-static": "words, learned on texts",
    "characters-static": "characters, learned on texts",
    "embeddings-static": "word vectors, learned on texts",
    "topic": "the topic alone",
    "topic-guessed": "the guessed topic alone",
}
"""How names are shown, in the order they are shown in; other names follow, as they are."""


MODELS = ("nb", "svm")
"""The paper's two models, of analyst and attacker alike."""

FLOORS = ("topic", "topic-guessed")
"""Attackers who see no text: whoever knows its topic, or the analyst's guess of it."""


def label(name: str) -> str:
    """How a method, task, scenario, model or attacker is shown."""
    return LABELS.get(name, name)


class Cell(NamedTuple):
    """One choice of parameters; None or "" where a method has no such parameter."""

    epsilon: float | None = None
    length: int | None = None
    spelling: float | None = None
    morphology: str = ""
    synsets: bool | None = None


GRID: dict[str, tuple[Any, ...]] = {
    "epsilon": (35.0, 37.5, 40.0, 42.5, 45.0, 47.5, 50.0, 52.5, 55.0),
    "length": (100, 150, 200),
    "spelling": (0.0, 0.1, 0.2, 0.3, 0.4),
    "morphology": ("lemma", "lower", "orth"),
    "synsets": (False, True),
}
RUNS = 10
"""Table 2: the values of each parameter of a cell. Every combination was run this often."""

OPTIMUM = Cell(epsilon=47.5, length=150, spelling=0.3, morphology="lemma", synsets=False)
LOSS = 25.4
"""The effective loss per word at the optimum."""

AUTHORS = 5735
FREQUENT_AUTHORS = 24
"""Authors counted, and those of them with 20 messages or more: 5711 have fewer."""


class Suspects(NamedTuple):
    """A row of Table 1: authors, and what each of them has at least."""

    authors: int
    groups: int
    min_train: int
    min_test: int


SCENARIOS = {
    "top5-any": Suspects(5, 1, 35, 17),
    "top10-any": Suspects(10, 1, 28, 9),
    "top5-multi": Suspects(5, 2, 29, 9),
    "top10-multi": Suspects(10, 2, 21, 8),
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
"""Table 3: Top 10/Any, naive Bayes, at the optimum. Names too were removed by scrubadub then."""
