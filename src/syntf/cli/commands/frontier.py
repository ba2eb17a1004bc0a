"""`syntf frontier`: its options."""

from pathlib import Path
from typing import Any

import click

from syntf.cli.configured import Configured
from syntf.cli.options import FILE, evaluation_options


@click.command(
    "frontier",
    short_help="Utility against loss: ours, the paper's, other systems'.",
    cls=Configured,
)
@click.option(
    "--data-home",
    type=FILE,
    metavar="DIR",
    help="scikit-learn's data home with 20 newsgroups; downloaded there if missing.",
)
@click.option("--out", type=FILE, required=True, metavar="DIR", help="Where the results go.")
@evaluation_options
@click.option("--quick", is_flag=True, help="Fewer points, two runs each.")
def command(out: Path, **options: Any) -> None:
    """Utility against loss on 20 newsgroups: the presets, the paper's among them, other systems.

    DIR gets frontier.csv, attacks.csv, their tables (frontier.md) and figures (PNG and SVG). An
    interrupted run goes on where it was when started again.

    \b
    Example:
      syntf frontier --out frontier --quick
    """
    from syntf.cli import frontier
    from syntf.pipeline.settings import Settings

    frontier.run(
        out,
        default=Settings.from_preset(),
        accurate=Settings.from_preset("accurate"),
        paper=Settings.from_preset("paper", fit_vocabulary=True),
        **options,
    )
