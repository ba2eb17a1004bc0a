"""`syntf coverage`: its options."""

from pathlib import Path
from typing import Any

import click

from syntf.cli.options import FILE, parameters


@click.command("coverage")
@click.argument("input", type=FILE)
@click.option("--text", default="text", show_default=True, help="The column with the texts.")
@parameters("preset", "neighbours", "morphology", "analyzer", "vocabulary", "vectors", "numbers")
def command(input: Path, text: str, **chosen: Any) -> None:
    """How much of the texts in INPUT is known: for their owner, never for a release.

    The figures are exact, so they tell of single documents. They are printed here, written
    nowhere, and no other command computes them.
    """
    from syntf.cli import anonymize, coverage

    coverage.run(input, text, anonymize.settings(**chosen))
