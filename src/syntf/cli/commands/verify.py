"""`syntf verify`: its options."""

from pathlib import Path

import click

from syntf.cli.options import FILE


@click.command("verify")
@click.argument("folder", type=FILE, metavar="DIR")
@click.option(
    "--vectors",
    type=FILE,
    metavar="FILE",
    help="The word vectors of a release that was not made with the embedded ones.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def command(folder: Path, vectors: Path | None, as_json: bool, quiet: bool) -> int:
    """Check a release that you received: its files, its table, its loss.

    Derives the table again from public word vectors and the release itself, measures its loss
    and compares everything with guarantee.json. Takes seconds for the default, and as long as
    measuring took the sender for --preset paper. The exit code is 0 only if all checks pass.

    \b
    Example:
      syntf verify release
    """
    from syntf.cli import verify

    return verify.run(folder, vectors, as_json=as_json, quiet=quiet)
