"""Read the tables of other tasks in the folder of an evaluation, as a report shows them."""

import csv
from collections.abc import Sequence
from pathlib import Path

from syntf.core.errors import SyntfError
from syntf.evaluation.tasks.clustering import ClusterScore
from syntf.evaluation.tasks.ranking import RankingScore
from syntf.evaluation.tasks.run import CLUSTERS, LABELS, TRENDS
from syntf.evaluation.tasks.search import SEARCH
from syntf.evaluation.tasks.trends import LabelShare, score_trends
from syntf.report.evaluation import EstimatedShare, LabelSurvival, MethodScores, TaskScores


def read_tasks(folder: Path) -> TaskScores:
    """Read clusters, search, labels and trends, each if it was measured."""
    labels = [
        LabelSurvival(
            row["label"], int(row["test"]), float(row["original_f1"]), float(row["released_f1"]),
            float(row["chance_f1"]), row["verdict"],
        )
        for row in _rows(folder / LABELS, ("label", "test", "original_f1", "verdict"))
    ]  # fmt: skip
    shares = [
        LabelShare(
            row["period"], int(row["documents"]), row["label"],
            *(float(row[name]) for name in LabelShare._fields[3:]),
        )
        for row in _rows(folder / TRENDS, LabelShare._fields)
    ]  # fmt: skip
    score = score_trends(shares) if shares else None
    return TaskScores(
        clusters=_methods(folder / CLUSTERS, ClusterScore._fields),
        search=_methods(folder / SEARCH, RankingScore._fields),
        labels=labels,
        trends=_by_label(shares),
        trend_error=score and score.estimate,
        counted_error=score and score.counted,
        coverage=score and score.coverage,
    )


def _methods(path: Path, names: Sequence[str]) -> list[MethodScores]:
    """Read the scores of methods with their standard deviations, where there are any."""
    return [
        MethodScores(
            row["method"],
            [
                (float(row[name]), float(row[f"{name}_std"]) if row.get(f"{name}_std") else None)
                for name in names
            ],
        )
        for row in _rows(path, ("method", *names))
    ]


def _by_label(shares: Sequence[LabelShare]) -> list[tuple[str, list[EstimatedShare]]]:
    """Return the shares of each label over time, the most frequent label first."""
    found: dict[str, list[EstimatedShare]] = {}
    documents: dict[str, float] = {}
    for one in shares:
        share = EstimatedShare(one.period, one.estimate, one.low, one.high, one.truth)
        found.setdefault(one.label, []).append(share)
        documents[one.label] = documents.get(one.label, 0.0) + one.truth * one.documents
    return sorted(found.items(), key=lambda item: -documents[item[0]])


def _rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read a table that must have these columns; empty if there is no such file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if not {*columns} <= {*(rows.fieldnames or ())}:
            raise SyntfError(
                f"{path} does not have the columns {', '.join(columns)}: run syntf evaluate again"
            )
        return list(rows)
