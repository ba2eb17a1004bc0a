"""`syntf tune`: parameters for a goal, found on texts with labels, and the command to run."""

import shlex
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from syntf.cli import console
from syntf.cli.evaluate import HEADING, choose_tagger, comparison, losses, measure
from syntf.cli.evaluate import rows as results
from syntf.core.errors import Refused, SyntfError
from syntf.core.exact import shown
from syntf.evaluation import bound_figures
from syntf.evaluation.attack.scenarios import scenarios
from syntf.evaluation.experiment import csv_files, folder
from syntf.evaluation.experiment.experiment import Experiment
from syntf.evaluation.experiment.judge import EVERY, Judge
from syntf.evaluation.experiment.labelled import Labelled, labelled
from syntf.evaluation.experiment.newsgroups import newsgroups
from syntf.evaluation.tuning.pareto import pareto
from syntf.evaluation.tuning.search import Candidate, Goal, Scores, finalists, longest, search
from syntf.evaluation.tuning.trials import Trial, Trials
from syntf.inputs import corpus
from syntf.pipeline.settings import Settings

COSTS = (
    "These parameters were chosen by looking at the texts, which tells of them in a way that no "
    "loss covers. Where that matters, tune on public texts like yours: --stand-in."
)
FREE = (
    "Chosen on public texts: the choice tells nothing of yours, which were not read. What it "
    "keeps on yours may differ; syntf evaluate measures it, for your eyes."
)
RUNG_RUNS = 5
"""Runs of a finalist, at most: the confirmation on the test half has all that are asked for."""


def run(
    input: Path,
    out: Path,
    *,
    text: str,
    label: str | None,
    author: str | None,
    target_utility: float | None,
    max_loss: float | None,
    max_loss_per_word: float | None,
    stand_in: str | None,
    data_home: Path | None,
    split: str | None,
    test_share: float,
    min_test: int,
    runs: int,
    tagger: str | None,
    force: bool,
    as_json: bool = False,
    quiet: bool,
    settings: Settings,
) -> None:
    goal = Goal(target_utility, max_loss, max_loss_per_word)
    columns = {"text": text, "label": label, "author": author, "split": split}
    with console.progress(quiet) as stages:
        corpus = _texts(input, stand_in, data_home, columns, test_share)
        trials = Trials(corpus, settings, min_test, stages)
        if trials.judge.unlabelled:
            raise SyntfError(f"there is nothing to tune by: {trials.judge.unlabelled}")
        goal.part(trials.space)  # is there anything to search?
        suspects, lacking = scenarios(corpus, min_test=min_test)
        judge = Judge.of(corpus, suspects, choose_tagger(tagger) if suspects else None)
        trials.log = folder.open_log(out, trials.key, force=force)
        with console.resumable():
            with stages("tuning", longest(trials.space)) as trials.advance:
                scores = search(goal, trials.space, trials.utility)
            confirmed: dict[Candidate, Trial] = {}

            def confirm(candidate: Candidate) -> float:
                confirmed[candidate] = trials.confirm(candidate, min(runs, RUNG_RUNS))
                return confirmed[candidate].utility["nb"]

            with stages("finalists", 5) as trials.advance:
                ends = finalists(goal, scores, confirm)
        best = goal.best(ends)
        rows = list(confirmed.values())
        _write(out / "candidates.csv", scores, confirmed, best)
        figure = pareto(
            scores, trials.tried, rows, best, goal, scenario=trials.scenario, levels=trials.levels
        )
        for suffix in (".png", ".svg"):
            bound_figures.save(figure, out / f"pareto{suffix}")
        if best is not None:
            tuned = settings.changed(**best._asdict())
            experiment = Experiment(corpus, judge, tuned, runs, EVERY, stages=stages)
            found, cell = measure(experiment, out / _name(best), force=force)
    if as_json:
        record: dict[str, Any] = {"note": HEADING, "finalists": _finalists(rows, best)}
        if best is None:
            console.emit({**record, "chosen": None, "out": str(out)})
        else:
            console.emit(
                {
                    **record,
                    "chosen": best._asdict(),
                    **losses(found, cell, tuned),
                    "results": results(found),
                    "command": command(input, text, settings, best),
                    "out": str(out),
                }
            )
    quiet = quiet or as_json
    if not quiet:
        console.out.print(HEADING)
        for notice in [*corpus.notices, *(lacking if suspects else [])]:
            console.out.print(f"[yellow]![/] {escape(notice)}")
        console.show(_table(rows, best))
    if best is None:
        raise Refused(_unreached(goal, ends))
    if not quiet:
        console.out.print("\nThe chosen one on the test half, which nothing was chosen by:")
        console.show(comparison(found, cell))
        console.out.print(f"[yellow]![/] {FREE if stand_in else COSTS}")
        loss = found.loss(cell) or 0.0
        console.out.print(
            f"loss {shown(loss, 4)} a word, {shown(loss * best.length, 2)} a document. To run:\n"
        )
        console.out.print(escape(command(input, text, settings, best)), soft_wrap=True)
        console.out.print(
            f"\nCandidates, figure and results written to {escape(str(out))}", soft_wrap=True
        )


