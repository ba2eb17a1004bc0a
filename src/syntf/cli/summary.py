"""The summary that `syntf anonymize` prints for a person."""

from rich.markup import escape
from rich.table import Table

from syntf.cli import console
from syntf.core.exact import shown
from syntf.ledger.ledger import format_units
from syntf.releases.job import Release


def show(release: Release) -> None:
    """Print a release in a few lines."""
    guarantee = release.guarantee
    for note in release.notes:
        console.out.print(f"word vectors: {escape(note)}")
    loss = guarantee.loss_per_word
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("documents", f"{release.documents:,}, {guarantee.length} words drawn for each")
    table.add_row(
        "vocabulary", f"{guarantee.input_size:,} words in, {guarantee.vocabulary_size:,} out"
    )
    if dropped := release.terms_without_vector:
        table.add_row("", f"{dropped:,} terms of the vocabulary have no vector and were left out")
    table.add_row(
        "loss per word",
        f"[bold]{shown(loss.tight, 4)}[/]  (bounds: improved {shown(loss.improved, 2)}, "
        f"standard {shown(loss.standard, 2)})",
    )
    table.add_row("loss per document", f"[bold]{shown(guarantee.loss_per_document, 2)}[/]")
    console.show(table)
    for caveat in guarantee.caveats:
        console.out.print(f"[yellow]![/] {escape(caveat)}")
    if not guarantee.private:
        console.out.print("[yellow]![/] The release is marked as not private.")
    console.out.print(f"Release written to {escape(str(release.path))}", soft_wrap=True)
    if (run := release.ledger_run) is not None:
        loss_charged = format_units(run.loss, up=True)
        console.out.print(
            f"Charged to the ledger: {loss_charged} for each of {run.documents:,} documents "
            f"(run {run.number})."
        )
        console.out.print(f"Keep the ledger's head in another place: {run.hash}", soft_wrap=True)
