"""`syntf evaluate`: its options."""

from pathlib import Path
from typing import Any

import click

from syntf.cli.configured import Configured
from syntf.cli.options import FILE, corpus_options, evaluation_options, parameters


@click.command(
    "evaluate", short_help="What a release keeps of your texts: topics, authors.", cls=Configured
)
@click.argument("input", type=FILE, metavar="FILE")
@corpus_options
@click.option("--out", type=FILE, required=True, metavar="DIR", help="Where the results go.")
@evaluation_options
@click.option("--scrub/--no-scrub", help="Compare with scrubadub as well.")
@parameters("preset", "length", "loss", "epsilon", "neighbours", "spelling", "morphology")
@parameters("analyzer", "vocabulary")
@click.option(
    "--fit-vocabulary/--no-fit-vocabulary", help="Take the vocabulary from the training half."
)
@parameters("min_df", "max_df", "max_size", "synsets", "vectors", "weights", "draws", "numbers")
def command(input: Path, out: Path, **options: Any) -> None:
    """Measure what a release of the texts in FILE keeps: topics, authors, or both.

    An analyst learns labels, an attacker authors, from one part of the documents, and both
    are tested on the rest: on the texts as they are, on their term vectors, and on synthetic
    ones, made anew for each run. DIR gets results.csv, scenarios.csv and figures. An
    interrupted evaluation goes on where it was when started again.

    \b
    Example:
      syntf evaluate mails.csv --text body --label topic --author sender --out proof
    """
    from syntf.cli import anonymize, evaluate

    names = ("text", "label", "author", "split", "test_share", "min_test", "runs", "scrub",
             "tagger", "force", "as_json", "quiet")  # fmt: skip
    own = {name: options.pop(name) for name in names}
    evaluate.run(input, out, settings=anonymize.settings(**options), **own)
