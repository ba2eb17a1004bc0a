"""`syntf cache`: its options."""

import click

from syntf.cli.options import as_json, quiet


@click.group("cache", short_help="What is remembered between runs: path, clear.")
def command() -> None:
    """Measurements, neighbours and word vectors remembered between runs."""


@command.command()
@as_json
def path(as_json: bool) -> None:
    """Show where they are kept."""
    from syntf.cli import console
    from syntf.core import cache_store

    if as_json:
        console.emit({"path": str(cache_store.folder())})
    else:
        click.echo(cache_store.folder())


@command.command()
@as_json
@quiet
def clear(as_json: bool, quiet: bool) -> None:
    """Forget all of them; they are made again when needed."""
    from syntf.cli import console
    from syntf.core import cache_store

    forgotten = cache_store.clear()
    if as_json:
        console.emit({"forgotten": forgotten})
    elif not quiet:
        click.echo(f"Forgot {forgotten} measurements, tables of neighbours and of vectors.")
