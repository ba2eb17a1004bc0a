"""Scores of analysts and attackers: single runs, their means, and scores relative to the texts.

β is a score on the data that a method leaves, divided by the same score on the original texts: β_U
for the analyst (utility) and β_A for the attacker.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import fmean, stdev
from types import NoneType
from typing import Any, NamedTuple, get_args

from syntf.core.csv_files import unescape_cell, write_table
from syntf.core.errors import SyntfError, shortened
from syntf.evaluation.experiment.names import FLOORS, TEXT_METHODS, TOPIC_FLOOR, display_rank
from syntf.privacy.bounds import document_loss


class Parameters(NamedTuple):
    """The parameters that an experiment varies; None or "" where a method has no such parameter."""

    epsilon: float | None = None
    length: int | None = None
    spelling: float | None = None
    morphology: str = ""
    synsets: bool | None = None

    @classmethod
    def of(cls, settings: Any) -> "Parameters":
        """Take the parameters from the attributes of settings, a guarantee or a result."""
        return cls(*(getattr(settings, name) for name in cls._fields))


NO_PARAMETERS = Parameters()
SCORES = ("f1", "precision", "recall")


class ResultKey(NamedTuple):
    """What identifies a result: there is one for each key."""

    method: str
    task: str
    scenario: str
    model: str
    attacker: str
    parameters: Parameters


@dataclass(frozen=True, kw_only=True)
class Result:
    """The mean of one or more runs: a row of ``results.csv``, whose columns are the fields.

    F1, precision and recall are averages over the classes, weighted by their size. `f1_std` is the
    sample standard deviation over the runs, None for a single run. A release of whole documents has
    no loss per word; its ε is the loss per document, and its length the number of draws.
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
        return Parameters.of(self)

    @property
    def key(self) -> ResultKey:
        return ResultKey(*(getattr(self, name) for name in ResultKey._fields))


@dataclass(frozen=True, kw_only=True)
class RunScore(Result):
    """The result of a single run; `tagger` names the part-of-speech tagger, if one was used."""

    runs: int = 1
    run: int
    tagger: str = ""


def average_runs(scores: Iterable[RunScore]) -> list[Result]:
    """Return the mean of the runs of each key, in the order of display."""
    groups: dict[ResultKey, list[RunScore]] = {}
    for score in scores:
        groups.setdefault(score.key, []).append(score)
    return [_mean(groups[key]) for key in sorted(groups, key=_sort_key)]


def _mean(runs: list[RunScore]) -> Result:
    first = runs[0]
    if len({score.run for score in runs}) < len(runs):
        raise SyntfError(f"the log has the same run twice: {first.key}")
    if len({(one.tagger, one.loss_per_word, one.loss_per_document) for one in runs}) > 1:
        raise SyntfError(
            f"runs with different taggers or losses cannot be averaged: {first.key}; "
            "choose another folder, or add --force to start again"
        )
    means = {name: fmean(getattr(one, name) for one in runs) for name in SCORES}
    deviation = stdev(score.f1 for score in runs) if len(runs) > 1 else None
    same = {field.name: getattr(first, field.name) for field in fields(Result)}
    return Result(**{**same, **means, "runs": len(runs), "f1_std": deviation})


def write_results(path: Path, results: Iterable[Result]) -> None:
    """Write results to a CSV file, completely or not at all."""
    header = [field.name for field in fields(Result)]
    rows = (
        (str(value).lower() if isinstance(value, bool) else value for value in astuple(result))
        for result in results
    )
    write_table(path, header, rows)


def read_results(path: Path) -> list[Result]:
    """Read a file of :func:`write_results`; version 0.1 wrote no loss per document."""
    columns = fields(Result)
    earlier = [column for column in columns if column.name != "loss_per_document"]
    results = []
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        rows = csv.reader(file)
        try:
            header = next(rows, None)
            if header == [field.name for field in earlier]:
                columns = tuple(earlier)
            elif header != [field.name for field in columns]:
                raise SyntfError(f"{path.name} does not have the columns of results.csv")
            for row in rows:
                pairs = zip(columns, row, strict=True)
                values = {field.name: _parse(field.type, cell) for field, cell in pairs}
                results.append(Result(**values))
        except SyntfError:
            raise
        except (ValueError, KeyError, OverflowError, csv.Error) as error:
            raise SyntfError(f"{path.name}, line {rows.line_num}: {shortened(error)}") from error
    return results


def _parse(field_type: Any, cell: str) -> Any:
    types = get_args(field_type) or (field_type,)
    if cell == "" and NoneType in types:
        return None
    if str in types:
        return unescape_cell(cell)
    return {"true": True, "false": False}[cell] if bool in types else types[0](cell)


