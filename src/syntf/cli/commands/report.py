"""`syntf report`: its options."""

from pathlib import Path
from typing import Any

import click

from syntf.cli.options import FILE, quiet


@click.command("report", short_help="Make the page of a release again.")
@click.argument("folder", type=FILE, metavar="RELEASE")
@click.option("--out", type=FILE, required=True, metavar="FILE", help="Where the page goes.")
@click.option(
    "--evaluation",
    type=FILE,
    metavar="DIR",
    help="Add what syntf evaluate measured with the same parameters: for the owner of the texts.",
)
@click.option(
    "--vectors",
    type=FILE,
    metavar="FILE",
    help="The word vectors of a release that was not made with the embedded ones.",
)
@click.option("--force", is_flag=True, help="Replace the file.")
@quiet
def command(folder: Path, out: Path, **options: Any) -> None:
    """Make the page of a release again, from its other files: what report.html is.

    The release is verified first. Without --evaluation the page is that of the release, byte
    for byte; with it, it shows what an analyst and attackers keep, and is not for others.

    \b
    Example:
      syntf report release --evaluation proof --out report.html
    """
    from syntf.cli import report

    report.run(folder, out, **options)
