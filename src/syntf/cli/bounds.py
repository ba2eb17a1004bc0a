"""`syntf bounds`: what given parameters cost."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from syntf.cli import console
from syntf.core.exact import shown
from syntf.evaluation import bound_figures
from syntf.evaluation.figures import save_figures
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.privacy import accounting, bounds
from syntf.privacy.accounting import Account
from syntf.privacy.guarantee import Guarantee


def run(
    settings: Settings,
    documents: int,
    folder: Path | None,
    delta: float | None = None,
    device: str = "cpu",
    *,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    own = None if device == "cpu" else device
    with console.progress(quiet) as stages:
        anonymizer = Anonymizer.build(settings, device=own, stages=stages)
        mechanism, length = anonymizer.mechanism, settings.length
        accounts = None
        if delta is not None:
            accounts = accounting.accounts(
                mechanism, [length, length * documents], delta,
                device=own, stages=stages,
            )  # fmt: skip
    guarantee = anonymizer.guarantee()
    if as_json:
        console.emit(_record(guarantee, documents, delta, accounts))
    else:
        _losses(guarantee, documents)
        if delta is not None and accounts is not None:
            _accounts(accounts, guarantee.length, documents, delta)
            if device == "cpu" and not accounting.compares_all_pairs(mechanism):
                rows = f"{mechanism.shape[0]:,} rows"
                console.out.print(f"All pairs of {rows} are compared with --device cuda only.")
    if folder is not None:
        _draw(guarantee, folder)
        if not as_json:
            console.out.print(f"Figures written to {escape(str(folder))}", soft_wrap=True)


def _losses(guarantee: Guarantee, documents: int) -> None:
    losses, length = guarantee.loss_per_word, guarantee.length
    table = _table("bound", "per word", *_units(length, documents))
    for name, loss in (
        ("standard", losses.standard),
        ("improved", losses.improved),
        ("tight (promised)", losses.tight),
    ):
        table.add_row(
            name,
            shown(loss, 4),
            shown(bounds.document_loss(loss, length), 2),
            shown(bounds.author_loss(loss, length, documents), 2),
        )
    size = guarantee.vocabulary_size
    console.out.print(
        f"ε = {guarantee.epsilon:g}, {guarantee.input_size:,} inputs, {size:,} outputs"
    )
    console.show(table)
    good = guarantee.neighbours or 1
    needed = bounds.necessary_epsilon(0.5, good, size - good)
    one = "One good substitute" if good == 1 else f"One of {good} good substitutes"
    console.out.print(f"{one} in half of all draws needs ε of at least {needed:.2f}.")
    if guarantee.neighbours is not None:
        chance, _ = bounds.utility_bounds(guarantee.epsilon, good, size - good, gap=1.0)
        nearest = "its nearest" if good == 1 else f"one of its {good} nearest"
        console.out.print(f"A word is replaced by {nearest} in {chance:.1%} of draws.")


def _accounts(accounts: Sequence[Account], length: int, documents: int, delta: float) -> None:
    """n·ℓ, then what is smaller for a document or an author."""
    pure, *others = accounts
    smaller = [account for account in others if _shown(account) != _shown(pure)]
    table = _table(f"ε at δ = {delta:g}", *_units(length, documents))
    table.add_row(f"{pure.method}, at δ = 0", *_shown(pure))
    for account in smaller:
        table.add_row(account.method, *_shown(account))
    console.out.print()
    console.show(table)
    if not smaller:
        console.out.print("Nothing smaller than n·ℓ is known for these rows.")


def _record(
    guarantee: Guarantee, documents: int, delta: float | None, accounts: Sequence[Account] | None
) -> dict[str, object]:
    """All that is printed, for programs, by the keys of ``guarantee.json`` where it has them."""
    losses, length = asdict(guarantee.loss_per_word), guarantee.length
    names = ("mechanism", "epsilon", "neighbours", "input_size", "vocabulary_size", "length")
    record: dict[str, object] = {name: getattr(guarantee, name) for name in names}
    record |= {
        "loss_per_word": losses,
        "loss_per_document": guarantee.loss_per_document,
        "loss_per_author": bounds.author_loss(losses["tight"], length, documents),
        "documents": documents,
        "document_bounds": {k: bounds.document_loss(v, length) for k, v in losses.items()},
        "author_bounds": {k: bounds.author_loss(v, length, documents) for k, v in losses.items()},
    }
    if accounts is not None:
        record["delta"] = delta
        record["accounting"] = [
            {"method": account.method}
            | dict(zip(("document", "author"), map(asdict, account.epsilons), strict=True))
            for account in accounts
        ]
    return record


def _draw(guarantee: Guarantee, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        "loss-bounds": bound_figures.loss_bounds(guarantee.epsilon, guarantee.loss_per_word.tight),
        "necessary-epsilon": bound_figures.necessary_epsilon(),
    }
    save_figures(folder, figures)


def _units(length: int, documents: int) -> tuple[str, str]:
    return f"document of {length}", f"author of {documents} documents"


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), title_justify="left")
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _shown(account: Account) -> list[str]:
    return [shown(each.epsilon, 2) for each in account.epsilons]
