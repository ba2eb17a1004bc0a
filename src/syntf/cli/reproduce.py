"""`syntf reproduce`: the paper's evaluation, our numbers beside its own."""

from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape

from syntf.cli import console
from syntf.cli.evaluate import choose_tagger, comparison, rows
from syntf.evaluation import bound_figures
from syntf.evaluation.attack.scenarios import scenarios
from syntf.evaluation.experiment import folder, scrubbing
from syntf.evaluation.experiment.experiment import SCRUBBING, Experiment
from syntf.evaluation.experiment.judge import IN_ORDERS, Judge
from syntf.evaluation.experiment.newsgroups import newsgroups
from syntf.evaluation.experiment.paper import LOSS, OPTIMUM
from syntf.pipeline.settings import Settings
from syntf.research import grid, reproduction

QUICK_RUNS = 2


def run(
    out: Path,
    *,
    data_home: Path | None,
    runs: int,
    grid_options: Sequence[str],
    quick: bool,
    tagger: str | None,
    force: bool,
    as_json: bool = False,
    quiet: bool,
    settings: Settings,
) -> None:
    cells = [*(reproduction.QUICK if quick else grid.curves()), *grid.parse(grid_options)]
    scrubbing.version()  # is it there?
    tags = choose_tagger(tagger)
    with console.progress(quiet) as stages:
        with stages("loading messages", 1) as advance:
            corpus = newsgroups(data_home)
            advance(1)
        suspects, _ = scenarios(corpus)
        experiment = Experiment(
            corpus,
            Judge.of(corpus, suspects, tags),
            settings,
            min(runs, QUICK_RUNS) if quick else runs,
            more_attackers={OPTIMUM: IN_ORDERS},
            stages=stages,
        )
        log = folder.open_log(out, experiment.key, force=force)
        with console.resumable():
            for _ in experiment.run(log, cells, tuple(SCRUBBING)):
                found = folder.write_results(out, log, suspects)
    text = reproduction.markdown(corpus, suspects, found, tags.name)
    (out / "tables.md").write_text(text, encoding="utf-8")
    loss = found.loss(OPTIMUM)
    bounds = {"bounds": bound_figures.loss_bounds(OPTIMUM.epsilon, loss)}
    folder.draw(out, found, OPTIMUM, bounds)
    if as_json:
        console.emit(
            {
                "loss_per_word": {"tight": loss},
                "loss_of_the_paper": LOSS,
                "runs": experiment.runs,
                "tagger": tags.name,
                "results": rows(found),
                "out": str(out),
            }
        )
    elif not quiet:
        console.show(comparison(found, OPTIMUM))
        if loss is not None:
            console.out.print(f"loss {loss:.2f} a word (the paper: {LOSS}) at its optimum")
        console.out.print(
            f"Tables (tables.md), figures and results.csv written to {escape(str(out))}",
            soft_wrap=True,
        )
