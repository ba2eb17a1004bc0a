"""`syntf tune`: find parameters for a goal on texts with labels, and print the command to run."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import (
    FILE,
    accept_coverage,
    column_pairs,
    corpus_columns,
    corpus_options,
    evaluation_options,
    option,
    reader_from,
    reader_options,
    reader_words,
    setting_options,
    settings_from,
)
from syntf.pipeline.settings import DEFAULT_PRESET, SETTINGS, Settings

if TYPE_CHECKING:
    from syntf.evaluation.tuning.outcome import TuningOutcome

FIXED = (
    "codebook", "encoder", "spelling", "language", "morphology", "analyzer", "vocabulary",
    "vectors",
)  # fmt: skip
"""Settings that a person fixes; the printed command names those that are not the default."""
HEADINGS = {"loss": "per word", "neighbours": "k", "max_size": "outputs"}
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
    word, length, vocabulary size and weights. With several label columns, the goal must hold for
    each of them; attacks are those on the author column that is found best. Confirms the choice on
    the test texts, and prints the command to run. DIR gets candidates.csv and a figure of loss
    against utility (pareto.png, .svg).
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
    from syntf.evaluation.tuning.job import find_parameters, read_cases
    from syntf.evaluation.tuning.search import Goal
    from syntf.pipeline.sample import language_of, look_with, refuse_unreadable

    columns = corpus_columns(options)
    pairs = column_pairs(columns.pop("label"), columns.pop("author"))
    reader = reader_from(options)
    job_options = {name: options.pop(name) for name in ("min_test", "runs", "tagger", "force")}
    settings = settings_from({**options, "preset": unit})
    goal = Goal(target_utility, max_loss, max_loss_per_word)
    with output.progress(quiet) as stages:
        cases = read_cases(input, stand_in, data_home, pairs, columns, reader)
        if not accept_coverage:
            sample = look_with(settings, cases[0].corpus.texts, stages)
            refuse_unreadable(sample, language_of(settings), done="measured")
        find = find_loss if unit == "document" else find_parameters
        outcome = find(cases, settings, goal, out, stages=stages, **job_options)
    chosen, line = outcome.chosen, ""
    if chosen is not None:
        line = release_command(input, columns["text"], settings, chosen.settings, reader)
    if as_json:
        output.emit({**_record(outcome, unit, line), "out": str(out)})
    quiet = quiet or as_json
    if not quiet:
        evaluation_tables.print_heading([*reader["notices"], *outcome.notices])
        output.show(_trials_table(outcome))
        if len(cases) > 1:
            output.say("What is kept of the labels that are kept least, and the strongest attack.")
    if chosen is None:
        raise Refused(outcome.failure)
    if not quiet:
        output.say("\nThe chosen parameters on the test texts, which were not used before:")
        for name, results, parameters in outcome.confirmed:
            if name:
                output.say(f"\n[bold]{output.escape(name)}[/]")
            output.show(evaluation_tables.comparison_table(results, parameters))
        output.say(f"[yellow]![/] {CHOSEN_ON_PUBLIC_TEXTS if stand_in else CHOSEN_ON_THESE_TEXTS}")
        _, results, parameters = outcome.confirmed[0]
        output.say(f"{evaluation_tables.loss_text(results, parameters)}. To run:\n")
        output.say(output.escape(line), wrap=False)
        evaluation_tables.print_folder("\nCandidates, figure and results", out)


def release_command(
    input: str, text: str, settings: Settings, found: Mapping[str, Any], reader: dict[str, Any]
) -> str:
    """Return the shell command that makes a release with the settings that were found."""
    path = f"./{input}" if input.startswith("-") else input
    fixed = {
        name: getattr(settings, name)
        for name in FIXED
        if getattr(settings, name) != SETTINGS[name].default
    }
    words = ["syntf", "anonymize", path, "--text", text, *reader_words(reader)]
    for name, value in {**found, **fixed}.items():
        words += [f"--{name.replace('_', '-')}", str(value).removesuffix(".0")]
    words += ["--synsets"] * settings.synsets + ["--no-pilot"] * (not settings.pilot)
    return shlex.join([*words, *["--keep-numbers"] * settings.numbers, "--out", "release"])


def _trials_table(outcome: "TuningOutcome") -> Any:
    """Return what was measured as a table; an arrow marks the choice."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0))
    first = outcome.trials[0]
    own = [name for name in first.settings if name != "document_loss"]
    kept = [f"kept {model}" if place == 0 else model for place, model in enumerate(first.kept)]
    attacks = ["attack"] if own else []
    for name in ("", "loss", *(HEADINGS.get(name, name) for name in own), *kept, *attacks):
        table.add_column(name, justify="left" if name in ("", "weights") else "right")
    for trial in outcome.trials:
        cells = [f"{trial.document_loss:,.1f}" if own else f"{trial.document_loss:g}"]
        for name in own:
            value = trial.settings[name]
            cells.append(value if isinstance(value, str) else f"{value:,g}")
        cells += [f"{share:.1%}" for share in trial.kept.values()]
        cells += ["–" if trial.attack is None else f"{trial.attack:.2f}"] if own else []
        chosen = trial == outcome.chosen
        table.add_row("→" if chosen else "", *cells, style="bold" if chosen else "")
    return table


def _record(outcome: "TuningOutcome", unit: str, line: str) -> dict[str, Any]:
    """Return the outcome for JSON output."""
    from syntf.cli import evaluation_tables

    chosen = outcome.chosen
    trials = [
        {
            **trial.settings,
            "loss_per_document": trial.document_loss,
            "kept": dict(trial.kept),
            "attack": trial.attack,
            "chosen": trial == chosen,
        }
        for trial in outcome.trials
    ]
    record: dict[str, Any] = {
        "note": evaluation_tables.HEADING,
        "trials" if unit == "document" else "finalists": trials,
        "chosen": chosen and dict(chosen.settings),
    }
    if chosen is not None:
        _, first, parameters = outcome.confirmed[0]
        results = {
            name: evaluation_tables.result_records(found) for name, found, _ in outcome.confirmed
        }
        record |= {
            **evaluation_tables.loss_record(first, parameters),
            "results": results if len(results) > 1 else results[""],
            "command": line,
        }
    return record
