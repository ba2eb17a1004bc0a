"""`syntf evaluate`: measure what releases of some texts keep and reveal, for their owner."""

from pathlib import Path
from typing import Any

import click

from syntf.cli import console
from syntf.cli import options as common
from syntf.cli.options import option
from syntf.core.exact import shown

label = option("--label", metavar="COLUMN", help="Column to predict, such as the topic.")
COLORS = {"green": "green", "amber": "yellow", "red": "red", None: "dim"}


@click.command("evaluate", cls=common.Command)
@click.argument("inputs", type=click.Path(), metavar="INPUT...", nargs=-1, required=True)
@common.text
@label
@option("--author", metavar="COLUMN", help="Column that names the author of a document.")
@option(
    "--runs", type=click.IntRange(1), default=5, show_default=True,
    help="Releases to draw; figures are their means.",
)  # fmt: skip
@option(
    "--out", type=common.FILE, metavar="DIR", help="Folder for evaluation.json and evaluation.csv."
)
@common.combine(common.quiet, common.as_json, common.settings)
def command(
    inputs: tuple[str, ...], text: str, label: str | None, author: str | None, runs: int,
    out: Path | None, quiet: bool, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Measure what releases of INPUT keep and reveal. Nothing is released.

    Several releases are drawn in memory. Analysts learn the labels from released rows, and
    attackers the authors; both are tested on rows of other documents. Whoever holds a text looks
    for its row. Each figure stands beside chance and beside what the label alone tells. All of it
    depends on your texts: keep it to yourself.

    \b
    Examples:
      syntf evaluate mails.csv --text body --label topic --author sender
      syntf evaluate mails.csv --label topic --loss 6 --out figures
    """
    from syntf.evaluate.corpus import read_corpus
    from syntf.evaluate.evaluation import NOTE, check_folder, evaluate, write

    chosen, read = common.settings_from(options), common.reading_from(options)
    if out is not None:
        check_folder(out)
    with console.progress(quiet or as_json):
        corpus = read_corpus(inputs, text, label, author, read)
        found = evaluate(corpus, chosen, runs=runs)
    if out is not None:
        write(found, out)
    if not quiet:
        console.notify(found.notices)
    if as_json:
        console.emit(found.as_dict())
    elif not quiet:
        console.say(f"[bold]{NOTE}[/]")
        console.table(
            [f"[{COLORS[one.light]}]●[/]" if one.light else "", console.escape(one.sentence)]
            for one in found.measures
        )
        loss = shown(found.guarantee.loss_per_document, 2)
        console.say(f"The promise against everybody is the loss: {loss} per document at most.")
        for caveat in found.guarantee.caveats:
            console.warn(caveat)
