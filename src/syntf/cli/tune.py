"""`syntf tune`: find the smallest loss that keeps a share of the topics, and print the command."""

import shlex
from typing import Any

import click

from syntf.cli import console
from syntf.cli import options as common
from syntf.cli.evaluate import label
from syntf.cli.options import option
from syntf.settings import SETTINGS


@click.command("tune", cls=common.Command)
@click.argument("inputs", type=click.Path(), metavar="INPUT...", nargs=-1, required=True)
@common.text
@label
@option(
    "--keep", "share", type=float, default=0.5, show_default=True, metavar="SHARE",
    help="Share of the distance from chance to the texts themselves that must be kept.",
)  # fmt: skip
@option(
    "--runs", type=click.IntRange(1), default=3, show_default=True,
    help="Releases to draw at each loss.",
)  # fmt: skip
@common.combine(common.quiet, common.as_json, common.settings)
def command(
    inputs: tuple[str, ...], text: str, label: str | None, share: float, runs: int, quiet: bool,
    as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Find the smallest loss at which releases of INPUT keep a share of the topics.

    Tries losses per document or, with --preset words or accurate, losses per word. The choice
    depends on your texts, and no loss covers it: tune on similar public texts if that matters.

    \b
    Example:
      syntf tune mails.csv --text body --label topic --keep 0.8
    """
    from syntf.evaluate.corpus import read_corpus
    from syntf.evaluate.measures import percent, score
    from syntf.evaluate.tune import tune

    if label is None:
        raise click.UsageError("Missing option '--label'.")
    given = {**options, **options["set"]}
    chosen, read = common.settings_from(options), common.reading_from(options)
    with console.progress(quiet or as_json):
        corpus = read_corpus(inputs, text, label, reading=read)
        found = tune(corpus, chosen, share, runs=runs)
    given |= {"text": text, "document_loss": None, found.unit: found.loss, "keep": label}
    line = shlex.join(["syntf", "anonymize", *inputs, *_spelled(given)])
    if as_json:
        trials = [{"loss": loss, **one.as_dict()} for loss, one in found.trials.items()]
        console.emit({"unit": found.unit, "loss": found.loss, "command": line, "trials": trials})
        return
    if not quiet:
        console.notify(corpus.notices)
        rows = [
            ["→" * (loss == found.loss), f"{loss:g}", score(one.value), percent(one.kept or 0)]
            for loss, one in found.trials.items()
        ]
        console.table(rows, ["", found.unit.replace("_", " "), "F1", "kept"], right=(1, 2, 3))
        public = "codebook" if found.unit == "document_loss" else "vocabulary"
        console.say(f"Measured with this {public} on these texts. To make the release:")
    console.say(console.escape(line), wrap=False)


def _spelled(given: dict[str, Any]) -> list[str]:
    """Return options as `syntf anonymize` has them."""
    words = []
    for name, value in given.items():
        spelled = ((name in SETTINGS and SETTINGS[name].option) or name).replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{spelled}" if value else f"--no-{spelled}")
        elif value is not None and name != "set" and (name, value) != ("encoding", "utf-8"):
            words += [f"--{spelled}", f"{value:g}" if isinstance(value, float) else str(value)]
    return [*words, "--shuffle", "--out", "release"]
