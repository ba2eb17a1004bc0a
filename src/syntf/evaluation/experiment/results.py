"""Scores of analysts and attackers: single runs, their means, and the paper's criterion.

A *cell* is one choice of the paper's parameters. β is a score on what a method leaves of
the texts over the same score on the texts themselves: β_U of the analyst, β_A of the attacker.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import fmean, stdev
from types import NoneType
from typing import Any, NamedTuple, get_args

from syntf.core.errors import SyntfError, said
from syntf.evaluation.experiment import csv_files
from syntf.evaluation.experiment.paper import FLOORS, LABELS, Cell

_TEXTS = ("original", "scrubadub", "scrubadub-names")
"""These leave words in the order of the text: no attacker has to choose one."""
_ANY = Cell()


class Key(NamedTuple):
    """What there is one result of."""

    method: str
    task: str
    scenario: str
    model: str
    attacker: str
    cell: Cell


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a score is of: a method, a task on what it leaves, and who does the task how."""

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

    @property
    def cell(self) -> Cell:
        return Cell(*(getattr(self, name) for name in Cell._fields))

    @property
    def key(self) -> Key:
        return Key(*(getattr(self, name) for name in Key._fields))


@dataclass(frozen=True, kw_only=True)
class Score(Measured):
    """One run of an analyst or an attacker; `tagger` names what tagged the words, if anything."""

    run: int
    tagger: str = ""
    f1: float
    precision: float
    recall: float


@dataclass(frozen=True, kw_only=True)
class Result(Measured):
    """The mean of one or more runs: a line of ``results.csv``, whose columns are the fields.

    Parameters
    ----------
    method : {'original', 'vectorised', 'syntf', 'scrubadub', 'scrubadub-names'}
    task : {'utility', 'attack'}
    scenario : str, default=''
        Whom the attacker chooses among.
    model : {'nb', 'svm'}
    attacker : str, default=''
        Its features and, after a hyphen, the order it puts words in.
    epsilon, length, spelling, morphology, synsets
        The cell; None or "" where a method has no such parameter.
    loss_per_word : float, optional
    runs : int
    f1, precision, recall : float
        Weighted averages over the classes, and their means over the runs.
    f1_std : float, optional
        Sample standard deviation over the runs; one run has none.

    Examples
    --------
    >>> from syntf.evaluation.experiment.results import Result
    >>> scores = dict(f1=0.69, precision=0.71, recall=0.7)
    >>> Result(method="original", task="utility", model="nb", runs=1, **scores).cell
    Cell(epsilon=None, length=None, spelling=None, morphology='', synsets=None)
    """

    runs: int
    f1: float
    f1_std: float | None = None
    precision: float
    recall: float


def summarise(scores: Iterable[Score]) -> list[Result]:
    """The mean of each cell's runs, in an order that does not depend on that of the scores."""
    groups: dict[Key, list[Score]] = {}
    for score in scores:
        groups.setdefault(score.key, []).append(score)
    return [_mean(groups[key]) for key in sorted(groups, key=_order)]


def _mean(runs: list[Score]) -> Result:
    first = runs[0]
    if len({score.run for score in runs}) < len(runs):
        raise SyntfError(f"a run is there twice: {first.key}")
    if len({(score.tagger, score.loss_per_word) for score in runs}) > 1:
        raise SyntfError(f"runs of different taggers or losses have no mean: {first.key}")
    return Result(
        **{field.name: getattr(first, field.name) for field in fields(Measured)},
        runs=len(runs),
        f1=fmean(score.f1 for score in runs),
        f1_std=stdev(score.f1 for score in runs) if len(runs) > 1 else None,
        precision=fmean(score.precision for score in runs),
        recall=fmean(score.recall for score in runs),
    )


def write(path: Path, results: Iterable[Result]) -> None:
    """A CSV file of the results, whole or not at all."""
    head = [field.name for field in fields(Result)]
    csv_files.write(path, head, (map(_shown, astuple(result)) for result in results))


def read(path: Path) -> list[Result]:
    """The results that :func:`write` wrote."""
    columns = fields(Result)
    results = []
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        lines = csv.reader(file)
        try:
            if next(lines, None) != [field.name for field in columns]:
                raise SyntfError(f"{path.name} has not the columns of a file of results")
            for line in lines:
                pairs = zip(columns, line, strict=True)
                results.append(Result(**{field.name: _value(field.type, x) for field, x in pairs}))
        except SyntfError:
            raise
        except (ValueError, KeyError, OverflowError, csv.Error) as error:
            raise SyntfError(f"{path.name}, line {lines.line_num}: {said(error)}") from error
    return results


