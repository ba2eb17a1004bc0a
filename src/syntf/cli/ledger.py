"""`syntf ledger`: budgets over all releases, made, shown and verified."""

from pathlib import Path

from rich.markup import escape
from rich.table import Table

from syntf.cli import console
from syntf.ledger.ledger import UNIT, Account, Ledger, format_units
from syntf.ledger.store import Content

SHOWN = 20
"""Runs that are listed for people: the last ones."""


def create(
    file: Path,
    budget: float | None,
    author_budget: float | None,
    *,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    ledger = Ledger.create(file, budget=budget, author_budget=author_budget)
    if as_json:
        budgets = {
            f"{kind}s": None if units is None else {"budget": units / UNIT}
            for kind, units in ledger.budgets.items()
        }
        console.emit({"path": str(file), **budgets, "head": ledger.origin})
    if as_json or quiet:
        return
    for kind, units in ledger.budgets.items():
        limit = "no limit" if units is None else f"at most {format_units(units)}"
        console.out.print(
            f"{kind + 's':<10} {limit}" + ("" if units is None else " each, for good")
        )
    console.out.print(
        f"Wrote {escape(str(file))}. Keep it as private as the texts, where only you can write, "
        "and never copy it back.",
        soft_wrap=True,
    )


def show(file: Path, *, as_json: bool) -> None:
    content, accounts = Ledger(file).accounts()
    if as_json:
        console.emit(_record(content, accounts))
        return
    table = Table(box=None, padding=(0, 3, 0, 0))
    for name in ("", "budget", "known", "most charged", "it has left"):
        table.add_column(name, justify="right" if name else "left")
    for kind in content.budgets:
        if kind in accounts:
            account = accounts[kind]
            table.add_row(
                f"{kind}s",
                format_units(account.budget),
                f"{account.names:,}",
                format_units(account.most_charged, up=True),
                format_units(account.left),
            )
        else:
            table.add_row(f"{kind}s", "no limit", "", "", "")
    console.show(table)
    console.out.print()
    runs = Table(box=None, padding=(0, 3, 0, 0))
    for name in ("run", "time", "documents", "loss of each"):
        runs.add_column(name, justify="left" if name == "time" else "right")
    for run in content.runs[-SHOWN:]:
        runs.add_row(
            f"{run.number:,}",
            escape(run.time),
            f"{run.documents:,}",
            format_units(run.loss, up=True),
        )
    if content.runs:
        console.show(runs)
    if len(content.runs) > SHOWN:
        console.out.print(f"and {len(content.runs) - SHOWN:,} earlier runs (--json has them all)")
    if not content.runs:
        console.out.print("No runs yet.")
    console.out.print(f"head {content.head}", soft_wrap=True)


def verify(file: Path, head: str | None, *, as_json: bool = False, quiet: bool = False) -> None:
    content = Ledger(file).verify(head)
    runs, documents = len(content.runs), sum(run.documents for run in content.runs)
    hashes = [content.origin, *(run.hash for run in content.runs)]
    since = None if head is None else runs - hashes.index(head)
    if as_json:
        console.emit(
            {
                "verified": True,
                "runs": runs,
                "documents": documents,
                "runs_since_head": since,
                "head": content.head,
            }
        )
    if as_json or quiet:
        return
    console.out.print(f"All {runs:,} runs, over {documents:,} documents, are as they were written.")
    if since is not None:
        console.out.print(f"The head given is in the chain; {since:,} runs came after it.")
    else:
        console.out.print("Whether it was set back to an earlier state, only --head can tell.")
    console.out.print(f"head {content.head}", soft_wrap=True)


def _record(content: Content, accounts: dict[str, Account]) -> dict[str, object]:
    """All of it but the key and the names."""
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
