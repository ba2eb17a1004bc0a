"""Repeat the paper's evaluation: ``python -m paper --help``."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import numpy as np
import polars as pl
from rich.console import Console
from rich.progress import Progress

from paper.corpus import from_table, newsgroups
from paper.evaluator import Evaluator
from paper.experiment import Experiment
from paper.figures import save_figures
from paper.page import page, summary
from paper.published import BEST, FIGURES, GRID, OPTIMUM, QUICK, QUICK_RUNS, RUNS, combinations
from paper.results import display_name
from paper.scenarios import COLUMNS
from paper.scrubbing import scrubber_version
from paper.tagging import PatternTagger, SpacyTagger, default_tagger
from syntf import SynTF
from syntf.core.errors import SyntfError
from syntf.core.progress import Advance, shown_by
from syntf.evaluate.analysts import chance
from syntf.inputs.corpus import Corpus as Inputs
from syntf.words.wordnet import find_wordnet

FOLDER = click.Path(path_type=Path, file_okay=False)
tagger_option = click.option(
    "--tagger",
    metavar="MODEL",
    help="Part-of-speech tagger: the name of an installed spaCy pipeline, or pattern. By default "
    "spaCy's small English pipeline, or pattern if it is not installed.",
)


@click.group(invoke_without_command=True)
@click.option("--data-home", type=FOLDER, help="scikit-learn's data home with 20 newsgroups.")
@click.option("--out", type=FOLDER, help="Folder for the results.")
@click.option("--quick", is_flag=True, help="Few combinations, two runs each: minutes.")
@tagger_option
@click.pass_context
def main(
    context: click.Context,
    data_home: Path | None,
    out: Path | None,
    quick: bool,
    tagger: str | None,
) -> None:
    """Repeat the evaluation of the paper (SIGIR 2018) on 20 newsgroups.

    OUT gets results.csv, scenarios.csv, a page (results.md) and figures. All 810 combinations of
    the paper's grid are run once, and the 20 best of each classifier ten times, which takes hours.
    Run the same command again to continue an interrupted run. scikit-learn downloads the messages
    if they are missing.
    """
    if context.invoked_subcommand:
        return
    if out is None:
        raise click.UsageError("name a folder for the results with --out")
    scrubber = scrubber_version()  # raises an error if scrubadub is not installed
    if not quick:
        find_wordnet()  # raises an error if WordNet is not installed
    with _progress():
        corpus = newsgroups(data_home)
        experiment = Experiment(corpus, _tagger(tagger), out / "runs.jsonl")
        scenarios = experiment.evaluator.scenarios
        rows = [one.row for one in scenarios]
        pl.DataFrame(rows, schema=COLUMNS, orient="row").write_csv(out / "scenarios.csv")
        experiment.run_texts()
        if quick:
            runs = experiment.run_releases(QUICK, QUICK_RUNS)
        else:
            runs = experiment.run_grid(FIGURES, combinations(**GRID), BEST, RUNS)
        for _ in runs:
            found = pl.DataFrame(map(vars, experiment.results()), infer_schema_length=None)
            found.write_csv(out / "results.csv")
    results = experiment.results()
    save_figures(results, out / "results")
    text = page(corpus, scenarios, results, tagger=experiment.tagger_name, scrubber=scrubber)
    (out / "results.md").write_text(text, encoding="utf-8")
    click.echo(summary(results))
    click.echo(f"Loss per word at the optimum: {results.loss(OPTIMUM):.2f} (the paper: 25.4).")
    click.echo(f"The page, the figures and results.csv are in {out}.")


@main.command()
@click.argument("file")
@click.option("--text", required=True, help="Column with the texts.")
@click.option("--author", required=True, help="Column with the authors.")
@click.option("--label", help="Column with labels, for scenarios of authors with several labels.")
@click.option("--preset", help="Also attack a release with this preset, such as document or words.")
@tagger_option
def attack(
    file: str, text: str, author: str, label: str | None, preset: str | None, tagger: str | None
) -> None:
    """Attack the texts of FILE: how well are their authors recognised?

    Two attackers look for the authors among the 5 and the 10 with the most texts: one by
    WritePrints (Limited), one by tf-idf of words. They learn from three fifths of the texts of each
    author and are tested on the others. Their F1 is printed, with naive Bayes and with a linear
    SVM, beside that of a guess.
    """
    inputs = Inputs(file, text, [author, *([label] if label else [])])
    corpus = from_table(pl.concat(inputs.batches()), text, author, label)
    evaluator = Evaluator.of(corpus, _tagger(tagger))
    if not evaluator.scenarios:
        raise SyntfError(
            f"{file} has fewer than two authors with five test texts: give a file with at least "
            "13 texts each by two authors"
        )
    names = ("writeprints", "words")
    with _progress():
        scores = {"texts": list(evaluator.attack_texts(corpus.texts, names))}
        if preset is not None:
            synthetic = SynTF(preset=preset)
            counts = synthetic.fit_transform(corpus.texts)
            terms = synthetic.get_feature_names_out().tolist()
            scores[f"release, {preset}"] = list(evaluator.attack_counts(counts, terms, names))
    for one in evaluator.scenarios:
        number = np.unique(corpus.authors, return_inverse=True)[1]
        by_chance = chance(number[one.train], number[one.test])
        click.echo(
            f"{display_name(one.name)}: {len(one.authors)} authors, {len(one.train)} texts to "
            f"learn from, {len(one.test)} tested. F1 of a guess: {by_chance:.3f}"
        )
        for data, found in scores.items():
            for score in found:
                if score["scenario"] == one.name:
                    attacker = display_name(score["attacker"]).partition(",")[0]
                    name = f"{data}: {attacker}, {display_name(score['model'])}"
                    click.echo(f"  {name}: F1 {score['f1']:.3f}")


def _tagger(name: str | None) -> SpacyTagger | PatternTagger:
    if name is None:
        return default_tagger()
    return PatternTagger() if name == "pattern" else SpacyTagger(name)


@contextmanager
def _progress() -> Iterator[None]:
    """Show the stages of the work on standard error, if it is a terminal."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:

        @contextmanager
        def listener(name: str, total: int) -> Iterator[Advance]:
            task = progress.add_task(name, total=total)
            yield lambda steps: progress.advance(task, steps)
            progress.remove_task(task)

        with shown_by(listener):
            yield


if __name__ == "__main__":
    try:
        main(prog_name="python -m paper")
    except SyntfError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
