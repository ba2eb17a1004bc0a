"""The part of a report that an evaluation adds: its results in the order people ask for them."""

import csv
from pathlib import Path

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment import results
from syntf.evaluation.experiment.folder import LINKAGE
from syntf.evaluation.experiment.paper import FLOORS, Cell, label
from syntf.evaluation.experiment.results import Result, Results, floor
from syntf.report.contents import Compared, Evaluated, Link, Scenario

LINKED = {
    ("document", "syntf"): "a text and its release",
    ("membership", "syntf"): "a text, released or not",
    ("author", "vectorised"): "two texts of an author, before",
    ("author", "syntf"): "a text and a release of an author",
    ("author-releases", "syntf"): "two releases of an author",
}
"""What is linked, by task and method."""


def evaluated(folder: Path, cell: Cell) -> Evaluated:
    """What the folder of an evaluation says of one choice of parameters.

    Attackers may choose their model: before and after, each stands with the better one.
    """
    path = folder / "results.csv"
    if not path.is_file():
        raise SyntfError(f"no results.csv in {folder}: give the folder of syntf evaluate")
    found = Results(results.read(path))
    loss = found.loss(cell)
    if loss is None:
        raise SyntfError(
            f"{folder} holds no evaluation with the parameters of this release (ε = "
            f"{cell.epsilon:g}, {cell.length} words): evaluate with these, or leave it out"
        )
    authors = _authors(folder / "scenarios.csv")
    analyst = [
        _compared(
            label(model), [found.utility("original", model)], [found.utility("syntf", model, cell)]
        )
        for model in found.models
    ]
    return Evaluated(
        runs=max(result.runs for result in found.cells[cell]),
        loss_per_word=loss,
        analyst=[one for one in analyst if one.after is not None],
        scenarios=[
            Scenario(label(name), authors.get(name, 0), _attackers(found, cell, name),
                     _f1(floor(found, name)))
            for name in found.scenarios
        ],
        links=_links(folder / "linkage.csv") if len(found.cells) == 1 else [],
    )  # fmt: skip


def _attackers(found: Results, cell: Cell, scenario: str) -> list[Compared]:
    """Everyone who sees a text, whoever is best on the release first."""
    rows = []
    for attacker in found.attackers:
        if attacker in FLOORS:
            continue
        before, after = (
            [found.attack(method, model, scenario, cell, attacker=attacker)
             for model in found.models]
            for method in ("original", "syntf")
        )  # fmt: skip
        rows.append(_compared(label(attacker), before, after))
    measured = [row for row in rows if row.after is not None]
    return sorted(measured, key=lambda row: -(row.after or 0))


def _compared(name: str, before: list[Result | None], after: list[Result | None]) -> Compared:
    best = _best(after)
    return Compared(name, _f1(_best(before)), _f1(best), None if best is None else best.f1_std)


def _best(found: list[Result | None]) -> Result | None:
    return max((one for one in found if one), key=lambda one: one.f1, default=None)


def _f1(result: Result | None) -> float | None:
    return None if result is None else result.f1


def _authors(path: Path) -> dict[str, int]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["scenario"]: int(row["authors"]) for row in csv.DictReader(file)}


def _links(path: Path) -> list[Link]:
    """The attacks that link; an evaluation from before these has none."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.DictReader(file)
        if lines.fieldnames is None or tuple(lines.fieldnames) != LINKAGE:
            raise SyntfError(f"{path.name} has not the columns of a file of links")
        return [
            Link(
                LINKED[row["task"], row["method"]] + (", same topic" * (row["pairs"] != "any")),
                float(row["auc"]),
                float(row["tpr_at_1pct"]) if row["tpr_at_1pct"] else None,
            )
            for row in lines
        ]