class Results:
    """Results that can be looked up; its lists of names and parameters are in display order.

    Parameters
    ----------
    results : iterable of Result
        No two with the same key; any may be missing.

    Examples
    --------
    >>> from syntf.evaluation.experiment.results import Result, Results
    >>> scores = dict(f1=0.69, precision=0.71, recall=0.7)
    >>> original = dict(method="original", task="utility", model="nb", runs=1)
    >>> results = Results([Result(**original, **scores)])
    >>> results.utility("original", "nb").f1, results.utility("syntf", "nb")
    (0.69, None)
    """

    def __init__(self, results: Iterable[Result]) -> None:
        self._by_key: dict[ResultKey, Result] = {}
        synthetic: dict[Parameters, list[Result]] = {}
        for result in results:
            if self._by_key.setdefault(result.key, result) is not result:
                raise SyntfError(f"there are two results for {result.key}")
            if result.method == "syntf":
                synthetic.setdefault(result.parameters, []).append(result)
        self.methods = self._names("method")
        self.scenarios = self._names("scenario")
        self.models = self._names("model")
        self.attackers = self._names("attacker")
        self.by_parameters = {one: synthetic[one] for one in sorted(synthetic, key=_sort_key)}

    def _names(self, field: str) -> list[str]:
        return sorted({getattr(key, field) for key in self._by_key} - {""}, key=display_rank)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._by_key.values())

    def loss(self, parameters: Parameters) -> float | None:
        """Return SynTF's loss per word with these parameters, if a result records it."""
        losses = (result.loss_per_word for result in self.by_parameters.get(parameters, []))
        return next((loss for loss in losses if loss is not None), None)

    def document_loss(self, parameters: Parameters) -> float | None:
        """Return SynTF's loss per document with these parameters, if a result records it."""
        found = (result.loss_per_document for result in self.by_parameters.get(parameters, []))
        whole = next((loss for loss in found if loss is not None), None)
        if whole is not None:
            return whole
        loss = self.loss(parameters)
        return None if loss is None else document_loss(loss, parameters.length or 0)

    def utility(
        self, method: str, model: str, parameters: Parameters = NO_PARAMETERS
    ) -> Result | None:
        """Return the result of the analyst."""
        return self._find(ResultKey(method, "utility", "", model, "", parameters))

    def attack(
        self,
        method: str,
        model: str,
        scenario: str,
        parameters: Parameters = NO_PARAMETERS,
        *,
        attacker: str = "writeprints",
    ) -> Result | None:
        """Return the result of an attacker.

        On texts, whose words have an order, it is that of the attacker who keeps this order.
        """
        key = ResultKey(method, "attack", scenario, model, attacker, parameters)
        result = self._find(key)
        if result is None and method in TEXT_METHODS:
            result = self._find(key._replace(attacker=attacker.partition("-")[0]))
        return result

    def _find(self, key: ResultKey) -> Result | None:
        """Look up a result; methods other than SynTF have fewer parameters, or none."""
        given = key.parameters
        reading = Parameters(morphology=given.morphology, synsets=given.synsets)
        candidates = (given,) if key.method == "syntf" else (given, reading, NO_PARAMETERS)
        found = (self._by_key.get(key._replace(parameters=one)) for one in candidates)
        return next((result for result in found if result is not None), None)


def relative_score(
    result: Result | None, original: Result | None, score: str = "f1"
) -> float | None:
    """Return β of two results; None if one is missing or the original score is zero."""
    if result is None or original is None or getattr(original, score) == 0:
        return None
    return float(getattr(result, score) / getattr(original, score))


def analyst_gain(
    results: Results,
    parameters: Parameters,
    scenario: str,
    model: str,
    *,
    method: str = "syntf",
    attacker: str = "writeprints",
) -> float | None:
    """Return β_U − β_A in a scenario; None if a result is missing.

    It is positive if the attacker lost more than the analyst.
    """
    utility = relative_score(
        results.utility(method, model, parameters), results.utility("original", model)
    )
    attack = relative_score(
        results.attack(method, model, scenario, parameters, attacker=attacker),
        results.attack("original", model, scenario, attacker=attacker),
    )
    return None if utility is None or attack is None else utility - attack


def strongest_attack(
    results: Results, parameters: Parameters, scenario: str, *, method: str = "syntf"
) -> Result | None:
    """Return the best result of all attackers and models, without those who see no text."""
    return best_result(
        results.attack(method, model, scenario, parameters, attacker=attacker)
        for attacker in results.attackers
        if attacker not in FLOORS
        for model in results.models
    )


def topic_floor(results: Results, scenario: str) -> Result | None:
    """Return the best result of an attacker who knows the true topic of each text and no text."""
    return best_result(
        results.attack("original", model, scenario, attacker=TOPIC_FLOOR)
        for model in results.models
    )


def best_result(results: Iterable[Result | None]) -> Result | None:
    """Return the result with the highest F1 of those that are there."""
    present = (result for result in results if result is not None)
    return max(present, key=lambda result: result.f1, default=None)


def _sort_key(values: Iterable[Any]) -> list[Any]:
    """Sort None first, names in display order, numbers by size, and tuples by their parts."""
    return [
        _sort_key(value)
        if isinstance(value, tuple)
        else (value is not None, display_rank(value) if isinstance(value, str) else value or 0)
        for value in values
    ]
