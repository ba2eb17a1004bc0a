"""`syntf cache`: its options."""

import click


@click.group("cache")
def command() -> None:
    """Measurements, neighbours and word vectors remembered between runs."""


@command.command()
def path() -> None:
    """Show where they are kept."""
    from syntf import cache

    click.echo(cache.folder())


@command.command()
def clear() -> None:
    """Forget all of them; they are made again when needed."""
    from syntf import cache

    click.echo(f"Forgot {cache.clear()} measurements, tables of neighbours and of vectors.")
