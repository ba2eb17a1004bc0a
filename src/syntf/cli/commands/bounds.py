"""`syntf bounds`: the privacy loss that settings cost."""

from collections.abc import Sequence
from dataclasses import asdict
from math import exp, log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syntf.cli import output
from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import (
    FILE,
    as_json,
    device,
    no_progress,
    option,
    setting_options,
    settings_from,
)

if TYPE_CHECKING:
    from syntf.pipeline.settings import Settings
    from syntf.privacy.accounting import Account
    from syntf.privacy.guarantee import Guarantee


@click.command("bounds", cls=ConfiguredCommand)
@setting_options("preset", "document_loss", "codebook", "loss", "epsilon", "neighbours", "length")
@option(
    "--documents",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Documents by one author, for the loss of the author.",
)
@option(
    "--delta",
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    help="Also show the smaller ε that holds except with this probability. Example: 1e-6.",
)
@device
@setting_options("language")
@setting_options("spelling", "morphology", "vocabulary", "max_size", "synsets", "vectors")
@option("--figures", type=FILE, metavar="DIR", help="Draw the bounds as PNG and SVG files.")
@as_json
@no_progress
def command(
    documents: int,
    figures: Path | None,
    delta: float | None,
    device: str,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Show the privacy loss of some settings: per document and author, and per word.

    \b
    Examples:
      syntf bounds --document-loss 6
      syntf bounds --loss 7 --length 60
    """
    from syntf.pipeline.anonymizer import Anonymizer
    from syntf.privacy import accounting

    settings = settings_from(options)
    if settings.unit == "document":
        if figures is not None:
            raise click.UsageError("--figures draws bounds per word: choose --preset words")
        if delta is not None:
            raise click.UsageError(
                "--delta lowers nothing for whole documents, each of which is one draw: leave it "
                "out, or choose --preset words"
            )
        _show_document(settings, documents, as_json)
        return
    gpu = None if device == "cpu" else device
    with output.progress(quiet) as stages:
        anonymizer = Anonymizer.build(settings, device=gpu, stages=stages)
        mechanism, length = anonymizer.mechanism, settings.length
        accounts = None
        if delta is not None:
            accounts = accounting.accounts(
                mechanism, [length, length * documents], delta, device=gpu, stages=stages
            )
    guarantee = anonymizer.guarantee()
    if as_json:
        output.emit(_record(guarantee, documents, delta, accounts))
    else:
        _show_losses(guarantee, documents)
        if delta is not None and accounts is not None:
            _show_accounts(accounts, guarantee.length, documents, delta)
            if device == "cpu" and not accounting.compares_all_pairs(mechanism):
                output.say(
                    f"Comparing all pairs of {mechanism.shape[0]:,} rows needs --device cuda."
                )
    if figures is not None:
        _draw(guarantee, figures)
        if not as_json:
            output.say(f"Figures written to {output.escape(figures)}", wrap=False)


def _show_document(settings: "Settings", documents: int, as_json: bool) -> None:
    """Print what a whole document and an author lose, and how often the best topic is kept.

    A δ would not help: a document is one draw, so its worst outcome is also a common one.
    """
    from syntf.core.exact import shown
    from syntf.pipeline.document import DocumentAnonymizer
    from syntf.privacy.bounds import document_loss

    anonymizer = DocumentAnonymizer.build(settings)
    mechanism = anonymizer.mechanism(None)
    kept = float(mechanism.response(mechanism.general).keep_probability)
    author = document_loss(anonymizer.loss, documents)
    if as_json:
        record = {
            "unit": "document",
            "loss_per_document": anonymizer.loss,
            "loss_per_author": author,
            "documents": documents,
            "answers": mechanism.general.answers,
            "kept": kept,
        }
        output.emit(record)
        return
    rows = [
        [name, shown(loss, 2), _factor(loss)]
        for name, loss in (
            ("a document", anonymizer.loss),
            (f"an author of {documents} documents", author),
        )
    ]
    headers = ["what is released", "loss, at most", "changes odds by at most"]
    output.table(rows, headers, right=(1, 2))
    near = mechanism.encoder.codebook.is_near
    pilot = "" if near else " A pilot adapts the answers to a large file."
    output.say(
        f"One of {mechanism.general.answers:,} public answers is released; the best one in "
        f"{kept:.1%} of draws.{pilot}"
    )


def _factor(loss: float) -> str:
    """Return e to the power of a loss, or how many digits that number has."""
    digits = int(loss / log(10)) + 1
    return f"{exp(loss):,.0f}" if digits <= 12 else f"a number of {digits:,} digits"


def _show_losses(guarantee: "Guarantee", documents: int) -> None:
    from syntf.core.exact import shown
    from syntf.privacy import bounds

    losses, length, size = guarantee.word_losses, guarantee.length, guarantee.vocabulary_size
    output.say(f"ε = {guarantee.epsilon:g}, {guarantee.input_size:,} inputs, {size:,} outputs")
    rows = [
        [
            name,
            shown(loss, 4),
            shown(bounds.document_loss(loss, length), 2),
            shown(bounds.author_loss(loss, length, documents), 2),
        ]
        for name, loss in (
            ("standard", losses.standard),
            ("improved", losses.improved),
            ("tight (promised)", losses.tight),
        )
    ]
    output.table(rows, ["bound", "per word", *_units(length, documents)], right=range(1, 4))
    good = guarantee.neighbours or 1
    needed = bounds.necessary_epsilon(0.5, good, size - good)
    substitute = "One good substitute" if good == 1 else f"One of {good} good substitutes"
    output.say(f"{substitute} in half of all draws needs ε of at least {needed:.2f}.")
    if guarantee.neighbours is not None:
        chance, _ = bounds.utility_bounds(guarantee.epsilon, good, size - good, gap=1.0)
        nearest = "its nearest" if good == 1 else f"one of its {good} nearest"
        output.say(f"A word is replaced by {nearest} in {chance:.1%} of draws.")


def _show_accounts(
    accounts: Sequence["Account"], length: int, documents: int, delta: float
) -> None:
    """Print n·ℓ, then the methods that give a smaller ε for a document or an author."""
    pure, *others = accounts
    smaller = [account for account in others if _epsilons(account) != _epsilons(pure)]
    rows = [[f"{pure.method}, at δ = 0", *_epsilons(pure)]]
    rows += [[account.method, *_epsilons(account)] for account in smaller]
    output.say()
    headers = [f"ε at δ = {delta:g}", *_units(length, documents)]
    output.table(rows, headers, right=range(1, 3))
    if not smaller:
        output.say("No method gives an ε smaller than n·ℓ for these rows.")


def _epsilons(account: "Account") -> list[str]:
    from syntf.core.exact import shown

    return [shown(each.epsilon, 2) for each in account.epsilons]


def _units(length: int, documents: int) -> tuple[str, str]:
    return f"document of {length}", f"author of {documents} documents"


def _record(
    guarantee: "Guarantee",
    documents: int,
    delta: float | None,
    accounts: Sequence["Account"] | None,
) -> dict[str, object]:
    """Return everything that is printed, under the keys of ``guarantee.json`` where it has them."""
    from syntf.privacy import bounds

    losses, length = asdict(guarantee.word_losses), guarantee.length
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


def _draw(guarantee: "Guarantee", folder: Path) -> None:
    from syntf.evaluation import bound_figures
    from syntf.evaluation.figures import save_figures

    folder.mkdir(parents=True, exist_ok=True)
    tight = guarantee.word_losses.tight
    figures = {
        "loss-bounds": bound_figures.loss_bounds(guarantee.epsilon, tight),
        "necessary-epsilon": bound_figures.necessary_epsilon(),
    }
    save_figures(folder, figures)
