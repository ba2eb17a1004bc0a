"""`syntf bounds`: its options."""

from pathlib import Path
from typing import Any

import click

from syntf.cli.configured import Configured
from syntf.cli.options import FILE, as_json, device, no_progress, parameters


@click.command(
    "bounds", short_help="What parameters cost: per word, document and author.", cls=Configured
)
@parameters("preset", "loss", "epsilon", "neighbours", "length")
@click.option(
    "--documents",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Documents by one author, for the author's loss.",
)
@click.option(
    "--delta",
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    help="Also the epsilons at this delta, where smaller: by Rényi divergence, and exactly "
    "for --neighbours.",
)
@device
@parameters("spelling", "morphology", "vocabulary", "max_size", "synsets", "vectors")
@click.option("--figures", type=FILE, metavar="DIR", help="Draw the bounds there, as PNG and SVG.")
@as_json
@no_progress
def command(
    documents: int,
    figures: Path | None,
    delta: float | None,
    device: str,
    as_json: bool,
    quiet: bool,
    **chosen: Any,
) -> None:
    """The privacy losses for given parameters: per word, document and author.

    \b
    Example:
      syntf bounds --loss 7 --length 60
    """
    from syntf.cli import anonymize, bounds

    settings = anonymize.settings(**chosen)
    bounds.run(settings, documents, figures, delta, device, as_json=as_json, quiet=quiet)
