"""The tables of what `syntf evaluate` measures beside predictions, and the same for JSON output."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table

from syntf.cli import output
from syntf.cli.evaluation_tables import METHODS, rate
from syntf.evaluation.tasks.run import LabelTasks

LISTED = 10
"""Labels that are listed one by one; labels.csv has all of them."""


def label_task_records(tasks: LabelTasks) -> dict[str, Any]:
    """Return what was measured for JSON output."""
    return {
        "clusters": {method: score._asdict() for method, score in tasks.clusters.items()},
        "labels": [
            {**one._asdict(), "kept": one.kept, "verdict": one.verdict} for one in tasks.labels
        ],
        "trend": None if tasks.trend is None else tasks.trend._asdict(),
    }


def print_label_tasks(tasks: LabelTasks) -> None:
    """Print clusters, which labels survive, and how well shares are estimated."""
    if tasks.clusters:
        table = Table(box=None, padding=(0, 1, 0, 0))
        table.add_column("clusters")
        for name in ("NMI", "ARI"):
            table.add_column(name, justify="right")
        for method, score in tasks.clusters.items():
            table.add_row(METHODS[method], *map(rate, score))
        output.show(table)
    if tasks.labels:
        output.show(_label_table(tasks))
        if len(tasks.labels) > LISTED:
            output.say(f"{len(tasks.labels) - LISTED} more labels are in labels.csv")
    for line in _share_lines(tasks):
        output.say(line)


def _label_table(tasks: LabelTasks) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    for name in ("label", "texts", "original", "SynTF", "by chance", ""):
        table.add_column(name, justify="left" if name in ("label", "") else "right")
    for one in tasks.labels[:LISTED]:
        scores = map(rate, (one.original_f1, one.released_f1, one.chance_f1))
        table.add_row(output.escape(one.label), f"{one.test:,}", *scores, one.verdict)
    return table


def _share_lines(tasks: LabelTasks) -> Iterator[str]:
    if tasks.trend is not None:
        counted, found, coverage = tasks.trend
        yield (
            f"shares of labels over time: mean error {found:.1%}, not corrected {counted:.1%}; "
            f"the 95 % intervals hold the truth in {coverage:.0%}"
        )
    if tasks.shares:
        errors = [abs(one.estimate - one.truth) for one in tasks.shares]
        held = [one.low <= one.truth <= one.high for one in tasks.shares]
        yield (
            f"shares of {len(errors):,} prototypes: mean error {sum(errors) / len(errors):.2%}; "
            f"the 95 % intervals hold the truth in {sum(held) / len(held):.0%}"
        )
