"""`syntf verify`: its options."""

from pathlib import Path

import click

from syntf.cli.options import FILE, as_json, no_progress


@click.command("verify", short_help="Check a release that you received.")
@click.argument("folder", type=FILE, metavar="DIR")
@click.option(
    "--vectors",
    type=FILE,
    metavar="FILE",
    help="The word vectors of a release that was not made with the embedded ones.",
)
@as_json
@no_progress
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
