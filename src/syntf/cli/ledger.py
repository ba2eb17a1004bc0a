"""`syntf ledger`: create and show budgets over all releases, and cancel a run."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from syntf.cli import console
from syntf.cli.options import FILE, Command, as_json, option
from syntf.ledger import Ledger

LISTED_RUNS = 20
"""Number of runs that `syntf ledger show` prints: the latest."""


@click.group("ledger")
def command() -> None:
    """Budgets over all releases: what every document and author may lose in total."""


@command.command("create", cls=Command)
@click.argument("file", type=FILE)
@option("--budget", type=float, metavar="LOSS", help="Most that a document may lose in all.")
@option(
    "--author-budget",
    type=float,
    metavar="LOSS",
    help="Most that an author may lose: the losses of all documents by this author add up.",
)
@option(
    "--delta", type=float, default=0.0, metavar="δ",
    help="Most δ that each may be charged in all; releases of rows need none.",
)  # fmt: skip
def create(file: Path, budget: float | None, author_budget: float | None, delta: float) -> None:
    """Create a ledger for --ledger. Its budgets cannot be changed later.

    \b
    Example:
      syntf ledger create mails.ledger --budget 25 --author-budget 500
      syntf anonymize mails.csv --author sender --ledger mails.ledger --out out
    """
    Ledger.create(file, document=budget, author=author_budget, delta=delta)
    console.say(
        f"Wrote {console.escape(file)}. It is as private as the texts. Store it where only you can "
        "write. Never restore an old copy: it forgets what was spent."
    )


@command.command("show", cls=Command)
@click.argument("file", type=FILE)
@as_json
def show(file: Path, as_json: bool) -> None:
    """Show what was spent, and what the most charged document and author have left."""
    ledger = Ledger(file)
    accounts, runs = ledger.summary(), ledger.runs()
    if as_json:
        console.emit(
            {
                "accounts": {kind: _record(account) for kind, account in accounts.items()},
                "runs": [_record(run) for run in runs],
            }
        )
        return
    console.table(
        (
            [f"{kind}s", f"{one.budget:f}", f"{one.names:,}", f"{one.largest_loss:f}",
             f"{one.budget - one.largest_loss:f}"]
            for kind, one in accounts.items()
        ),
        ["", "budget", "known", "most charged", "it has left"],
        right=range(1, 5),
    )  # fmt: skip
    console.say()
    for run in runs[-LISTED_RUNS:]:
        state = f"cancelled {run.cancelled}" if run.cancelled else f"loss {run.loss:f} each"
        note = console.escape(run.note)
        console.say(f"run {run.number}  {run.time}  {run.documents:,} documents  {state}  {note}")
    if len(runs) > LISTED_RUNS:
        console.say(f"… and {len(runs) - LISTED_RUNS:,} earlier runs; see --json")
    if not runs:
        console.say("No runs yet.")


@command.command("cancel", cls=Command)
@click.argument("file", type=FILE)
@click.argument("run", type=int)
def cancel(file: Path, run: int) -> None:
    """Give back what RUN was charged, because it released nothing.

    Nobody can check this. If anybody may have seen the release, do not cancel its run.
    """
    done = Ledger(file).cancel(run)
    console.say(f"Run {done.number} no longer counts: {done.documents:,} documents.")


def _record(one: object) -> dict[str, Any]:
    """Return the fields of an account or a run for JSON; amounts are texts, which are exact."""
    return {
        name: str(value) if isinstance(value, Decimal) else value
        for name, value in vars(one).items()
    }
