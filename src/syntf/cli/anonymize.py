"""`syntf anonymize`: a file of texts in, a release out."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
from rich.markup import escape
from rich.table import Table

from syntf import entropy, readers, release
from syntf.anonymizer import Anonymizer, Settings
from syntf.arithmetic import shown
from syntf.cli import console
from syntf.errors import SyntfError
from syntf.guarantee import Guarantee

NUMBER = "document"
"""The column that numbers the rows of a release, where no id does."""


def settings(**options: Any) -> Settings:
    """Settings from options, where ε and the loss exclude each other."""
    given = {name: value for name, value in options.items() if value is not None}
    if "epsilon" in given and "loss" in given:
        raise SyntfError("give --epsilon or --loss, not both")
    return Settings(**given)


def run(
    input: Path,
    out: Path,
    *,
    text: str,
    id: str | None,
    keep: Sequence[str],
    shuffle: bool,
    force: bool,
    quiet: bool,
    seed: int | None,
    settings: Settings,
) -> None:
    kept = list(dict.fromkeys([*([id] if id else []), *keep]))
    if text in kept:
        raise SyntfError(f"the text column {text!r} cannot be released: leave it out of --keep")
    if id is None and NUMBER in kept:
        raise SyntfError(f"a column {NUMBER!r} numbers the rows: keep yours with --id {NUMBER}")
    release.check_target(out, force=force)
    frame = readers.read(input)
    readers.require(frame, [text, *kept])
    source = entropy.system if seed is None else entropy.Seeded(seed)
    if shuffle:
        frame = frame[entropy.permutation(source, frame.height)]
    texts = readers.texts(frame, text)

    stages = console.stages(quiet)
    anonymizer = Anonymizer.build(settings, texts, source=source, stages=stages)
    counts = anonymizer.anonymize(texts, stages=stages)
    guarantee = anonymizer.guarantee(kept_columns=kept, shuffled=shuffle)
    columns = [frame[name] for name in kept]  # by name: a selection would expand wildcards
    if id is None:
        columns = [pl.Series(NUMBER, range(frame.height), dtype=pl.Int64), *columns]
    documents = pl.DataFrame(columns)
    release.write(out, counts, anonymizer.vocabulary.outputs, documents, guarantee, force=force)
    if not quiet:
        with suppress(OSError):  # the release stands, whether its summary can be shown or not
            for note in anonymizer.notes:
                console.out.print(f"word vectors: {escape(note)}")
            summarize(guarantee, frame.height, anonymizer.vocabulary.dropped, out)


def summarize(guarantee: Guarantee, documents: int, dropped: int, out: Path) -> None:
    """The release in a few lines."""
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
    console.out.print(table)
    for caveat in guarantee.caveats:
        console.out.print(f"[yellow]![/] {escape(caveat)}")
    if not guarantee.private:
        console.out.print("[yellow]![/] The release is marked as not private.")
    console.out.print(f"Release written to {escape(str(out))}", soft_wrap=True)
