"""`syntf coverage`: its options."""

from pathlib import Path
from typing import Any

import click

from syntf.cli.configured import Configured
from syntf.cli.options import FILE, as_json, no_progress, parameters, text


@click.command(
    "coverage", short_help="How much of your texts is known; for your eyes only.", cls=Configured
)
@click.argument("input", type=FILE)
@text
@parameters("preset", "neighbours", "morphology", "analyzer", "vocabulary", "vectors", "numbers")
@as_json
@no_progress
def command(input: Path, text: str, as_json: bool, quiet: bool, **chosen: Any) -> None:
    """How much of the texts in INPUT is known: for their owner, never for a release.

    The figures are exact, so they tell of single documents. They are printed here, written
    nowhere, and no other command computes them.

    \b
    Example:
      syntf coverage mails.csv --text body
    """
    from syntf.cli import anonymize, coverage

    settings = anonymize.settings(**chosen)
    coverage.run(input, text, settings, as_json=as_json, quiet=quiet)
