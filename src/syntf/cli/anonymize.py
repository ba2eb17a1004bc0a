"""`syntf anonymize`: make a release and print what was made."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syntf.cli import console
from syntf.cli.options import (
    FILE,
    INPUT,
    PRIVACY,
    Command,
    all_settings,
    as_json,
    option,
    quiet,
    reading,
    reading_from,
    settings_from,
    text,
)
from syntf.core import entropy
from syntf.core.exact import shown, times_up
from syntf.settings import Settings

if TYPE_CHECKING:
    from syntf.privacy.guarantee import Guarantee
    from syntf.release.job import Made
    from syntf.release.preview import Preview

WEAK = 10.0
"""Above this loss, a warning says what a release gives away."""


@click.command("anonymize", cls=Command)
@click.argument("inputs", type=click.Path(), metavar="INPUT...", nargs=-1, required=True)
@option("--out", type=FILE, metavar="DIR", help="Folder to write.  [required]")
@text
@option("--id", metavar="COLUMN", help="Column that identifies a document; released as it is.")
@option(
    "--keep",
    multiple=True,
    metavar="COLUMN ...",
    help="Columns to release as they are, outside the guarantee. Example: topic year.",
)
@option("--shuffle", is_flag=True, help="Release the documents in random order.")
@option("--dry-run", is_flag=True, help="Write nothing; show what a release would be like.")
@option("--force", is_flag=True, help="Replace an earlier release in the same folder.")
@quiet
@as_json
@all_settings
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
@reading
@option(
    "--format",
    type=click.Choice(["npz", "parquet", "csv"]),
    default="npz",
    show_default=True,
    group=INPUT,
    help="Format of the counts; csv opens in a spreadsheet.",
)
@option(
    "--insecure-seed", "seed", type=int, metavar="N", group=PRIVACY,
    help="For tests: make the draws repeatable. The release is marked NOT PRIVATE.",
)  # fmt: skip
def command(
    inputs: tuple[str, ...],
    out: Path | None,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
    seed: int | None,
    **options: Any,
) -> None:
    """Release one row of counts for each document of INPUT.

    INPUT is a table (.csv, .tsv, .jsonl, .json, .parquet, .feather, .xlsx), an .mbox file, a
    folder of documents (.txt, .eml, .html, .pdf, .docx), compressed or not (.gz, .bz2, .xz, .zst,
    .zip), several of these, a pattern in quotes, an address (s3://, gs://, az://), a database
    (.sqlite, postgresql://) with --query, or - for standard input. The release is a folder with
    synthetic counts, the columns that you keep, the guarantee, and README.txt and report.html for
    whoever receives it.

    \b
    Example:
      syntf anonymize mails.csv --text body --keep topic --shuffle --out release
      syntf anonymize mails.csv --text body --preset paper --out paper
    """
    preset = options["preset"]
    chosen = settings_from(options)
    read = reading_from(options)
    if not quiet:
        console.notify(_thoughts(chosen, preset))
    if dry_run:
        from syntf.release.preview import preview

        with console.progress(quiet or as_json):
            found = preview(inputs, settings=chosen, reading=read, **options)
        if as_json:
            guarantee = found.guarantee.as_dict()
            console.emit({**vars(found), "guarantee": guarantee})
        elif not quiet:
            _show_preview(found)
        return
    if out is None:
        raise click.UsageError("Missing option '--out'.")
    from syntf.release.job import anonymize

    source = entropy.system if seed is None else entropy.Seeded(seed)
    with console.progress(quiet or as_json):
        made = anonymize(inputs, out, reading=read, settings=chosen, source=source, **options)
    if not quiet:
        console.notify(made.notices)
    with suppress(OSError):  # the release is complete even if its summary cannot be printed
        if as_json:
            console.emit(_record(made))
        elif not quiet:
            _show(made)


def _thoughts(chosen: Settings, preset: str | None) -> Iterator[str]:
    """Yield what to think about before anything is drawn."""
    if chosen.document_loss is not None and chosen.document_loss > WEAK:
        yield (
            f"a loss of {chosen.document_loss:g} is above {WEAK:g}: several topics of each "
            "document are kept, and whoever holds a text finds its row more often; see syntf "
            "evaluate"
        )
    if chosen.word_loss is not None and preset is None:
        loss = times_up(chosen.word_loss, chosen.length)
        yield (
            f"these options are for single words: a document may lose {shown(loss, 2)}; say "
            "--preset words if that is meant, or use --document-loss"
        )


def _record(made: "Made") -> dict[str, Any]:
    """Describe a release for programs; `guarantee` is the content of ``guarantee.json``."""
    return {
        "out": str(made.path),
        "documents": made.documents,
        "left_out": made.left_out,
        "notices": list(made.notices),
        "ledger_run": made.run and made.run.number,
        "guarantee": made.guarantee.as_dict(),
    }


def _show(made: "Made") -> None:
    """Print a release in a few lines."""
    part = made.guarantee.composition[-1]
    rows = _rows(made.guarantee, made.documents, made.left_out, part.draws, part.answers)
    console.table(rows)
    for caveat in made.guarantee.caveats:
        console.warn(caveat)
    if made.run is not None:
        console.say(f"Charged to the ledger as run {made.run.number}.")
    where = console.escape(made.path)
    console.say(f"Made {where}. Look at {where}/report.html.", wrap=False)


def _show_preview(found: "Preview") -> None:
    """Print what a release would be like, for the owner of the texts."""
    rows = _rows(found.guarantee, found.documents, found.left_out, found.draws, found.answers)
    rows.insert(1, ["with a known word", f"{found.known:.1%}"])
    if found.kept is not None:
        rows.insert(3, ["an answer is kept", f"in {float(found.kept):.1%} of draws"])
    if found.pilot:
        note = f"{found.pilot:,} documents answer first and sharpen the list for all others"
        rows.insert(3, ["pilot", note])
    size = f"{found.bytes / 1e6:.1f} MB" if found.bytes >= 1e5 else f"{found.bytes / 1e3:.0f} kB"
    rows.append(["estimate", f"about {max(1, round(found.seconds)):,} s and {size}"])
    console.table(rows)
    for sentence in (*found.guarantee.caveats, *found.notices):
        console.warn(sentence)
    console.say("Nothing was written or charged. Keep this to yourself: it depends on your texts.")


def _rows(
    guarantee: "Guarantee", documents: int, left_out: int, draws: int, answers: int
) -> list[list[str]]:
    """Return the lines of a release that was made, or would be."""
    drawn = "1 answer" if draws == 1 else f"{draws} answers"
    rows = [
        ["documents", f"{documents:,}"],
        ["each is drawn", f"{drawn}, of {answers:,} public ones"],
        ["loss per document", f"[bold]{shown(guarantee.loss_per_document, 2)}[/] at most"],
    ]
    if guarantee.loss_per_author is not None:
        note = f"({guarantee.documents_per_author:,} of each author; {left_out:,} left out)"
        rows.append(["loss per author", f"{shown(guarantee.loss_per_author, 2)} at most {note}"])
    else:
        rows.append(["loss per author", "m times as much for m documents; see --author-loss"])
    if not guarantee.shuffled:
        rows.append(["order", "as in the input; --shuffle hides it"])
    return rows
