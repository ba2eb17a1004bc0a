"""`syntf reproduce`: its options."""

from pathlib import Path
from typing import Any

import click

from syntf.cli.configured import Configured
from syntf.cli.options import FILE, evaluation_options, parameters


@click.command(
    "reproduce", short_help="The paper's evaluation, our numbers beside its own.", cls=Configured
)
@click.option(
    "--data-home",
    type=FILE,
    metavar="DIR",
    help="scikit-learn's data home with 20 newsgroups; downloaded there if missing.",
)
@click.option("--out", type=FILE, required=True, metavar="DIR", help="Where the results go.")
@evaluation_options
@click.option(
    "--grid",
    multiple=True,
    metavar="full|NAME=VALUES",
    help="Cells beyond those of the figures: all 810, or combinations such as "
    "--grid epsilon=35,47.5 --grid length=all.",
)
@click.option("--quick", is_flag=True, help="Fewer cells, two runs each: minutes.")
@parameters("vectors")
def command(out: Path, grid: tuple[str, ...], **options: Any) -> None:
    """Repeat the paper's evaluation on 20 newsgroups, and put our numbers beside its own.

    DIR gets results.csv, scenarios.csv, the paper's tables (tables.md) and figures (PNG and
    SVG). An interrupted run goes on where it was when started again; more --grid or --runs
    add to what is there.

    \b
    Example:
      syntf reproduce --out reproduction --quick
    """
    from syntf.cli import anonymize, reproduce

    vectors = options.pop("vectors")
    settings = anonymize.settings(preset="paper", vectors=vectors, fit_vocabulary=True)
    reproduce.run(out, grid_options=grid, settings=settings, **options)
