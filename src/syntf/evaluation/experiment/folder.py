"""The folder of an evaluation: write its results and figures, and read them for a report."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from syntf.core.csv_files import write_table
from syntf.core.errors import SyntfError
from syntf.evaluation.attack.linkage import LinkageAttack
from syntf.evaluation.attack.scenarios import AttackScenario
from syntf.evaluation.experiment import plots
from syntf.evaluation.experiment.about import read_about
from syntf.evaluation.experiment.document_runs import document_parameters
from syntf.evaluation.experiment.evaluator import Evaluator
from syntf.evaluation.experiment.experiment import SCRUBBING_METHODS, Experiment
from syntf.evaluation.experiment.names import FLOORS, display_name
from syntf.evaluation.experiment.results import (
    Parameters,
    Result,
    Results,
    average_runs,
    best_result,
    read_results,
    topic_floor,
    write_results,
)
from syntf.evaluation.experiment.run_log import RunLog, resumable
from syntf.evaluation.figures import save_figures
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.document import DocumentAnonymizer
from syntf.report.evaluation import EvaluationScores, LinkScore, ScenarioScores, ScoreChange

RUNS = "runs.jsonl"
RESULTS = "results.csv"
SCENARIOS = "scenarios.csv"
LINKAGE = "linkage.csv"
CHANCE = "chance.csv"
SCENARIO_COLUMNS = ("scenario", "authors", "min_train", "min_test", "train", "test")
CHANCE_COLUMNS = ("task", "scenario", "f1")
LINKAGE_COLUMNS_0_1 = tuple("task pairs method auc tpr_at_1pct tpr_at_0.1pct same other".split())
LINKAGE_COLUMNS = (*LINKAGE_COLUMNS_0_1, "first_guess", "among")
LINKAGE_NAMES = {
    ("document", "syntf"): "a text and its release",
    ("membership", "syntf"): "a text, released or not",
    ("author", "vectorised"): "two texts of an author, before",
    ("author", "syntf"): "a text and a release of an author",
    ("author-releases", "syntf"): "two releases of an author",
}
"""What a linkage attack links, by task and method."""


def open_run_log(out: Path, experiment: str, *, force: bool = False) -> RunLog:
    """Open the log of an experiment in this folder, or start one."""
    check_folder(out, (RUNS,), force=force)
    if force:
        (out / RUNS).unlink(missing_ok=True)
    return RunLog(out / RUNS, experiment)


def check_folder(out: Path, own: Sequence[str], *, force: bool = False) -> None:
    """Refuse a folder with files, unless one of them has the name of an own file."""
    if out.exists() and not out.is_dir():
        raise SyntfError(f"{out} is a file: choose a folder")
    known = any((out / name).exists() for name in own)
    if out.is_dir() and not known and any(out.iterdir()) and not force:
        raise SyntfError(f"{out} holds other files: choose another folder, or add --force")


def evaluate_settings(
    experiment: Experiment, out: Path, *, force: bool = False, scrub: bool = False
) -> tuple[Results, Parameters]:
    """Evaluate releases with the settings of an experiment and write results and figures.

    If the settings name a loss per word, the ε that gives this loss takes its place in the
    results. For the document unit the parameters are those of the guarantee.
    """
    settings, corpus = experiment.settings, experiment.corpus
    if settings.loss is not None:
        anonymizer = Anonymizer.build(settings, corpus.training_texts, stages=experiment.stages)
        settings = settings.changed(epsilon=anonymizer.mechanism.epsilon)
        experiment = replace(experiment, settings=settings)
    if settings.unit == "document":
        parameters = document_parameters(DocumentAnonymizer.build(settings), len(corpus))
    else:
        parameters = Parameters.of(settings)
    log = open_run_log(out, experiment.key, force=force)
    methods = tuple(SCRUBBING_METHODS) if scrub else ()
    with resumable():
        for _ in experiment.run(log, [parameters], methods):
            results = write_summary(out, log, experiment.evaluator.scenarios)
    write_chance(out, experiment.evaluator)
    save_figures(out, draw_figures(results, parameters))
    return results, parameters


def draw_figures(results: Results, parameters: Parameters) -> dict[str, Figure]:
    """Draw the figures for which there are results."""
    figures = {"performance": plots.performance(results, parameters)}
    if len({one.spelling for one in results.by_parameters}) > 1:
        figures["spelling"] = plots.spelling(results, parameters)
    if set(SCRUBBING_METHODS).intersection(results.methods):
        figures["scrubbing"] = plots.scrubbing(results, parameters)
    return figures


def write_summary(out: Path, log: RunLog, scenarios: Sequence[AttackScenario]) -> Results:
    """Write ``results.csv`` and ``scenarios.csv`` from the runs in the log so far."""
    results = average_runs(log.run_scores())
    write_results(out / RESULTS, results)
    rows = ([one.sizes[name] for name in SCENARIO_COLUMNS] for one in scenarios)
    write_table(out / SCENARIOS, SCENARIO_COLUMNS, rows)
    return Results(results)


def write_chance(out: Path, evaluator: Evaluator) -> None:
    """Write ``chance.csv``: the F1 of random guesses in each task."""
    write_table(out / CHANCE, CHANCE_COLUMNS, evaluator.score_chance())


def read_chance(out: Path) -> dict[tuple[str, str], float]:
    """Read the F1 of random guesses by task and scenario; early versions wrote none."""
    path = out / CHANCE
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if tuple(rows.fieldnames or ()) != CHANCE_COLUMNS:
            raise SyntfError(
                f"{path} does not have the columns {', '.join(CHANCE_COLUMNS)}: run syntf evaluate "
                "again"
            )
        return {(row["task"], row["scenario"]): float(row["f1"]) for row in rows}


def write_linkage(out: Path, attacks: Iterable[LinkageAttack]) -> None:
    """Write ``linkage.csv``, a row for each attack; rates that need more pairs stay empty."""
    write_table(out / LINKAGE, LINKAGE_COLUMNS, (linkage_row(one).values() for one in attacks))


def linkage_row(attack: LinkageAttack) -> dict[str, Any]:
    """Return a row of ``linkage.csv`` by its columns."""
    guess = (None, None) if attack.first_guess is None else astuple(attack.first_guess)
    values = (attack.task, attack.pairs, attack.method, *astuple(attack.score), *guess)
    return dict(zip(LINKAGE_COLUMNS, values, strict=True))


def read_evaluation(folder: Path, parameters: Parameters) -> EvaluationScores:
    """Read the results for these parameters, as a report shows them.

    Attackers choose their model: before and after, the better one is shown.
    """
    path = folder / RESULTS
    if not path.is_file():
        raise SyntfError(f"no {RESULTS} in {folder}: name a folder that syntf evaluate has written")
    results = Results(read_results(path))
    if parameters not in results.by_parameters:
        raise SyntfError(
            f"{folder} holds no evaluation with the parameters of this release (ε = "
            f"{parameters.epsilon:g}, {parameters.length} draws): run syntf evaluate with them"
        )
    with (folder / SCENARIOS).open(encoding="utf-8", newline="") as file:
        sizes = {row["scenario"]: row for row in csv.DictReader(file)}
    chance = read_chance(folder)
    analysts = [
        _compare(
            model,
            [results.utility("original", model)],
            [results.utility("syntf", model, parameters)],
        )
        for model in results.models
    ]
    return EvaluationScores(
        runs=max(result.runs for result in results.by_parameters[parameters]),
        loss_per_word=results.loss(parameters),
        loss_per_document=results.document_loss(parameters),
        analyst=[row for row in analysts if row.after is not None],
        scenarios=[
            ScenarioScores(
                display_name(name),
                int(sizes[name]["authors"]) if name in sizes else 0,
                _compare_attackers(results, parameters, name),
                _f1(topic_floor(results, name)),
                chance.get(("attack", name)),
                _fewest(sizes.get(name)),
            )
            for name in results.scenarios
        ],
        links=_read_linkage(folder / LINKAGE) if len(results.by_parameters) == 1 else [],
        chance=chance.get(("utility", "")),
        about=read_about(folder),
    )


def _fewest(sizes: dict[str, str] | None) -> tuple[int, int] | None:
    return None if sizes is None else (int(sizes["min_train"]), int(sizes["min_test"]))


def _compare_attackers(
    results: Results, parameters: Parameters, scenario: str
) -> list[ScoreChange]:
    """Compare the attackers who see texts, the best on the release first."""
    rows = []
    for attacker in results.attackers:
        if attacker not in FLOORS:
            before, after = (
                [
                    results.attack(method, model, scenario, parameters, attacker=attacker)
                    for model in results.models
                ]
                for method in ("original", "syntf")
            )
            rows.append(_compare(attacker, before, after))
    measured = [row for row in rows if row.after is not None]
    return sorted(measured, key=lambda row: -(row.after or 0))


def _compare(name: str, before: list[Result | None], after: list[Result | None]) -> ScoreChange:
    best = best_result(after)
    spread = None if best is None else best.f1_std
    return ScoreChange(display_name(name), _f1(best_result(before)), _f1(best), spread)


def _f1(result: Result | None) -> float | None:
    return None if result is None else result.f1


def _read_linkage(path: Path) -> list[LinkScore]:
    """Read the linkage attacks; evaluations by early versions have none."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if tuple(rows.fieldnames or ()) not in (LINKAGE_COLUMNS, LINKAGE_COLUMNS_0_1):
            raise SyntfError(f"{path.name} does not have the columns of {LINKAGE}")
        return [
            LinkScore(
                LINKAGE_NAMES[row["task"], row["method"]]
                + ", same topic" * (row["pairs"] != "any"),
                float(row["auc"]),
                float(row["tpr_at_1pct"]) if row["tpr_at_1pct"] else None,
                float(row["first_guess"]) if row.get("first_guess") else None,
                int(row["among"]) if row.get("among") else None,
            )
            for row in rows
        ]
