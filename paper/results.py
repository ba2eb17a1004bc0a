"""Scores of analysts and attackers: means over runs, and scores relative to the original texts.

β is a score on the data that a method leaves, divided by the same score on the original texts: β_U
for the analyst (utility) and β_A for the attacker. The *gain* β_U − β_A is positive if the attacker
lost more than the analyst.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from statistics import fmean, stdev
from typing import Any, NamedTuple

DISPLAY_NAMES = {
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
    "writeprints": "WritePrints, alphabetical",
    "writeprints-frequency": "WritePrints, by frequency",
    "writeprints-random": "WritePrints, random order",
    "words": "words",
}
"""Display names in the order of display; other names follow and are displayed unchanged."""

SCORES = ("f1", "precision", "recall")


class Parameters(NamedTuple):
    """What the experiment varies; None or "" where a method has no such parameter."""

    epsilon: float | None = None
    length: int | None = None
    spelling: float | None = None
    morphology: str = ""
    synsets: bool | None = None

    @property
    def of_words(self) -> "Parameters":
        """The parameters that decide which words are read; the others concern the mechanism."""
        return Parameters(morphology=self.morphology, synsets=self.synsets)


NO_PARAMETERS = Parameters()


@dataclass(frozen=True, kw_only=True)
class Result:
    """The mean of one or more runs: a row of ``results.csv``, whose columns are the fields.

    F1, precision and recall are averages over the classes, weighted by their size. `f1_std` is the
    sample standard deviation over the runs, None for a single run.
    """

    method: str
    task: str
    scenario: str = ""
    model: str
    attacker: str = ""
    epsilon: float | None = None
    length: int | None = None
    spelling: float | None = None
    morphology: str = ""
    synsets: bool | None = None
    loss_per_word: float | None = None
    loss_per_document: float | None = None
    runs: int
    f1: float
    f1_std: float | None = None
    precision: float
    recall: float

    @property
    def parameters(self) -> Parameters:
        return Parameters(*(getattr(self, name) for name in Parameters._fields))

    @property
    def key(self) -> tuple[Any, ...]:
        """What identifies a result: there is one for each key."""
        return self.method, self.task, self.scenario, self.model, self.attacker, self.parameters


COLUMNS = tuple(field.name for field in fields(Result))


def average(runs: Iterable[Mapping[str, Any]]) -> "Results":
    """Return the means over the lines of a log of runs (:mod:`paper.log`)."""
    groups: dict[tuple[Any, ...], list[Result]] = defaultdict(list)
    for run in runs:
        shared = {name: value for name, value in run.items() if name in COLUMNS}
        for score in run["scores"]:
            one = Result(**shared, **score, runs=1)
            groups[one.key].append(one)
    return Results(map(_mean, groups.values()))


def _mean(runs: Sequence[Result]) -> Result:
    means = {name: fmean(getattr(one, name) for one in runs) for name in SCORES}
    spread = stdev(one.f1 for one in runs) if len(runs) > 1 else None
    return Result(**{**vars(runs[0]), **means, "runs": len(runs), "f1_std": spread})


class Results:
    """Results that can be looked up; names and parameters are in the order of display.

    Examples
    --------
    >>> scores = dict(f1=0.69, precision=0.71, recall=0.7, runs=1)
    >>> results = Results([Result(method="original", task="utility", model="nb", **scores)])
    >>> results.find("original", "utility", "nb").f1
    0.69
    """

    def __init__(self, results: Iterable[Result]) -> None:
        def place(one: Result) -> tuple[Any, ...]:
            *names, parameters = one.key
            return *map(_display_rank, names), parameters

        ordered = sorted(results, key=place)
        self._by_key = {one.key: one for one in ordered}
        self.scenarios = self._names("scenario")
        self.models = self._names("model")
        self.attackers = self._names("attacker")
        self.by_parameters: dict[Parameters, list[Result]] = {}
        releases = [one for one in ordered if one.method == "syntf"]
        for one in sorted(releases, key=lambda one: one.parameters):
            self.by_parameters.setdefault(one.parameters, []).append(one)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._by_key.values())

    def _names(self, field: str) -> list[str]:
        return sorted({getattr(one, field) for one in self} - {""}, key=_display_rank)

    def find(
        self,
        method: str,
        task: str,
        model: str,
        scenario: str = "",
        parameters: Parameters = NO_PARAMETERS,
        attacker: str = "writeprints",
    ) -> Result:
        """Return a result of the analyst (utility), or of the attacker in a scenario (attack).

        Only releases depend on all parameters, and are attacked in several orders of words.
        """
        if method != "syntf":
            parameters = parameters.of_words if method == "vectorised" else NO_PARAMETERS
            attacker = "writeprints"
        if task == "utility":
            scenario = attacker = ""
        return self._by_key[method, task, scenario, model, attacker, parameters]

    def beta(
        self,
        method: str,
        task: str,
        model: str,
        scenario: str = "",
        parameters: Parameters = NO_PARAMETERS,
        score: str = "f1",
    ) -> float:
        """Return β: a score divided by the same score on the original texts."""
        one, original = (
            self.find(name, task, model, scenario, parameters) for name in (method, "original")
        )
        return float(getattr(one, score) / getattr(original, score))

    def gain(self, parameters: Parameters, scenario: str, model: str) -> float:
        """Return β_U − β_A of a release in a scenario."""
        utility = self.beta("syntf", "utility", model, "", parameters)
        return utility - self.beta("syntf", "attack", model, scenario, parameters)

    def smallest_gain(self, parameters: Parameters, model: str) -> float:
        """Return the smallest gain over all scenarios."""
        return min(self.gain(parameters, scenario, model) for scenario in self.scenarios)

    def ranked(self, model: str) -> list[Parameters]:
        """Return all parameters by the paper's criterion: the largest smallest gain comes first."""
        gain = partial(self.smallest_gain, model=model)
        return sorted(self.by_parameters, key=gain, reverse=True)

    def runs(self, parameters: Parameters) -> int:
        """Return how often these parameters were run."""
        return max(one.runs for one in self.by_parameters[parameters])

    def loss(self, parameters: Parameters) -> float:
        """Return SynTF's loss per word with these parameters."""
        return self.by_parameters[parameters][0].loss_per_word or 0.0


def display_name(name: str) -> str:
    """Return how a method, task, scenario, model or attacker is displayed."""
    return DISPLAY_NAMES.get(name, name)


def _display_rank(name: str) -> tuple[int, str]:
    names = list(DISPLAY_NAMES)
    return (names.index(name) if name in names else len(names), name)
