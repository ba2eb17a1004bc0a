"""The frontier in files: CSV for programs, Markdown for the page that shows it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from math import inf, isfinite
from pathlib import Path

from syntf.core.exact import shown
from syntf.evaluation.experiment import csv_files
from syntf.evaluation.experiment.paper import ABSOLUTE, LOSS, OPTIMUM, Cell, label
from syntf.evaluation.experiment.results import Results, floor, strongest
from syntf.evaluation.experiment.tables import markdown_table
from syntf.research.frontier import Point, better

TARGET = ABSOLUTE["syntf"][0]
"""The analyst's F1 in the paper, which a point must reach to be compared with it."""

PAPER_LOSSES = (LOSS, LOSS * (OPTIMUM.length or 0))
NAMES = {
    ("default", "public"): "SynTF, default",
    ("accurate", "public"): "SynTF, accurate",
    ("accurate", "fitted"): "the same, outputs fitted",
    ("paper", "fitted"): "the paper's SynTF",
    ("santext", "public"): "SanText",
    ("k-rr", "public"): "randomised response",
    ("custext", "public"): "CusText",
}
"""Curves, in the order of display."""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """The strongest attack in a scenario: a line of ``attacks.csv``.

    Parameters
    ----------
    data : {'original', 'paper', 'accurate', 'default'}
        What was attacked: the texts, or a release with these settings.
    scenario, attacker, model : str
    runs : int
    f1 : float
    f1_std : float, optional
    writeprints : float, optional
        F1 of the paper's attacker, by the better of its two models.
    floor : float, optional
        F1 of whoever knows the true topic of each text and nothing else.
    excess : float, optional
        What the strongest attack gains over that.

    Examples
    --------
    >>> from syntf.research.frontier_tables import Attack
    >>> who = dict(data="default", scenario="top5-any", attacker="words", model="svm", runs=1)
    >>> Attack(**who, f1=0.75, floor=0.5).excess
    0.25
    """

    data: str
    scenario: str
    attacker: str
    model: str
    runs: int
    f1: float
    f1_std: float | None = None
    writeprints: float | None = None
    floor: float | None = None

    @property
    def excess(self) -> float | None:
        return None if self.floor is None else self.f1 - self.floor


def attacks(measured: Mapping[str, tuple[Results, Cell]]) -> list[Attack]:
    """The strongest attack on the original texts and on each release, scenario by scenario."""
    stages = [("original", "original", *next(iter(measured.values())))]  # the same for all
    stages += [(name, "syntf", results, cell) for name, (results, cell) in measured.items()]
    found = (
        _attack(results, cell, data, method, scenario)
        for data, method, results, cell in stages
        for scenario in results.scenarios
    )
    return [one for one in found if one is not None]


def _attack(results: Results, cell: Cell, data: str, method: str, scenario: str) -> Attack | None:
    top, least = strongest(results, cell, scenario, method=method), floor(results, scenario)
    if top is None:
        return None
    theirs = [results.attack(method, model, scenario, cell) for model in results.models]
    return Attack(
        data=data,
        scenario=scenario,
        **{name: getattr(top, name) for name in ("attacker", "model", "runs", "f1", "f1_std")},
        writeprints=max((one.f1 for one in theirs if one), default=None),
        floor=least.f1 if least else None,
    )


def write_points(path: Path, found: Iterable[Point]) -> None:
    """``frontier.csv``: its columns are the fields of a point."""
    csv_files.write(path, [one.name for one in fields(Point)], map(astuple, found))


def write_attacks(path: Path, found: Iterable[Attack]) -> None:
    """``attacks.csv``: the fields of an attack, and its excess over the floor."""
    head = [*(one.name for one in fields(Attack)), "excess"]
    csv_files.write(path, head, ((*astuple(one), one.excess) for one in found))


def markdown(found: Sequence[Point], attacked: Sequence[Attack]) -> str:
    """All tables of the page, in its order."""
    by_loss = [one for one in found if one.varied != "length"]
    by_length = [one for one in found if one.varied == "length"]
    head, *lines = least_losses(found)
    parts = [
        f"## The least loss for an F1 of {TARGET:.2f}",
        markdown_table(head, lines),
        "## Along the loss",
        scores(by_loss),
        "## Along the length",
        scores(by_length),
        "## Attacks",
        attack_table(attacked),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def least_losses(found: Iterable[Point]) -> list[list[str]]:
    """For each curve, the smallest losses measured at which the better model reaches the paper."""
    best = better(found)
    lines = [
        ["mechanism", "loss per word", "loss per document", "best F1"],
        ["the paper, as published", *map(_loss, PAPER_LOSSES), _f1(TARGET)],
    ]
    for key, name in NAMES.items():
        curve = [one for one in best if (one.mechanism, one.vocabulary) == key]
        if curve:
            enough = [one for one in curve if one.f1 >= TARGET]
            word = min((one.loss_per_word for one in enough), default=None)
            document = min((one.loss_per_document for one in enough), default=None)
            top = max(one.f1 for one in curve)
            lines.append([name, _reached(word), _reached(document), _f1(top)])
    return lines


def scores(found: Sequence[Point]) -> str:
    """Every point, with the models side by side."""
    models = sorted({one.model for one in found})
    lines = []
    for key, name in NAMES.items():
        rows: dict[tuple[float, ...], dict[str, Point]] = {}
        for one in found:
            if (one.mechanism, one.vocabulary) == key:
                place = (one.loss_per_word, one.epsilon, one.length, one.outputs, one.k or 0)
                rows.setdefault(place, {})[one.model] = one
        for _, by_model in sorted(rows.items()):
            one = next(iter(by_model.values()))
            stated = "" if isfinite(one.loss_per_word) else f" (states {one.epsilon:g})"
            lines.append(
                [
                    name,
                    f"{one.outputs:,}",
                    "–" if one.k is None else str(one.k),
                    str(one.length),
                    _loss(one.loss_per_word) + stated,
                    _loss(one.loss_per_document),
                    *(_scored(by_model.get(model)) for model in models),
                ]
            )
    head = ["mechanism", "M", "k", "n", "loss per word", "loss per document"]
    return markdown_table([*head, *map(label, models)], lines)


def attack_table(found: Sequence[Attack]) -> str:
    """A line for each kind of data and scenario."""
    data = {
        "original": "original text",
        "paper": NAMES["paper", "fitted"],
        "accurate": NAMES["accurate", "public"],
        "default": NAMES["default", "public"],
    }
    lines = []
    for name, shown_name in data.items():
        for one in found:
            if one.data == name:
                lines.append(
                    [
                        shown_name,
                        label(one.scenario),
                        f"{label(one.attacker)}, {label(one.model)}",
                        _scored(one),
                        _f1(one.floor),
                        _signed(one.excess),
                        _f1(one.writeprints),
                    ]
                )
    head = ["data", "scenario", "strongest attacker", "F1", "topic alone", "excess", "WritePrints"]
    return markdown_table(head, lines)


def _scored(one: Point | Attack | None) -> str:
    if one is None:
        return "–"
    return _f1(one.f1) + ("" if one.f1_std is None else f" ± {_f1(one.f1_std)}")


def _f1(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".removeprefix("0")


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}".replace("-", "−").replace("0.", ".", 1)


def _reached(value: float | None) -> str:
    return "not reached" if value is None else _loss(value)


def _loss(value: float) -> str:
    return "∞" if value == inf else shown(value, 0 if value >= 100 else 1)
