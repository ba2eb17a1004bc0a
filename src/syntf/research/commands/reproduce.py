"""`syntf reproduce`: repeat the paper's evaluation and compare our numbers with its own."""

from pathlib import Path
from typing import Any

import click

from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import FILE, evaluation_options, option, setting_options
from syntf.core.errors import SyntfError
from syntf.pipeline.settings import Settings
from syntf.research.commands import newsgroups_option

QUICK_RUNS = 2


@click.command("reproduce", cls=ConfiguredCommand)
@newsgroups_option
@option("--out", type=FILE, required=True, metavar="DIR", help="Folder for the results.")
@evaluation_options
@option(
    "--grid",
    multiple=True,
    metavar="full|NAME=VALUES",
    help="Parameters beyond those of the figures: all 810 combinations, or some, such as "
    "--grid epsilon=35,47.5 --grid length=all.",
)
@option(
    "--best",
    type=click.IntRange(1),
    metavar="N",
    help="Run each combination of --grid once, then the N best of each classifier --runs times.",
)
@option("--quick", is_flag=True, help="Fewer parameters, two runs each: minutes.")
@setting_options("vectors")
def command(
    out: Path,
    vectors: Any,
    data_home: Path | None,
    runs: int,
    grid: tuple[str, ...],
    best: int | None,
    quick: bool,
    tagger: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Repeat the paper's evaluation on 20 newsgroups and compare our numbers with the paper's.

    DIR gets results.csv, scenarios.csv, the paper's tables (tables.md) and figures (PNG and SVG).
    Run the same command again to continue an interrupted run; more --grid or --runs add to the
    results. The best combinations are those with the largest smallest gain of the analyst over the
    attacker, the paper's criterion.

    \b
    Examples:
      syntf reproduce --out reproduction --quick
      syntf reproduce --out reproduction --grid full --best 20
    """
    from syntf.cli import evaluation_tables, output
    from syntf.evaluation import bound_figures
    from syntf.evaluation.attack.scenarios import find_scenarios
    from syntf.evaluation.attack.tagging import choose_tagger
    from syntf.evaluation.experiment import folder, newsgroups
    from syntf.evaluation.experiment.evaluator import WORD_ORDER_ATTACKERS, Evaluator
    from syntf.evaluation.experiment.experiment import SCRUBBING_METHODS, Experiment
    from syntf.evaluation.experiment.run_log import resumable
    from syntf.evaluation.experiment.scrubbing import scrubber_version
    from syntf.evaluation.figures import save_figures
    from syntf.research import grid as grids
    from syntf.research import paper_figures
    from syntf.research.grid_search import run_experiment
    from syntf.research.paper import LOSS, OPTIMUM
    from syntf.research.paper_tables import paper_page

    figure_parameters = grids.QUICK if quick else grids.figure_parameters()
    combinations = grids.parse_grid(grid)
    if best is not None and not combinations:
        raise SyntfError("--best needs combinations to choose from: add --grid full")
    scrubber_version()  # raises an error if scrubadub is not installed
    part_of_speech = choose_tagger(tagger)
    with output.progress(quiet) as stages:
        with stages("loading messages", 1) as advance:
            corpus = newsgroups.newsgroups(data_home)
            advance(1)
        scenarios, _ = find_scenarios(corpus)
        experiment = Experiment(
            corpus,
            Evaluator.for_corpus(corpus, scenarios, part_of_speech),
            Settings.from_preset("paper", vectors=vectors, fit_vocabulary=True),
            min(runs, QUICK_RUNS) if quick else runs,
            extra_attackers={OPTIMUM: WORD_ORDER_ATTACKERS},
            stages=stages,
        )
        log = folder.open_run_log(out, experiment.key, force=force)
        with resumable():
            for _ in run_experiment(
                experiment, log, figure_parameters, combinations, best, tuple(SCRUBBING_METHODS)
            ):
                results = folder.write_summary(out, log, scenarios)
    page = paper_page(corpus, scenarios, results, part_of_speech.name)
    (out / "tables.md").write_text(page, encoding="utf-8")
    loss = results.loss(OPTIMUM)
    figures = folder.draw_figures(results, OPTIMUM)
    figures["attackers"] = paper_figures.attackers(results, OPTIMUM)
    figures["bounds"] = bound_figures.loss_bounds(OPTIMUM.epsilon, loss)
    save_figures(out, figures)
    if as_json:
        output.emit(
            {
                "loss_per_word": {"tight": loss},
                "loss_of_the_paper": LOSS,
                "runs": experiment.runs,
                "tagger": part_of_speech.name,
                "results": evaluation_tables.result_records(results),
                "out": str(out),
            }
        )
    elif not quiet:
        output.show(evaluation_tables.comparison_table(results, OPTIMUM))
        if loss is not None:
            output.say(f"loss {loss:.2f} per word at the optimum (the paper: {LOSS})")
        evaluation_tables.print_folder("Tables (tables.md), figures and results.csv", out)
