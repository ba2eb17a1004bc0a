"""`syntf anonymize`: make a release and print what was made."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from syntf.cli import output
from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import (
    FILE,
    FILES,
    FOR_TESTS,
    LARGE_RUNS,
    PRIVACY,
    accept_coverage,
    as_json,
    device,
    option,
    quiet,
    reader_from,
    reader_options,
    setting_options,
    settings_from,
    text,
    unit_notices,
)
from syntf.core.errors import printable

if TYPE_CHECKING:
    from syntf.pipeline.settings import Settings
    from syntf.releases.job import Release

ON_SPARK = ("text", "id", "keep", "input_format", "force", "ledger", "author")
"""Options that Spark takes; all others are refused unless they have their default value."""


@click.command("anonymize", cls=ConfiguredCommand)
@click.argument("inputs", type=click.Path(), metavar="INPUT...", nargs=-1, required=True)
@option("--out", type=FILE, metavar="DIR", help="Folder to write. Example: release.  [required]")
@text
@option("--id", metavar="COLUMN", help="Column that identifies a document; released as it is.")
@option(
    "--keep",
    multiple=True,
    metavar="COLUMN ...",
    help="Columns to release as they are, outside the guarantee. Example: topic year.",
)
@option("--shuffle/--no-shuffle", help="Release the documents in random order.")
@setting_options("preset", "document_loss", "loss")
@option("--force", is_flag=True, help="Replace an earlier release in the same folder.")
@quiet
@as_json
@setting_options("codebook", "encoder", "pilot", "length", "epsilon", "neighbours")
@option(
    "--ledger",
    type=FILE,
    metavar="FILE",
    group=PRIVACY,
    help="Charge the loss of every document to this ledger before anything is drawn. The run is "
    "refused if it would exceed a budget. Created by syntf ledger create.",
)
@option(
    "--author",
    metavar="COLUMN",
    group=PRIVACY,
    help="Column that names the author of a document, for --author-loss and for a ledger with a "
    "budget for authors. Not released unless kept.",
)
@option(
    "--author-loss",
    type=float,
    metavar="LOSS",
    group=PRIVACY,
    help="Largest privacy loss of an author. Releases only so many documents of each author, "
    "chosen at random, that their losses stay within it. Example: 30.",
)
@setting_options("language")
@setting_options("spelling", "weights", "draws", "idf", "morphology", "analyzer", "numbers")
@setting_options("vocabulary", "fit_vocabulary", "min_df", "max_df", "max_size", "synsets")
@setting_options("vectors")
@option(
    "--format",
    type=click.Choice(["npz", "parquet", "mtx", "svmlight", "jsonl", "text", "csv"]),
    default="npz",
    show_default=True,
    group=FILES,
    help="Format of the counts; csv opens in a spreadsheet.",
)
@reader_options
@accept_coverage
@option(
    "--dry-run",
    is_flag=True,
    group=LARGE_RUNS,
    help="Write nothing; show what syntf preview shows.",
)
@option(
    "--resume", is_flag=True, group=LARGE_RUNS, help="Continue an interrupted run, same options."
)
@option(
    "--jobs",
    type=int,
    metavar="N",
    group=LARGE_RUNS,
    help="Number of threads; -2 for all cores but one. [default: one per core]",
)
@device
@option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    group=LARGE_RUNS,
    help="Where the work is done: in this process, or by Spark (needs pip install 'syntf[spark]').",
)
@option(
    "--master",
    metavar="URL",
    group=LARGE_RUNS,
    help="Address of the Spark cluster. [default: local[*]]",
)
@option(
    "--insecure-seed",
    "seed",
    type=int,
    metavar="N",
    group=FOR_TESTS,
    help="Make the draws repeatable. The release is marked NOT PRIVATE.",
)
def command(
    inputs: tuple[str, ...],
    out: Path | None,
    engine: str,
    master: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Make a release from the texts in INPUT.

    INPUT is a table (.csv, .tsv, .jsonl, .json, .parquet, .feather, .xlsx), an .mbox file, a
    folder of documents (.txt, .eml, .html, .pdf, .docx), compressed or not (.gz, .bz2, .xz, .zst,
    .zip), several of these, a pattern in quotes, an address (s3://, gs://, az://), a database
    (.sqlite, postgresql://) with --query, or - for standard input. It may be larger than memory.
    The release is a folder with synthetic counts (vectors.npz,
    vocabulary.txt), the columns that you keep (documents.parquet), the guarantee
    (guarantee.json), and README.txt and report.html for whoever receives it.

    \b
    Example:
      syntf anonymize mails.csv --text body --keep topic --shuffle --out release
    """
    notices = unit_notices(options)
    settings = settings_from(options)
    if options["dry_run"] and engine == "local":
        _preview(inputs, settings, options, as_json=as_json, quiet=quiet)
        return
    if out is None:
        raise click.UsageError("Missing option '--out'.")
    if engine == "spark":
        from syntf.cli import spark

        _refuse_options_that_spark_lacks(options)
        own = {name: options[name] for name in ON_SPARK}
        master = master or "local[*]"
        release = spark.run(
            inputs, out, master=master, settings=settings, quiet=quiet or as_json, **own
        )
    elif master:
        raise click.UsageError("--master is the address of a Spark cluster: add --engine spark")
    else:
        from syntf.releases import job

        del options["dry_run"]
        options["insecure_seed"] = options.pop("seed")
        with output.progress(quiet) as progress:
            release = job.release(inputs, out, settings=settings, progress=progress, **options)
    if not quiet:
        _warn_of_inputs(release)
        output.notify(release.warnings)
    with suppress(OSError):  # the release is complete even if its summary cannot be printed
        if as_json:
            output.emit(_record(release))
        elif not quiet:
            _show(release)
            for notice in notices:
                output.warn(notice)


