"""`syntf explain`: its options."""

from typing import Any

import click

from syntf.cli.configured import Configured
from syntf.cli.options import as_json, no_progress, parameters


@click.command(
    "explain", short_help="What a word becomes, and how far two can be told apart.", cls=Configured
)
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Substitutes to show for each word.",
)
@parameters("preset", "loss", "epsilon", "neighbours", "spelling", "morphology", "analyzer")
@parameters("vocabulary", "max_size", "synsets", "vectors")
@as_json
@no_progress
def command(words: tuple[str, ...], top: int, as_json: bool, quiet: bool, **chosen: Any) -> None:
    """What a word becomes: likely substitutes, and how far two words can be told apart.

    \b
    Example:
      syntf explain library bus
    """
    from syntf.cli import anonymize, explain

    settings = anonymize.settings(**chosen)
    explain.run(words, settings, top, as_json=as_json, quiet=quiet)
