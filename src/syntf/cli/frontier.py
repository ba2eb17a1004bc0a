"""`syntf frontier`: utility against loss, ours, the paper's and the peers', on 20 newsgroups."""

from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from syntf.cli import console
from syntf.cli.evaluate import choose_tagger, measure
from syntf.evaluation import bound_figures
from syntf.evaluation.attack import linkage
from syntf.evaluation.attack.scenarios import scenarios
from syntf.evaluation.experiment import folder
from syntf.evaluation.experiment.experiment import Experiment
from syntf.evaluation.experiment.judge import EVERY, Judge
from syntf.evaluation.experiment.newsgroups import newsgroups
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.prepare import reading
from syntf.pipeline.settings import Settings
from syntf.research import frontier_plots, frontier_tables
from syntf.research.curves import QUICK, Grid, curves
from syntf.research.frontier import Frontier, Point, points

QUICK_RUNS = 2


def run(
    out: Path,
    *,
    data_home: Path | None,
    runs: int,
    quick: bool,
    tagger: str | None,
    force: bool,
    as_json: bool = False,
    quiet: bool,
    default: Settings,
    accurate: Settings,
    paper: Settings,
) -> None:
    runs = min(runs, QUICK_RUNS) if quick else runs
    tags = choose_tagger(tagger)
    with console.progress(quiet) as stages:
        with stages("loading messages", 1) as advance:
            corpus = newsgroups(data_home)
            advance(1)
        outputs = len(reading(accurate, corpus.seen, stages=stages)[2].outputs)
        drawn = curves(default, accurate, paper, outputs, QUICK if quick else Grid())
        frontier = Frontier(corpus, drawn, runs, stages)
        log = folder.open_log(out, frontier.key, force=force)
        with console.resumable():
            for _ in frontier.run(log):
                frontier_tables.write_points(out / "frontier.csv", points(log))
        suspects, _ = scenarios(corpus)
        judge = Judge.of(corpus, suspects, tags)
        attacked = {"paper": paper, "accurate": accurate, "default": default}
        measured = {
            name: measure(
                Experiment(corpus, judge, settings, runs, EVERY, stages=stages),
                out / name,
                force=force,
            )
            for name, settings in attacked.items()
        }
        for name, settings in attacked.items():
            anonymizer = Anonymizer.build(settings, corpus.seen, stages=stages)
            linked = list(linkage.measure(corpus, anonymizer, stages=stages))
            folder.write_linkage(out / name, linked)
    found, attacks = points(log), frontier_tables.attacks(measured)
    frontier_tables.write_points(out / "frontier.csv", found)
    frontier_tables.write_attacks(out / "attacks.csv", attacks)
    text = frontier_tables.markdown(found, attacks)
    (out / "frontier.md").write_text(text, encoding="utf-8")
    for name, figure in (
        ("per-word", frontier_plots.per_word(found)),
        ("per-document", frontier_plots.per_document(found)),
    ):
        for suffix in (".png", ".svg"):
            bound_figures.save(figure, out / f"{name}{suffix}")
    if as_json:
        console.emit({"runs": runs, **_record(found, attacks), "out": str(out)})
    elif not quiet:
        console.show(comparison(found))
        console.out.print(
            f"Tables (frontier.md), figures, frontier.csv and attacks.csv written to "
            f"{escape(str(out))}",
            soft_wrap=True,
        )


def _record(found: list[Point], attacks: list[frontier_tables.Attack]) -> dict[str, Any]:
    """The lines of ``frontier.csv`` and ``attacks.csv``; no bound at all is null."""
    return {
        "points": [
            {name: None if value == inf else value for name, value in asdict(one).items()}
            for one in found
        ],
        "attacks": [{**asdict(one), "excess": one.excess} for one in attacks],
    }


def comparison(found: list[Point]) -> Table:
    """The least losses measured at which each mechanism serves the analyst as well as the paper."""
    head, *lines = frontier_tables.least_losses(found)
    table = Table(box=None, padding=(0, 1, 0, 0))
    for place, column in enumerate(head):
        table.add_column(column, justify="right" if place else "left")
    for line in lines:
        table.add_row(*line)
    return table