def command(input: Path, text: str, settings: Settings, best: Candidate) -> str:
    """What makes the release with these parameters, for a shell."""
    name = str(input)
    words = ["syntf", "anonymize", f"./{name}" if name.startswith("-") else name, "--text", text]
    words += ["--neighbours", str(best.neighbours), "--loss", f"{best.loss!r}".removesuffix(".0")]
    words += ["--length", str(best.length), "--max-size", str(best.max_size)]
    words += ["--weights", best.weights]
    for name in ("spelling", "morphology", "analyzer", "vocabulary", "vectors"):
        value = getattr(settings, name)
        if value != getattr(Settings, name):
            words += [f"--{name}", str(value)]
    words += ["--synsets"] * settings.synsets + ["--keep-numbers"] * settings.numbers
    return shlex.join([*words, "--out", "release"])


def _texts(
    input: Path,
    stand_in: str | None,
    data_home: Path | None,
    columns: dict[str, str | None],
    test_share: float,
) -> Labelled:
    """The texts to tune on: the person's own, or public ones in their place."""
    if stand_in == "newsgroups":
        return newsgroups(data_home)
    if stand_in == "example":
        columns = {"text": "text", "label": "topic", "author": "author", "split": None}
        with as_file(files("syntf").joinpath("data", "example.csv")) as path:
            frame = corpus.read(path)
    elif columns["label"] is None:
        raise SyntfError("name a column with --label: what an analyst wants to tell of texts")
    else:
        frame = corpus.read(input if stand_in is None else Path(stand_in))
    return labelled(frame, **columns, test_share=test_share)  # type: ignore[arg-type]


def _name(best: Candidate) -> str:
    """A folder for each choice: another goal does not disturb the results of the first."""
    return f"confirmed-{best.loss:g}x{best.length}-{best.neighbours}-{best.max_size}-{best.weights}"


def _unreached(goal: Goal, ends: Scores) -> str:
    """Why nothing was chosen, and what could be."""
    top = max(filter(goal.allows, ends), key=ends.__getitem__)
    limited = goal.max_loss is not None or goal.max_loss_per_word is not None
    return (
        f"keeping {goal.utility:.1%} is out of reach here: the best found keeps {ends[top]:.1%}, "
        f"at a loss of {top.document_loss:,g} a document; lower --target-utility"
        + " or raise the loss allowed"
        * limited
    )


def _table(rows: Sequence[Trial], best: Candidate | None) -> Table:
    """The finalists, by their loss."""
    table = Table(box=None, padding=(0, 1, 0, 0))
    names = ("", "loss", "a word", "length", "k", "outputs", "weights", "kept nb", "svm", "attack")
    for name in names:
        table.add_column(name, justify="left" if name in ("", "weights") else "right")
    for trial in sorted(rows, key=lambda trial: trial.candidate.document_loss):
        one = trial.candidate
        table.add_row(
            "→" if one == best else "", f"{one.document_loss:,.1f}", f"{one.loss:g}",
            str(one.length), str(one.neighbours), f"{one.max_size:,}", one.weights,
            f"{trial.utility['nb']:.1%}", f"{trial.utility['svm']:.1%}",
            "–" if trial.attack is None else f"{trial.attack:.2f}",
            style="bold" if one == best else "",
        )  # fmt: skip
    return table


def _finalists(rows: Sequence[Trial], best: Candidate | None) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            **trial.candidate._asdict(),
            "loss_per_document": trial.candidate.document_loss,
            "kept": trial.utility,
            "attack": trial.attack,
            "chosen": trial.candidate == best,
        }
        for trial in sorted(rows, key=lambda trial: trial.candidate.document_loss)
    ]


def _write(
    path: Path, scores: Scores, confirmed: dict[Candidate, Trial], best: Candidate | None
) -> None:
    """``candidates.csv``: all that reached the last rung, and what more runs made of finalists."""
    names = ("loss_per_document", "kept", "kept_nb", "kept_svm", "attack", "chosen")
    lines = []
    for one in sorted(scores, key=lambda one: (one.document_loss, -scores[one])):
        trial = confirmed.get(one)
        more = [trial.utility["nb"], trial.utility["svm"], trial.attack] if trial else [""] * 3
        lines.append([*one, one.document_loss, scores[one], *more, one == best])
    csv_files.write(path, [*Candidate._fields, *names], lines)
