"""What a person is told of a release that was made."""

from pathlib import Path

from rich.markup import escape
from rich.table import Table

from syntf.cli import console
from syntf.core.errors import printable
from syntf.core.exact import shown
from syntf.inputs.corpus import Corpus
from syntf.ledger.ledger import rounded
from syntf.ledger.store import Run
from syntf.pipeline.anonymizer import Anonymizer
from syntf.privacy.guarantee import Guarantee


def show(
    anonymizer: Anonymizer, guarantee: Guarantee, documents: int, corpus: Corpus, out: Path
) -> None:
    """The release in a few lines."""
    for note in anonymizer.notes:
        console.out.print(f"word vectors: {escape(note)}")
    dropped = anonymizer.vocabulary.dropped
    loss = guarantee.loss_per_word
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("documents", f"{documents:,}, {guarantee.length} words drawn for each")
    table.add_row(
        "vocabulary", f"{guarantee.input_size:,} words in, {guarantee.vocabulary_size:,} out"
    )
    if dropped:
        table.add_row("", f"{dropped:,} terms of the vocabulary have no vector and were left out")
    table.add_row(
        "loss per word",
        f"[bold]{shown(loss.tight, 4)}[/]  (bounds: improved {shown(loss.improved, 2)}, "
        f"standard {shown(loss.standard, 2)})",
    )
    table.add_row("loss per document", f"[bold]{shown(guarantee.loss_per_document, 2)}[/]")
    console.show(table)
    if corpus.bad:
        console.out.print(f"[yellow]![/] {corpus.bad:,} broken rows were left out:")
        for place in corpus.skipped:
            console.out.print(f"  {escape(printable(place))}", soft_wrap=True)
    for caveat in guarantee.caveats:
        console.out.print(f"[yellow]![/] {escape(caveat)}")
    if not guarantee.private:
        console.out.print("[yellow]![/] The release is marked as not private.")
    console.out.print(f"Release written to {escape(str(out))}", soft_wrap=True)


def show_charge(run: Run) -> None:
    """What a ledger was charged, and its head."""
    loss = rounded(run.loss, up=True)
    console.out.print(
        f"Charged to the ledger: {loss} for each of {run.documents:,} documents (run {run.number})."
    )
    console.out.print(f"Its head, to be kept elsewhere: {run.hash}", soft_wrap=True)
