"""`syntf explain`: its options."""

from typing import Any

import click

from syntf.cli.options import parameters


@click.command("explain")
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
def command(words: tuple[str, ...], top: int, **chosen: Any) -> None:
    """What a word becomes: likely substitutes, and how far two words can be told apart."""
    from syntf.cli import anonymize, explain

    explain.run(words, anonymize.settings(**chosen), top)
