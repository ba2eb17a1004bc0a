"""`syntf example`: its options."""

from importlib.resources import files
from pathlib import Path

import click

from syntf.cli.options import FILE, quiet
from syntf.core.errors import SyntfError


@click.command(
    "example", short_help="Write the bundled example: 320 messages, 5 topics, 8 authors."
)
@click.argument("file", type=FILE, default=Path("example.csv"))
@click.option("--force", is_flag=True, help="Replace the file.")
@quiet
def command(file: Path, force: bool, quiet: bool) -> None:
    """Write the bundled example corpus: 320 messages, 5 topics, 8 authors."""
    if file.exists() and not force:
        raise SyntfError(f"{file} exists already: choose another name, or add --force")
    file.write_bytes(files("syntf").joinpath("data", "example.csv").read_bytes())
    if not quiet:
        click.echo(f"Wrote {file} (columns id, text, topic, author).")
