"""`syntf vocabulary`: its options."""

from pathlib import Path
from typing import Any

import click

from syntf.cli.configured import Configured
from syntf.cli.options import FILE, as_json, parameters, quiet, text


@click.group("vocabulary", short_help="Vocabularies from a reference corpus: build, show.")
def command() -> None:
    """Vocabularies from a reference corpus, each in a file that says where it is from."""


@command.command(cls=Configured)
@click.argument("reference", type=FILE)
@text
@click.option("--out", type=FILE, required=True, metavar="FILE", help="Where the terms go.")
@parameters("min_df", "max_df", "max_size", "morphology", "analyzer", "vectors", "numbers")
@click.option("--force", is_flag=True, help="Replace an earlier vocabulary of syntf.")
@as_json
@quiet
def build(
    reference: Path,
    text: str,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Take the terms of public texts, REFERENCE, for --vocabulary of the other commands.

    REFERENCE is any file that syntf anonymize reads. The terms are as public as its texts: of
    the texts that are to be released it makes a release that is marked as not private.

    \b
    Example:
      syntf vocabulary build news.csv --max-df 0.5 --max-size 20000 --out terms.txt
    """
    from syntf.cli import anonymize, vocabulary

    chosen = {**chosen, "preset": "paper", "fit_vocabulary": True}  # which cuts off nothing
    settings = anonymize.settings(**chosen)
    vocabulary.build(reference, text, out, settings, force=force, as_json=as_json, quiet=quiet)


@command.command()
@click.argument("file", type=FILE)
@as_json
def show(file: Path, as_json: bool) -> None:
    """What a vocabulary file says about itself, its size and its SHA-256."""
    from syntf.cli import vocabulary

    vocabulary.show(file, as_json=as_json)
