"""`syntf ledger`: create, show and verify budgets over all releases."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from syntf.cli import output
from syntf.cli.options import FILE, Command, as_json, option, quiet

if TYPE_CHECKING:
    from syntf.ledger.ledger import Account
    from syntf.ledger.store import Content

LISTED_RUNS = 20
"""Number of runs that `syntf ledger show` prints: the latest."""


@click.group("ledger")
def command() -> None:
    """Budgets over all releases: what every document and author may lose in total."""


@command.command("create", cls=Command)
@click.argument("file", type=FILE)
@option(
    "--budget",
    type=float,
    metavar="LOSS",
    help="Most that a document may lose over all releases. Example: 25.",
)
@option(
    "--author-budget",
    type=float,
    metavar="LOSS",
    help="Most that an author may lose: the losses of all documents by this author add up.",
)
@as_json
@quiet
def create_ledger(
    file: Path, budget: float | None, author_budget: float | None, as_json: bool, quiet: bool
) -> None:
    """Create a ledger for syntf anonymize --ledger. Its budgets cannot be changed later.

    \b
    Example:
      syntf ledger create mails.ledger --budget 25 --author-budget 500
      syntf anonymize mails.csv --author sender --ledger mails.ledger --out out
    """
    from syntf.ledger.ledger import UNIT, Ledger, format_units

    ledger = Ledger.create(file, budget=budget, author_budget=author_budget)
    if as_json:
        budgets = {
            f"{kind}s": None if units is None else {"budget": units / UNIT}
            for kind, units in ledger.budgets.items()
        }
        output.emit({"path": str(file), **budgets, "head": ledger.origin})
    if as_json or quiet:
        return
    for kind, units in ledger.budgets.items():
        limit = "no limit" if units is None else f"at most {format_units(units)} each"
        output.say(f"{kind + 's':<10} {limit}")
    output.say(
        f"Wrote {output.escape(file)}. It is as private as the texts. Store it where only you can "
        "write. Never restore an old copy: it forgets what was spent.",
        wrap=False,
    )


@command.command("show", cls=Command)
@click.argument("file", type=FILE)
@as_json
def show_ledger(file: Path, as_json: bool) -> None:
    """Show what was spent, and what the most charged document and author have left."""
    from syntf.ledger.ledger import Ledger, format_units

    content, accounts = Ledger(file).accounts()
    if as_json:
        output.emit(_record(content, accounts))
        return
    rows = []
    for kind in content.budgets:
        if account := accounts.get(kind):
            charged, left = format_units(account.most_charged, up=True), format_units(account.left)
            rows.append(
                [f"{kind}s", format_units(account.budget), f"{account.names:,}", charged, left]
            )
        else:
            rows.append([f"{kind}s", "no limit", "", "", ""])
    headers = ["", "budget", "known", "most charged", "it has left"]
    output.table(rows, headers, right=range(1, 5), padding=3)
    output.say()
    if content.runs:
        output.table(
            (
                [
                    f"{run.number:,}",
                    output.escape(run.time),
                    f"{run.documents:,}",
                    format_units(run.loss, up=True),
                ]
                for run in content.runs[-LISTED_RUNS:]
            ),
            ["run", "time", "documents", "loss of each"],
            right=(0, 2, 3),
            padding=3,
        )
    else:
        output.say("No runs yet.")
    if len(content.runs) > LISTED_RUNS:
        earlier = len(content.runs) - LISTED_RUNS
        output.say(f"and {earlier:,} earlier runs; --json lists all")
    output.say(f"head {content.head}", wrap=False)


@command.command("verify", cls=Command)
@click.argument("file", type=FILE)
@option(
    "--head",
    metavar="HASH",
    help="Head of the ledger after an earlier run, which you stored elsewhere. If it is not in the "
    "ledger, an old copy was restored.",
)
@as_json
@quiet
def verify_ledger(file: Path, head: str | None, as_json: bool, quiet: bool) -> None:
    """Compute every hash and sum of a ledger again, and compare."""
    from syntf.ledger.ledger import Ledger

    content = Ledger(file).verify(head)
    runs, documents = len(content.runs), sum(run.documents for run in content.runs)
    hashes = [content.origin, *(run.hash for run in content.runs)]
    later = None if head is None else runs - hashes.index(head)
    if as_json:
        output.emit(
            {
                "verified": True,
                "runs": runs,
                "documents": documents,
                "runs_since_head": later,
                "head": content.head,
            }
        )
    if as_json or quiet:
        return
    output.say(f"Nothing was changed. Runs: {runs:,}. Documents charged: {documents:,}.")
    if later is not None:
        output.say(f"The given head is in the ledger; {later:,} runs came after it.")
    else:
        output.say("Only --head can show whether an old copy was restored.")
    output.say(f"head {content.head}", wrap=False)


def _record(content: "Content", accounts: "dict[str, Account]") -> dict[str, object]:
    """Return everything but the key and the names."""
    from syntf.ledger.ledger import UNIT

    return {
        "created": content.created,
        **{
            f"{kind}s": {
                "budget": account.budget / UNIT,
                "known": account.names,
                "most_charged": account.most_charged / UNIT,
                "least_left": account.left / UNIT,
            }
            for kind, account in accounts.items()
        },
        "runs": [
            {
                "number": run.number,
                "time": run.time,
                "named_by": run.named_by,
                "documents": run.documents,
                "loss": run.loss / UNIT,
                "head": run.hash,
            }
            for run in content.runs
        ],
        "head": content.head,
    }
