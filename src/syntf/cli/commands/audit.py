"""`syntf audit`: its options."""

from typing import Any

import click

from syntf.cli.configured import Configured
from syntf.cli.options import as_json, no_progress, parameters


@click.command(
    "audit", short_help="Try to break the guarantee of the program installed here.", cls=Configured
)
@click.option("--quick", is_flag=True, help="A sample of rows and fewer draws: seconds.")
@click.option(
    "--samples",
    type=click.IntRange(min=1000),
    metavar="N",
    help="Words drawn from a row where draws are counted. [default: 2000000; 100000 if quick]",
)
@parameters("preset", "length", "loss", "epsilon", "neighbours", "spelling", "morphology")
@parameters(
    "analyzer", "vocabulary", "max_size", "synsets", "vectors", "weights", "draws", "numbers"
)
@as_json
@no_progress
def command(quick: bool, samples: int | None, as_json: bool, quiet: bool, **chosen: Any) -> int:
    """Examine the program installed here: is what it promises true of what it draws?

    Takes the parameters of syntf anonymize, needs no texts, and tries to break the guarantee
    they give: on the table, the sampler, real draws, and documents made to differ. Says what
    was tried, what came out and what it would have caught. Exit code 1 if a check fails.

    \b
    Example:
      syntf audit --loss 7 --quick
    """
    from syntf.cli import anonymize, audit

    settings = anonymize.settings(**chosen)
    return audit.run(settings, samples, quick=quick, as_json=as_json, quiet=quiet)
