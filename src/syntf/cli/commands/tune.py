"""`syntf tune`: find parameters for a goal on texts with labels, and print the command to run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import (
    FILE,
    corpus_options,
    evaluation_options,
    option,
    setting_options,
    settings_from,
)

if TYPE_CHECKING:
    from rich.table import Table

    from syntf.evaluation.experiment.corpus import LabelledCorpus
    from syntf.evaluation.tuning.search import Candidate, Goal, KeptUtility
    from syntf.evaluation.tuning.trials import Finalist
    from syntf.pipeline.settings import Settings

CHOSEN_ON_THESE_TEXTS = (
    "These parameters were chosen by looking at the texts. What the choice reveals about them is "
    "not part of any loss. If this matters, tune on similar public texts: --stand-in."
)
CHOSEN_ON_PUBLIC_TEXTS = (
    "Chosen on public texts: your texts were not read, and the choice reveals nothing about them. "
    "The utility on your texts may differ; measure it with syntf evaluate, for your eyes only."
)
MAX_FINALIST_RUNS = 5
"""The test texts, on which the choice is confirmed, get all runs that were asked for."""

CORPUS_OPTIONS = ("text", "label", "author", "split", "test_share")
OWN_OPTIONS = ("target_utility", "max_loss", "max_loss_per_word", "stand_in", "data_home",
               "min_test", "runs", "tagger", "force", "as_json", "quiet")  # fmt: skip


@click.command("tune", cls=ConfiguredCommand)
@click.argument("input", type=FILE, metavar="FILE")
@corpus_options
@option(
    "--target-utility",
    type=float,
    metavar="SHARE",
    help="Share of the analyst's F1 on the texts to keep, such as 0.87, with the smallest loss "
    "per document.",
)
@option(
    "--max-loss",
    type=float,
    metavar="LOSS",
    help="Largest loss per document: loss per word times length, which the guarantee promises. "
    "Without --target-utility: keep as much utility as this allows.",
)
@option(
    "--max-loss-per-word",
    type=float,
    metavar="LOSS",
    help="Largest loss per word. Alone it does not limit the loss per document: long documents "
    "will be chosen.",
)
@option(
    "--stand-in",
    metavar="example|newsgroups|FILE",
    help="Public texts to tune on instead; a file must have the same columns. The texts in FILE "
    "are then not read.",
)
@option(
    "--data-home",
    type=FILE,
    metavar="DIR",
    help="For newsgroups: scikit-learn's data home; they are downloaded there if missing.",
)
@option("--out", type=FILE, required=True, metavar="DIR", help="Folder for the results.")
@evaluation_options
@setting_options(
    "spelling", "morphology", "analyzer", "vocabulary", "synsets", "vectors", "numbers"
)
def command(input: Path, out: Path, **options: Any) -> None:
    """Find parameters for the texts in FILE: the smallest loss for a utility, or the reverse.

    Tries neighbours, loss per word, length, vocabulary size and weights on the training texts,
    confirms the choice on the test texts, and prints the command to run. DIR gets candidates.csv
    and a figure of loss against utility (pareto.png, .svg). Run the same command again to continue
    an interrupted search; another goal in the same DIR reuses earlier measurements.

    The choice depends on the texts, and no loss covers this. If it matters, tune on similar public
    texts: --stand-in.

    \b
    Examples:
      syntf tune mails.csv --label topic --target-utility 0.87 --out tuned
      syntf tune mails.csv --stand-in newsgroups --max-loss 800 --out tuned
    """
    own = {name: options.pop(name) for name in (*CORPUS_OPTIONS, *OWN_OPTIONS)}
    columns = {name: own.pop(name) for name in CORPUS_OPTIONS}
    run(input, out, columns, settings=settings_from(options), **own)


def run(
    input: Path,
    out: Path,
    columns: dict[str, Any],
    *,
    target_utility: float | None,
    max_loss: float | None,
    max_loss_per_word: float | None,
    stand_in: str | None,
    data_home: Path | None,
    min_test: int,
    runs: int,
    tagger: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    settings: "Settings",
) -> None:
    """Search, confirm and print; `columns` are the arguments of `corpus_from_table`."""
    from syntf.cli import evaluation_tables, output
    from syntf.core.errors import Refused, SyntfError
    from syntf.core.exact import shown
    from syntf.evaluation.attack.scenarios import find_scenarios
    from syntf.evaluation.attack.tagging import choose_tagger
    from syntf.evaluation.experiment import folder
    from syntf.evaluation.experiment.evaluator import ALL_ATTACKERS, Evaluator
    from syntf.evaluation.experiment.experiment import Experiment
    from syntf.evaluation.experiment.run_log import resumable
    from syntf.evaluation.figures import save_figures
    from syntf.evaluation.tuning.pareto import pareto_figure
    from syntf.evaluation.tuning.search import (
        Candidate,
        Goal,
        confirm_finalists,
        max_measurements,
        search,
    )
    from syntf.evaluation.tuning.trials import Finalist, Trials

    goal = Goal(target_utility, max_loss, max_loss_per_word)
    with output.progress(quiet) as stages:
        corpus = read_corpus(input, stand_in, data_home, columns)
        trials = Trials(corpus, settings, min_test, stages)
        if trials.evaluator.why_no_labels:
            raise SyntfError(f"there is nothing to tune by: {trials.evaluator.why_no_labels}")
        goal.restrict(trials.space)  # raises an error if nothing is left to search
        scenarios, notices = find_scenarios(corpus, min_test=min_test)
        evaluator = Evaluator.for_corpus(
            corpus, scenarios, choose_tagger(tagger) if scenarios else None
        )
        trials.log = folder.open_run_log(out, trials.key, force=force)
        with resumable():
            with stages("tuning", max_measurements(trials.space)) as trials.advance:
                kept = search(goal, trials.space, trials.measure)
            finalists: dict[Candidate, Finalist] = {}

            def confirm(candidate: Candidate) -> float:
                finalists[candidate] = trials.confirm(candidate, min(runs, MAX_FINALIST_RUNS))
                return finalists[candidate].kept["nb"]

            with stages("finalists", 5) as trials.advance:
                confirmed = confirm_finalists(goal, kept, confirm)
        best = goal.best(confirmed)
        ranked = sorted(finalists.values(), key=lambda one: one.candidate.document_loss)
        write_candidates(out / "candidates.csv", kept, finalists, best)
        figure = pareto_figure(
            kept, trials.second_last_scores, list(finalists.values()), best, goal,
            scenario=trials.scenario, references=trials.reference_attacks,
        )  # fmt: skip
        save_figures(out, {"pareto": figure})
        if best is not None:
            tuned = settings.changed(**best._asdict())
            experiment = Experiment(corpus, evaluator, tuned, runs, ALL_ATTACKERS, stages=stages)
            results, parameters = folder.evaluate_settings(
                experiment, out / folder_name(best), force=force
            )
    if as_json:
        record: dict[str, Any] = {
            "note": evaluation_tables.HEADING,
            "finalists": [_finalist_record(one, best) for one in ranked],
            "chosen": None,
        }
        if best is not None:
            record |= {
                "chosen": best._asdict(),
                **evaluation_tables.loss_record(results, parameters, tuned),
                "results": evaluation_tables.result_records(results),
                "command": anonymize_command(input, columns["text"], settings, best),
            }
        output.emit({**record, "out": str(out)})
    quiet = quiet or as_json
    if not quiet:
        evaluation_tables.print_heading([*corpus.notices, *(notices if scenarios else [])])
        output.show(finalists_table(ranked, best))
    if best is None:
        raise Refused(explain_failure(goal, confirmed))
    if not quiet:
        output.say("\nThe chosen parameters on the test texts, which were not used before:")
        output.show(evaluation_tables.comparison_table(results, parameters))
        output.say(f"[yellow]![/] {CHOSEN_ON_PUBLIC_TEXTS if stand_in else CHOSEN_ON_THESE_TEXTS}")
        loss = results.loss(parameters) or 0.0
        output.say(
            f"loss {shown(loss, 4)} per word, {shown(loss * best.length, 2)} per document. "
            "To run:\n"
        )
        line = anonymize_command(input, columns["text"], settings, best)
        output.say(output.escape(line), wrap=False)
        evaluation_tables.print_folder("\nCandidates, figure and results", out)


def anonymize_command(input: Path, text: str, settings: "Settings", best: "Candidate") -> str:
    """Return the shell command that makes a release with these parameters."""
    import shlex

    from syntf.pipeline.settings import Settings

    path = str(input)
    words = ["syntf", "anonymize", f"./{path}" if path.startswith("-") else path, "--text", text]
    words += ["--neighbours", str(best.neighbours), "--loss", f"{best.loss!r}".removesuffix(".0")]
    words += ["--length", str(best.length), "--max-size", str(best.max_size)]
    words += ["--weights", best.weights]
    for name in ("spelling", "morphology", "analyzer", "vocabulary", "vectors"):
        value = getattr(settings, name)
        if value != getattr(Settings, name):
            words += [f"--{name}", str(value)]
    words += ["--synsets"] * settings.synsets + ["--keep-numbers"] * settings.numbers
    return shlex.join([*words, "--out", "release"])


def read_corpus(
    input: Path, stand_in: str | None, data_home: Path | None, columns: dict[str, Any]
) -> "LabelledCorpus":
    """Read the texts to tune on: those of the input, or public texts in their place."""
    from importlib.resources import as_file, files

    from syntf.core.errors import SyntfError
    from syntf.evaluation.experiment import newsgroups
    from syntf.evaluation.experiment.corpus import corpus_from_table
    from syntf.inputs import corpus as inputs

    if stand_in == "newsgroups":
        return newsgroups.newsgroups(data_home)
    if stand_in == "example":
        own = {"text": "text", "label": "topic", "author": "author", "split": None}
        columns = {**columns, **own}
        with as_file(files("syntf").joinpath("data", "example.csv")) as path:
            table = inputs.read(path)
    elif columns["label"] is None:
        raise SyntfError("name the column to predict, such as the topic, with --label")
    else:
        table = inputs.read(input if stand_in is None else Path(stand_in))
    return corpus_from_table(table, **columns)


def folder_name(best: "Candidate") -> str:
    """Return a folder name for each choice, so that another goal keeps the results of the first."""
    return f"confirmed-{best.loss:g}x{best.length}-{best.neighbours}-{best.max_size}-{best.weights}"


def explain_failure(goal: "Goal", confirmed: "KeptUtility") -> str:
    """Explain that the goal was not reached, and what could be."""
    best = max(filter(goal.allows, confirmed), key=confirmed.__getitem__)
    limited = goal.max_loss is not None or goal.max_loss_per_word is not None
    return (
        f"keeping {goal.utility:.1%} of the utility is out of reach: the best parameters keep "
        f"{confirmed[best]:.1%} at a loss of {best.document_loss:,g} per document; lower "
        f"--target-utility{' or raise the largest loss' * limited}"
    )


def finalists_table(finalists: Sequence["Finalist"], best: "Candidate | None") -> "Table":
    """Return the finalists as a table; an arrow marks the chosen one."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0))
    names = ("", "loss", "per word", "length", "k", "outputs", "weights", "kept nb", "svm")
    for name in (*names, "attack"):
        table.add_column(name, justify="left" if name in ("", "weights") else "right")
    for finalist in finalists:
        one = finalist.candidate
        table.add_row(
            "→" if one == best else "", f"{one.document_loss:,.1f}", f"{one.loss:g}",
            str(one.length), str(one.neighbours), f"{one.max_size:,}", one.weights,
            f"{finalist.kept['nb']:.1%}", f"{finalist.kept['svm']:.1%}",
            "–" if finalist.attack is None else f"{finalist.attack:.2f}",
            style="bold" if one == best else "",
        )  # fmt: skip
    return table


def _finalist_record(finalist: "Finalist", best: "Candidate | None") -> dict[str, Any]:
    return {
        **finalist.candidate._asdict(),
        "loss_per_document": finalist.candidate.document_loss,
        "kept": finalist.kept,
        "attack": finalist.attack,
        "chosen": finalist.candidate == best,
    }


def write_candidates(
    path: Path,
    kept: "KeptUtility",
    finalists: "dict[Candidate, Finalist]",
    best: "Candidate | None",
) -> None:
    """Write ``candidates.csv``: all candidates of last rounds, and scores of finalists."""
    from syntf.evaluation.experiment.csv_files import write_table
    from syntf.evaluation.tuning.search import Candidate

    rows = []
    for one in sorted(kept, key=lambda one: (one.document_loss, -kept[one])):
        final = finalists.get(one)
        scores = [final.kept["nb"], final.kept["svm"], final.attack] if final else [""] * 3
        rows.append([*one, one.document_loss, kept[one], *scores, one == best])
    columns = ("loss_per_document", "kept", "kept_nb", "kept_svm", "attack", "chosen")
    write_table(path, [*Candidate._fields, *columns], rows)
