"""What an experiment leaves in its folder: results, scenarios, tables and figures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from syntf.core.errors import SyntfError
from syntf.evaluation import bound_figures
from syntf.evaluation.attack.linkage import Linked
from syntf.evaluation.attack.scenarios import Scenario
from syntf.evaluation.experiment import csv_files, plots, results, tables
from syntf.evaluation.experiment.judge import IN_ORDERS
from syntf.evaluation.experiment.log import Log
from syntf.evaluation.experiment.paper import Cell
from syntf.evaluation.experiment.results import Results

RUNS = "runs.jsonl"
LINKAGE = ("task", "pairs", "method", "auc", "tpr_at_1pct", "tpr_at_0.1pct", "same", "other")


def open_log(out: Path, experiment: str, *, force: bool = False) -> Log:
    """The log of an experiment in this folder: gone on with, or new."""
    if out.is_dir() and not (out / RUNS).exists() and any(out.iterdir()) and not force:
        raise SyntfError(f"{out} holds other files: choose another folder, or add --force")
    if out.exists() and not out.is_dir():
        raise SyntfError(f"{out} is a file: choose a folder")
    if force:
        (out / RUNS).unlink(missing_ok=True)
    return Log(out / RUNS, experiment)


def write_results(out: Path, log: Log, scenarios: Sequence[Scenario]) -> Results:
    """``results.csv`` and ``scenarios.csv``, as far as the log goes."""
    summary = results.summarise(log.scores())
    results.write(out / "results.csv", summary)
    head = [field.name for field in fields(tables.Scenario)]
    csv_files.write(out / "scenarios.csv", head, (astuple(one.row) for one in scenarios))
    return Results(summary)


def write_linkage(out: Path, linked: Iterable[Linked]) -> None:
    """``linkage.csv``: a line for each attack; a rate that needs more pairs is empty."""
    csv_files.write(out / "linkage.csv", LINKAGE, (linkage_row(one).values() for one in linked))


def linkage_row(one: Linked) -> dict[str, Any]:
    """A line of ``linkage.csv``, by its columns."""
    return dict(zip(LINKAGE, [one.task, one.pairs, one.method, *astuple(one.found)], strict=True))


def draw(out: Path, found: Results, cell: Cell, more: Mapping[str, Figure] | None = None) -> None:
    """The figures that the results suffice for, as PNG and SVG."""
    drawn = {"performance": plots.performance(found, cell), **(more or {})}
    if len({one.spelling for one in found.cells}) > 1:
        drawn["spelling"] = plots.spelling(found, cell)
    if {"scrubadub", "scrubadub-names"}.intersection(found.methods):
        drawn["scrubbing"] = plots.scrubbing(found, cell)
    if any(name in found.attackers for name in IN_ORDERS):
        drawn["attackers"] = plots.attackers(found, cell)
    for name, figure in drawn.items():
        for suffix in (".png", ".svg"):
            bound_figures.save(figure, out / f"{name}{suffix}")
