"""`syntf bounds`: what the settings promise, per word, document and author."""

from typing import TYPE_CHECKING, Any

import click

from syntf.cli import console
from syntf.cli.options import (
    Command,
    as_json,
    option,
    setting_option,
    settings,
    settings_from,
)
from syntf.core.exact import shown, times_up
from syntf.release.report import factor

if TYPE_CHECKING:
    from syntf.rows import Scheme


@click.command("bounds", cls=Command)
@settings
@setting_option("word_loss")
@setting_option("epsilon")
@setting_option("length")
@option(
    "--documents",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    metavar="M",
    help="Documents of one author.",
)
@option(
    "--delta",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="δ",
    help="Also print the smallest ε for a document at this δ.",
)
@as_json
def command(documents: int, delta: float | None, as_json: bool, **options: Any) -> None:
    """Show the losses that a release with these settings promises; no text is needed.

    For --preset paper these are the paper's bounds: standard, improved and tight loss of one word,
    of a document and of an author, and how likely a good substitute is.
    """
    from syntf.rows import build

    chosen = settings_from(options)
    with console.progress(as_json):
        scheme = build(chosen).scheme(None)
    record = _record(scheme, chosen.epsilon, documents, delta)
    if as_json:
        console.emit(record)
        return
    answers = scheme.mechanism.shape[1]
    console.say(f"{scheme.draws:,} draws for each document, from {answers:,} public answers")
    rows = []
    for name, loss in record["loss_per_draw"].items():
        document = times_up(loss, scheme.draws)
        author = times_up(document, documents)
        rows.append([name, shown(loss, 4), shown(document, 2), shown(author, 2), factor(document)])
    headers = [
        "bound, at most", "per draw", "per document", f"author of {documents}", "odds change by",
    ]  # fmt: skip
    console.table(rows, headers, right=range(1, 5))
    if record["kept"] is not None:
        console.say(f"The true answer is kept in {record['kept']:.1%} of draws.")
    if record["needed_epsilon"] is not None:
        console.say(
            "One good substitute in half of all draws needs ε of at least "
            f"{record['needed_epsilon']:.2f}."
        )
    if delta is not None:
        console.say(
            f"At δ = {delta:g}, a document loses at most ε = {record['epsilon_at_delta']:.4g}."
        )


def _record(
    scheme: "Scheme", epsilon: float | None, documents: int, delta: float | None
) -> dict[str, Any]:
    """Return everything that is printed."""
    from syntf.mechanism.response import ResponseMechanism
    from syntf.privacy import bounds, pair

    mechanism, answers = scheme.mechanism, scheme.mechanism.shape[1]
    losses = {"tight (promised)": mechanism.loss}
    kept = needed = at_delta = None
    if epsilon is not None:
        losses = {
            "standard": bounds.standard_loss(epsilon),
            "improved": bounds.improved_loss(epsilon, answers),
            **losses,
        }
        needed = bounds.necessary_epsilon(0.5, 1, answers - 1)
    if isinstance(mechanism, ResponseMechanism):
        kept = float(mechanism.keep_probability)
        if delta is not None:
            at_delta = pair.epsilon_at(mechanism, scheme.draws, delta)
    elif delta is not None:
        at_delta = times_up(mechanism.loss, scheme.draws)
    return {
        "draws": scheme.draws,
        "answers": answers,
        "loss_per_draw": losses,
        "loss_per_document": times_up(mechanism.loss, scheme.draws),
        "loss_per_author": times_up(times_up(mechanism.loss, scheme.draws), documents),
        "documents": documents,
        "kept": kept,
        "needed_epsilon": needed,
        "epsilon_at_delta": at_delta,
    }