def _preview(
    inputs: tuple[str, ...],
    settings: "Settings",
    options: dict[str, Any],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show what a release with these options would be like; write nothing."""
    from syntf.cli.commands import preview

    reader = reader_from(options)
    names = ("text", "id", "keep", "shuffle", "author_loss", "format")
    own = {name: options[name] for name in names}
    with output.progress(quiet) as stages:
        found = preview.preview(inputs, reader, settings, stages=stages, **own)
    output.notify(() if quiet else reader["notices"])
    preview.show(found, as_json=as_json)


def _refuse_options_that_spark_lacks(options: dict[str, Any]) -> None:
    """Raise SyntfError if the person chose an option that Spark does not have."""
    from syntf.cli import spark

    context = click.get_current_context()
    chosen = {
        name: value
        for name, value in options.items()
        if name not in ON_SPARK
        and context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    spark.check(chosen)


def _warn_of_inputs(release: "Release") -> None:
    """Print what was left out to standard error: this can depend on texts."""
    output.notify(release.input_notices)
    if count := release.skipped_rows:
        rows = "1 broken row was" if count == 1 else f"{count:,} broken rows were"
        click.echo(f"syntf: {rows} left out:", err=True)
        for place in release.skipped:
            click.echo(f"  {printable(place)}", err=True)


def _record(release: "Release") -> dict[str, Any]:
    """Describe a release for programs; `guarantee` is the content of ``guarantee.json``."""
    from syntf.ledger.ledger import UNIT

    run = release.ledger_run
    return {
        "out": str(release.path),
        "documents": release.documents,
        "left_out": release.left_out,
        "terms_without_vector": release.terms_without_vector,
        "notes": list(release.notes),
        "warnings": list(release.warnings),
        "ledger": run and {"run": run.number, "loss": run.loss / UNIT, "head": run.hash},
        "guarantee": release.guarantee.as_dict(),
    }


def _show(release: "Release") -> None:
    """Print a release in a few lines."""
    from syntf.core.exact import shown

    guarantee = release.guarantee
    for note in release.notes:
        output.say(f"word vectors: {output.escape(note)}")
    rows = _document_rows(release) if guarantee.unit == "document" else _words_rows(release)
    loss = f"[bold]{shown(guarantee.loss_per_document, 2)}[/]"
    losses = [["loss per document", loss]]
    if guarantee.loss_per_author is not None:
        most = f"{guarantee.documents_per_author:,} of each author at most"
        note = f"({most}; {release.left_out:,} documents left out)"
        author = f"[bold]{shown(guarantee.loss_per_author, 2)}[/]  {note}"
        losses.append(["loss per author", author])
    kept = [] if guarantee.shuffled else [["order", "as in the input; --shuffle hides it"]]
    output.table([*rows, *kept, *losses])
    for caveat in guarantee.caveats:
        output.warn(caveat)
    if not guarantee.private:
        output.warn("The release is marked as not private.")
    output.say(f"Release written to {output.escape(release.path)}", wrap=False)
    if (run := release.ledger_run) is not None:
        from syntf.ledger.ledger import format_units

        output.say(
            f"Charged to the ledger: {format_units(run.loss, up=True)} for each of "
            f"{run.documents:,} documents (run {run.number})."
        )
        output.say(f"Keep the ledger's head in another place: {run.hash}", wrap=False)


def _words_rows(release: "Release") -> list[list[str]]:
    """Describe what was drawn for each document, word by word."""
    from syntf.core.exact import shown

    guarantee = release.guarantee
    loss = guarantee.word_losses
    bounds = f"bounds: improved {shown(loss.improved, 2)}, standard {shown(loss.standard, 2)}"
    rows = [
        ["documents", f"{release.documents:,}, {guarantee.length} words drawn for each"],
        ["vocabulary", f"{guarantee.input_size:,} words in, {guarantee.vocabulary_size:,} out"],
        ["loss per word", f"[bold]{shown(loss.tight, 4)}[/]  ({bounds})"],
    ]
    if dropped := release.terms_without_vector:
        note = f"{dropped:,} terms of the vocabulary have no vector and were left out"
        rows.insert(2, ["", note])
    return rows


def _document_rows(release: "Release") -> list[list[str]]:
    """Describe what was drawn for each document as a whole."""
    unit = release.guarantee.document
    if unit is None:
        return []
    described = "one topic" if unit.kind == "topics" else "a set of words"
    entries = unit.sharpened_entries or unit.entries
    rows = [
        ["documents", f"{release.documents:,}, each described by {described}"],
        ["chosen from", f"a public list of {entries:,} {unit.kind}"],
    ]
    if unit.pilot:
        rows.append(["pilot", f"{unit.pilot:,} documents answered first and sharpened the list"])
    return rows
