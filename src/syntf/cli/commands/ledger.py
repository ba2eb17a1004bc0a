"""`syntf ledger`: its options."""

from pathlib import Path

import click

from syntf.cli.options import FILE, as_json, quiet


@click.group("ledger", short_help="Budgets over all releases: create, show, verify.")
def command() -> None:
    """Budgets over all releases: what every document and author may lose in sum."""


@command.command("create")
@click.argument("file", type=FILE)
@click.option("--budget", type=float, metavar="LOSS", help="The most that a document may lose.")
@click.option(
    "--author-budget",
    type=float,
    metavar="LOSS",
    help="The most that an author may lose: the losses of all their documents.",
)
@as_json
@quiet
def create_ledger(
    file: Path, budget: float | None, author_budget: float | None, as_json: bool, quiet: bool
) -> None:
    """Make a ledger for syntf anonymize --ledger. Its budgets are fixed for good.

    \b
    Example:
      syntf ledger create mails.ledger --budget 2000 --author-budget 50000
      syntf anonymize mails.csv --author sender --ledger mails.ledger --out release
    """
    from syntf.cli import ledger

    ledger.create(file, budget, author_budget, as_json=as_json, quiet=quiet)


@command.command("show")
@click.argument("file", type=FILE)
@as_json
def show_ledger(file: Path, as_json: bool) -> None:
    """What was spent, and what the most charged document and author have left."""
    from syntf.cli import ledger

    ledger.show(file, as_json=as_json)


@command.command("verify")
@click.argument("file", type=FILE)
@click.option(
    "--head",
    metavar="HASH",
    help="The head after an earlier run, kept elsewhere: must be in the chain, or else the file "
    "was set back.",
)
@as_json
@quiet
def verify_ledger(file: Path, head: str | None, as_json: bool, quiet: bool) -> None:
    """Recompute every hash and sum of a ledger; say what is wrong, if anything is."""
    from syntf.cli import ledger

    ledger.verify(file, head, as_json=as_json, quiet=quiet)
