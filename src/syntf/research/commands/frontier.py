"""`syntf frontier`: utility against loss on 20 newsgroups, for the presets and other systems."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import FILE, evaluation_options, option
from syntf.research.commands import newsgroups_option

if TYPE_CHECKING:
    from syntf.pipeline.settings import Settings

QUICK_RUNS = 2


@click.command("frontier", cls=ConfiguredCommand)
@newsgroups_option
@option("--out", type=FILE, required=True, metavar="DIR", help="Folder for the results.")
@evaluation_options
@option("--quick", is_flag=True, help="Fewer points, two runs each.")
def command(out: Path, **options: Any) -> None:
    """Measure utility against loss on 20 newsgroups: the presets and other systems' mechanisms.

    Losses per document go from 4 to 4,000: whole documents with the embedded codebook and with one
    from texts near in topic, the presets words, accurate and paper, and other mechanisms.

    DIR gets frontier.csv, attacks.csv, their tables (frontier.md) and figures (PNG and SVG). Run
    the same command again to continue an interrupted run.

    \b
    Example:
      syntf frontier --out frontier --quick
    """
    from syntf.pipeline.settings import Settings

    settings = {
        "paper": Settings.from_preset("paper", fit_vocabulary=True),
        "accurate": Settings.from_preset("accurate"),
        "default": Settings.from_preset("words"),
        "document": Settings.from_preset("document"),
    }
    run(out, settings, **options)


def run(
    out: Path,
    settings: "dict[str, Settings]",
    *,
    data_home: Path | None,
    runs: int,
    quick: bool,
    tagger: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure the curves, attack a release of each preset, and write tables and figures."""
    from dataclasses import asdict
    from math import inf

    from rich.table import Table

    from syntf.cli import evaluation_tables, output
    from syntf.evaluation.attack.document_linkage import attack_document_release
    from syntf.evaluation.attack.linkage import attack_release
    from syntf.evaluation.attack.scenarios import find_scenarios
    from syntf.evaluation.attack.tagging import choose_tagger
    from syntf.evaluation.experiment import folder, newsgroups
    from syntf.evaluation.experiment.evaluator import (
        ALL_ATTACKERS,
        DOCUMENT_ATTACKERS,
        Evaluator,
    )
    from syntf.evaluation.experiment.experiment import Experiment
    from syntf.evaluation.experiment.run_log import resumable
    from syntf.evaluation.figures import save_figures
    from syntf.pipeline.anonymizer import Anonymizer
    from syntf.pipeline.document import DocumentAnonymizer
    from syntf.pipeline.prepare import load_words
    from syntf.research import curves, frontier_figures, frontier_tables
    from syntf.research.document_curves import DOCUMENT_CURVES, QUICK_DOCUMENT_CURVES
    from syntf.research.frontier import Frontier, mean_points

    runs = min(runs, QUICK_RUNS) if quick else runs
    part_of_speech = choose_tagger(tagger)
    with output.progress(quiet) as stages:
        with stages("loading messages", 1) as advance:
            corpus = newsgroups.newsgroups(data_home)
            advance(1)
        train = corpus.training_texts
        outputs = len(load_words(settings["accurate"], train, stages=stages)[2].outputs)
        grid = curves.QUICK if quick else curves.CurveGrid()
        words = {name: one for name, one in settings.items() if one.unit == "words"}
        documents = QUICK_DOCUMENT_CURVES if quick else DOCUMENT_CURVES
        frontier = Frontier(
            corpus, curves.all_curves(**words, outputs=outputs, grid=grid), runs, stages, documents
        )
        log = folder.open_run_log(out, frontier.key, force=force)
        with resumable():
            for _ in frontier.run(log):
                frontier_tables.write_points(out / "frontier.csv", mean_points(log))
        evaluator = Evaluator.for_corpus(corpus, find_scenarios(corpus)[0], part_of_speech)
        measured = {}
        for name, preset in settings.items():
            whole = preset.unit == "document"
            attackers = DOCUMENT_ATTACKERS if whole else ALL_ATTACKERS
            experiment = Experiment(corpus, evaluator, preset, runs, attackers, stages=stages)
            measured[name] = folder.evaluate_settings(experiment, out / name, force=force)
            linkage = (
                attack_document_release(corpus, DocumentAnonymizer.build(preset), stages=stages)
                if whole
                else attack_release(
                    corpus, Anonymizer.build(preset, train, stages=stages), stages=stages
                )
            )
            folder.write_linkage(out / name, list(linkage))
    points, attacks = mean_points(log), frontier_tables.strongest_attacks(measured)
    frontier_tables.write_points(out / "frontier.csv", points)
    frontier_tables.write_attacks(out / "attacks.csv", attacks)
    page = frontier_tables.frontier_page(points, attacks)
    (out / "frontier.md").write_text(page, encoding="utf-8")
    figures = {
        "per-word": frontier_figures.per_word(points),
        "per-document": frontier_figures.per_document(points),
    }
    save_figures(out, figures)
    if as_json:
        output.emit(
            {
                "runs": runs,
                "points": [
                    {name: None if value == inf else value for name, value in asdict(one).items()}
                    for one in points
                ],
                "attacks": [{**asdict(one), "excess": one.excess} for one in attacks],
                "out": str(out),
            }
        )
    elif not quiet:
        header, *rows = frontier_tables.smallest_losses(points)
        table = Table(box=None, padding=(0, 1, 0, 0))
        for place, column in enumerate(header):
            table.add_column(column, justify="right" if place else "left")
        for row in rows:
            table.add_row(*row)
        output.show(table)
        evaluation_tables.print_folder(
            "Tables (frontier.md), figures, frontier.csv and attacks.csv", out
        )