def _shown(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def _value(kind: Any, text: str) -> Any:
    kinds = get_args(kind) or (kind,)
    if text == "" and NoneType in kinds:
        return None
    if str in kinds:
        return csv_files.meant(text)
    return {"true": True, "false": False}[text] if bool in kinds else kinds[0](text)


class Results:
    """Results by what they are of; its lists of names and cells are in the order of display.

    Parameters
    ----------
    results : iterable of Result
        No two of the same; any may be missing.

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
        self._found: dict[Key, Result] = {}
        made: dict[Cell, list[Result]] = {}
        for result in results:
            if self._found.setdefault(result.key, result) is not result:
                raise SyntfError(f"a result is there twice: {result.key}")
            if result.method == "syntf":
                made.setdefault(result.cell, []).append(result)
        self.methods = sorted({key.method for key in self._found}, key=_rank)
        self.scenarios = sorted({key.scenario for key in self._found} - {""}, key=_rank)
        self.models = sorted({key.model for key in self._found}, key=_rank)
        self.attackers = sorted({key.attacker for key in self._found} - {""}, key=_rank)
        self.cells = {cell: made[cell] for cell in sorted(made, key=_order)}

    def __iter__(self) -> Iterator[Result]:
        return iter(self._found.values())

    def loss(self, cell: Cell) -> float | None:
        """SynTF's loss per word in a cell, where one of its results tells it."""
        losses = (result.loss_per_word for result in self.cells.get(cell, []))
        return next((loss for loss in losses if loss is not None), None)

    def utility(self, method: str, model: str, cell: Cell = _ANY) -> Result | None:
        """The analyst's result."""
        return self._find(Key(method, "utility", "", model, "", cell))

    def attack(
        self,
        method: str,
        model: str,
        scenario: str,
        cell: Cell = _ANY,
        *,
        attacker: str = "writeprints",
    ) -> Result | None:
        """The attacker's result; on a text, that of the attacker who leaves words as they are."""
        key = Key(method, "attack", scenario, model, attacker, cell)
        found = self._find(key)
        if found is None and method in _TEXTS:
            found = self._find(key._replace(attacker=attacker.partition("-")[0]))
        return found

    def _find(self, key: Key) -> Result | None:
        """Methods other than SynTF lack the parameters of synthesis, or all."""
        vectors = Cell(morphology=key.cell.morphology, synsets=key.cell.synsets)
        cells = (key.cell,) if key.method == "syntf" else (key.cell, vectors, _ANY)
        found = (self._found.get(key._replace(cell=cell)) for cell in cells)
        return next((result for result in found if result is not None), None)


class Gain(NamedTuple):
    """β_U, β_A and β_U − β_A, which is positive where the attacker lost more than the analyst."""

    utility: float
    attack: float
    gain: float


def relative(found: Result | None, original: Result | None, score: str = "f1") -> float | None:
    """β of two results, unless one is missing or there was nothing to lose."""
    if found is None or original is None or getattr(original, score) == 0:
        return None
    return float(getattr(found, score) / getattr(original, score))


def gain(
    results: Results,
    cell: Cell,
    scenario: str,
    model: str,
    *,
    method: str = "syntf",
    attacker: str = "writeprints",
) -> Gain | None:
    """The gain in one scenario, unless one of the four results is missing."""
    utility = relative(results.utility(method, model, cell), results.utility("original", model))
    attack = relative(
        results.attack(method, model, scenario, cell, attacker=attacker),
        results.attack("original", model, scenario, attacker=attacker),
    )
    return None if utility is None or attack is None else Gain(utility, attack, utility - attack)


def least_gain(
    results: Results, cell: Cell, model: str, *, attacker: str = "writeprints"
) -> float | None:
    """The smallest gain over the scenarios of all results, unless the cell lacks one of them."""
    gains = [gain(results, cell, name, model, attacker=attacker) for name in results.scenarios]
    return min((each.gain for each in gains if each), default=None) if all(gains) else None


def strongest(
    results: Results, cell: Cell, scenario: str, *, method: str = "syntf"
) -> Result | None:
    """The best score of any attacker by any model; those who see no text do not compete."""
    found = (
        results.attack(method, model, scenario, cell, attacker=attacker)
        for attacker in results.attackers
        if attacker not in FLOORS
        for model in results.models
    )
    return max((one for one in found if one), key=lambda one: one.f1, default=None)


def floor(results: Results, scenario: str) -> Result | None:
    """The best score of who knows the true topic of each text, and no text."""
    found = (
        results.attack("original", model, scenario, attacker=FLOORS[0]) for model in results.models
    )
    return max((one for one in found if one), key=lambda one: one.f1, default=None)


def best(results: Results, model: str, *, attacker: str = "writeprints") -> Cell | None:
    """The paper's optimum: the cell whose smallest gain over the scenarios is the largest.

    A cell that lacks a scenario does not compete: the one it lacks may be its worst.
    """
    least = {cell: least_gain(results, cell, model, attacker=attacker) for cell in results.cells}
    known = {cell: value for cell, value in least.items() if value is not None}
    return max(known, key=known.__getitem__, default=None)


def _rank(name: str) -> tuple[int, str]:
    return (list(LABELS).index(name) if name in LABELS else len(LABELS), name)


def _order(values: Iterable[Any]) -> list[Any]:
    """A sort key: None first, names by their rank, numbers by their size, cells by their parts."""
    return [
        _order(value)
        if isinstance(value, tuple)
        else (value is not None, _rank(value) if isinstance(value, str) else value or 0)
        for value in values
    ]
