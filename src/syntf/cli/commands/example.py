"""`syntf example`: its options."""

from importlib.resources import files
from pathlib import Path

import click

from syntf.cli.options import FILE
from syntf.errors import SyntfError


@click.command("example")
@click.argument("file", type=FILE, default=Path("example.csv"))
@click.option("--force", is_flag=True, help="Replace the file.")
def command(file: Path, force: bool) -> None:
    """Write the bundled example corpus: 320 messages, 5 topics, 8 authors."""
    if file.exists() and not force:
        raise SyntfError(f"{file} exists already: choose another name, or add --force")
    file.write_bytes(files("syntf").joinpath("data", "example.csv").read_bytes())
    click.echo(f"Wrote {file} (columns id, text, topic, author).")
