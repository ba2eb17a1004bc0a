"""`syntf example`: write the example corpus."""

from importlib.resources import files
from pathlib import Path

import click

from syntf.cli import console
from syntf.cli.options import FILE, Command, option
from syntf.core.errors import SyntfError
from syntf.core.files import replacing


@click.command("example", cls=Command)
@click.argument("file", type=FILE, default=Path("example.csv"), required=False)
@option("--force", is_flag=True, help="Replace an existing file.")
def command(file: Path, force: bool) -> None:
    """Write the example to FILE (example.csv): messages with a topic and an author."""
    if file.exists() and not force:
        raise SyntfError(f"{file} exists: add --force to replace it")
    with replacing(file) as target:
        target.write(files("syntf").joinpath("data", "example.csv").read_bytes())
    console.say(f"Wrote {console.escape(file)}: columns id, text, topic, author.", wrap=False)
