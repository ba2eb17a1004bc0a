"""`syntf tune`: find parameters for a goal on texts with labels, and print the command to run."""

import shlex
from pathlib import Path
from typing import Any

import click

from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import (
    FILE,
    accept_coverage,
    corpus_columns,
    corpus_options,
    evaluation_options,
    option,
    reader_from,
    reader_options,
    reader_words,
    setting_options,
    settings_from,
    single_columns,
)
from syntf.pipeline.settings import DEFAULT_PRESET, Settings

DEFAULT_UNIT = "document" if DEFAULT_PRESET == "document" else "words"
CHOSEN_ON_THESE_TEXTS = (
    "These parameters were chosen by looking at the texts. What the choice reveals about them is "
    "not part of any loss. If this matters, tune on similar public texts: --stand-in."
)
CHOSEN_ON_PUBLIC_TEXTS = (
    "Chosen on public texts: your texts were not read, and the choice reveals nothing about them. "
    "The utility on your texts may differ; measure it with syntf evaluate, for your eyes only."
)


@click.command("tune", cls=ConfiguredCommand)
@click.argument("input", type=click.Path(), metavar="FILE")
@corpus_options
@option(
    "--unit",
    type=click.Choice(["document", "words"]),
    default=DEFAULT_UNIT,
    show_default=True,
    help="What the loss is spent on. 'document' finds the loss of a whole document; 'words' finds "
    "the settings of the preset words, whose loss per document is much larger.",
)
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
    help="Largest loss per document, which the guarantee promises. Without --target-utility: keep "
    "as much utility as this allows.",
)
@option(
    "--max-loss-per-word",
    type=float,
    metavar="LOSS",
    help="For --unit words: largest loss per word. Alone it does not limit the loss per document: "
    "long documents will be chosen.",
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
@setting_options("codebook", "encoder", "pilot")
@setting_options(
    "spelling", "language", "morphology", "analyzer", "vocabulary", "synsets", "vectors", "numbers"
)
@reader_options
@accept_coverage
def command(
    input: str,
    out: Path,
    unit: str,
    target_utility: float | None,
    max_loss: float | None,
    max_loss_per_word: float | None,
    stand_in: str | None,
    data_home: Path | None,
    accept_coverage: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Find parameters for the texts in FILE: the smallest loss for a utility, or the reverse.

    Tries losses per document on the training texts, or with --unit words neighbours, loss per
    word, length, vocabulary size and weights. Confirms the choice on the test texts, and prints the
    command to run. DIR gets candidates.csv and a figure of loss against utility (pareto.png, .svg).
    Run the same command again to continue an interrupted search; another goal in the same DIR
    reuses earlier measurements.

    The choice depends on the texts, and no loss covers this. If it matters, tune on similar public
    texts: --stand-in.

    \b
    Examples:
      syntf tune mails.csv --label topic --target-utility 0.6 --out tuned
      syntf tune mails.csv --unit words --max-loss 800 --out tuned
    """
    from syntf.cli import evaluation_tables, output
    from syntf.core.errors import Refused
    from syntf.evaluation.tuning.document_job import find_loss
    from syntf.evaluation.tuning.job import find_parameters, read_corpus
    from syntf.evaluation.tuning.search import Goal
    from syntf.pipeline.sample import language_of, look_with, refuse_unreadable

    columns = single_columns(corpus_columns(options))
    reader = reader_from(options)
    job_options = {name: options.pop(name) for name in ("min_test", "runs", "tagger", "force")}
    settings = settings_from({**options, "preset": unit})
    goal = Goal(target_utility, max_loss, max_loss_per_word)
    with output.progress(quiet) as stages:
        corpus = read_corpus(input, stand_in, data_home, columns, reader)
        if not accept_coverage:
            sample = look_with(settings, corpus.texts, stages)
            refuse_unreadable(sample, language_of(settings), done="measured")
        find = find_loss if unit == "document" else find_parameters
        outcome: Any = find(corpus, settings, goal, out, stages=stages, **job_options)
    if as_json:
        record = _document_record if unit == "document" else _record
        about = record(outcome, input, columns["text"], settings, reader)
        output.emit({**about, "out": str(out)})
    quiet = quiet or as_json
    if not quiet:
        evaluation_tables.print_heading([*reader["notices"], *outcome.notices])
        output.show((_trials_table if unit == "document" else _finalists_table)(outcome))
    chosen = outcome.chosen
    if chosen is None:
        raise Refused(outcome.failure)
    if not quiet:
        output.say("\nThe chosen parameters on the test texts, which were not used before:")
        output.show(evaluation_tables.comparison_table(chosen.results, chosen.parameters))
        output.say(f"[yellow]![/] {CHOSEN_ON_PUBLIC_TEXTS if stand_in else CHOSEN_ON_THESE_TEXTS}")
        losses = evaluation_tables.loss_text(chosen.results, chosen.parameters)
        output.say(f"{losses}. To run:\n")
        line = _command_of(unit)(input, columns["text"], settings, chosen[0], reader)
        output.say(output.escape(line), wrap=False)
        evaluation_tables.print_folder("\nCandidates, figure and results", out)


def _command_of(unit: str) -> Any:
    return document_command if unit == "document" else anonymize_command


def document_command(
    input: str, text: str, settings: Settings, best: Any, reader: dict[str, Any]
) -> str:
    """Return the shell command that releases whole documents with the loss of a trial."""
    words = [*_command_start(input, text, reader), "--document-loss", f"{best.loss:g}"]
    for name in ("codebook", "encoder", "language", "morphology", "analyzer", "vectors"):
        value = getattr(settings, name)
        if value != getattr(Settings, name):
            words += [f"--{name}", str(value)]
    words += ["--no-pilot"] * (not settings.pilot) + ["--keep-numbers"] * settings.numbers
    return shlex.join([*words, "--out", "release"])


def _command_start(input: str, text: str, reader: dict[str, Any]) -> list[str]:
    """Return the words that name the input and say how to read it."""
    path = f"./{input}" if input.startswith("-") else input
    return ["syntf", "anonymize", path, "--text", text, *reader_words(reader)]


def anonymize_command(
    input: str, text: str, settings: Settings, best: Any, reader: dict[str, Any]
) -> str:
    """Return the shell command that makes a release with the parameters of a candidate."""
    words = _command_start(input, text, reader)
    words += ["--neighbours", str(best.neighbours), "--loss", f"{best.loss!r}".removesuffix(".0")]
    words += ["--length", str(best.length), "--max-size", str(best.max_size)]
    words += ["--weights", best.weights]
    for name in ("spelling", "language", "morphology", "analyzer", "vocabulary", "vectors"):
        value = getattr(settings, name)
        if value != getattr(Settings, name):
            words += [f"--{name}", str(value)]
    words += ["--synsets"] * settings.synsets + ["--keep-numbers"] * settings.numbers
    return shlex.join([*words, "--out", "release"])


def _trials_table(outcome: Any) -> Any:
    """Return the measured losses as a table; an arrow marks the chosen one."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0))
    for name in ("", "loss", "kept nb", "svm", "informed"):
        table.add_column(name, justify="left" if name == "" else "right")
    for trial in outcome.trials:
        chosen = outcome.chosen is not None and trial == outcome.chosen.trial
        kept = (f"{trial.kept[model]:.1%}" for model in ("nb", "svm", "informed"))
        table.add_row(
            "→" if chosen else "", f"{trial.loss:g}", *kept, style="bold" if chosen else ""
        )
    return table


def _document_record(
    outcome: Any, input: str, text: str, settings: Settings, reader: dict[str, Any]
) -> dict[str, Any]:
    """Return the outcome of a search for a loss per document, for JSON output."""
    from syntf.cli import evaluation_tables

    chosen = outcome.chosen
    record: dict[str, Any] = {
        "note": evaluation_tables.HEADING,
        "trials": [
            {
                "loss_per_document": trial.loss,
                "kept": dict(trial.kept),
                "chosen": chosen is not None and trial == chosen.trial,
            }
            for trial in outcome.trials
        ],
        "chosen": None,
    }
    if chosen is not None:
        record |= {
            "chosen": {"document_loss": chosen.trial.loss},
            **evaluation_tables.loss_record(chosen.results, chosen.parameters),
            "results": evaluation_tables.result_records(chosen.results),
            "command": document_command(input, text, settings, chosen.trial, reader),
        }
    return record


def _finalists_table(outcome: Any) -> Any:
    """Return the finalists as a table; an arrow marks the chosen one."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0))
    names = ("", "loss", "per word", "length", "k", "outputs", "weights", "kept nb", "svm")
    for name in (*names, "attack"):
        table.add_column(name, justify="left" if name in ("", "weights") else "right")
    for finalist in outcome.finalists:
        one = finalist.candidate
        chosen = outcome.chosen is not None and one == outcome.chosen.candidate
        table.add_row(
            "→" if chosen else "", f"{one.document_loss:,.1f}", f"{one.loss:g}",
            str(one.length), str(one.neighbours), f"{one.max_size:,}", one.weights,
            f"{finalist.kept['nb']:.1%}", f"{finalist.kept['svm']:.1%}",
            "–" if finalist.attack is None else f"{finalist.attack:.2f}",
            style="bold" if chosen else "",
        )  # fmt: skip
    return table


def _record(
    outcome: Any, input: str, text: str, settings: Settings, reader: dict[str, Any]
) -> dict[str, Any]:
    """Return the outcome for JSON output."""
    from syntf.cli import evaluation_tables

    chosen = outcome.chosen
    record: dict[str, Any] = {
        "note": evaluation_tables.HEADING,
        "finalists": [
            {
                **finalist.candidate._asdict(),
                "loss_per_document": finalist.candidate.document_loss,
                "kept": finalist.kept,
                "attack": finalist.attack,
                "chosen": chosen is not None and finalist.candidate == chosen.candidate,
            }
            for finalist in outcome.finalists
        ],
        "chosen": None,
    }
    if chosen is not None:
        losses = evaluation_tables.loss_record(chosen.results, chosen.parameters)
        record |= {
            "chosen": chosen.candidate._asdict(),
            **losses,
            "results": evaluation_tables.result_records(chosen.results),
            "command": anonymize_command(input, text, settings, chosen.candidate, reader),
        }
    return record
