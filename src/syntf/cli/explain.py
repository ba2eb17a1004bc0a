"""`syntf explain`: what a text, or a word, becomes. Nothing is drawn or charged."""

from itertools import combinations
from typing import Any

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
from syntf.core.exact import shown


@click.command("explain", cls=Command)
@click.argument("words", nargs=-1, metavar="WORD...")
@option("--text", metavar="TEXT", help="A whole text, in quotes.")
@option("--top", type=click.IntRange(1), default=10, show_default=True, help="Answers to show.")
@as_json
@settings
@setting_option("word_loss")
@setting_option("epsilon")
def command(
    words: tuple[str, ...], text: str | None, top: int, as_json: bool, **options: Any
) -> None:
    """Show the answers that are most likely for a text, or for each WORD by itself.

    \b
    Examples:
      syntf explain --text "Why did you remove the evening bus?"
      syntf explain --preset paper doctor nurse
    """
    if not words and text is None:
        raise click.UsageError("Give words, or a text by --text.")
    if text is not None and words:
        raise click.UsageError("Give words or --text, not both.")
    from syntf.rows import build

    if words and options["preset"] is None:
        options["preset"] = "words"
    chosen = settings_from(options)
    with console.progress(as_json):
        rows = build(chosen)
        found = [explain(rows, each, top) for each in (words or (str(text),))]
    if as_json:
        console.emit({"explained": [_without_chances(one) for one in found]})
        return
    for one in found:
        name = "The text" if text is not None else console.escape(one["input"])
        if not one["known"]:
            console.say(f"[bold]{name}[/] has no known word, or stop words alone.")
        _show(name, one)
    if len(found) > 1:
        _compare(found)


def explain(rows: Any, text: str, top: int) -> dict[str, Any]:
    """Return the probability of the most likely answers of a draw for a text.

    Where draws have different targets, this is the mean over the draws.
    """
    import numpy as np
    import polars as pl

    scheme = rows.scheme(None)
    encoded = rows.encode(pl.Series([text]))
    targets, times = np.unique(scheme.find_targets(encoded)[0], return_counts=True)
    weights = np.array([scheme.mechanism.weights(int(target)) for target in targets])
    chances = times @ (weights / scheme.mechanism.total) / scheme.draws
    best = np.argsort(-chances, kind="stable")[:top]
    answers = []
    for answer in best.tolist():
        counts = scheme.counts(np.array([[answer]]))
        order = np.argsort(-counts.data, kind="stable")
        answers.append(
            {
                "name": scheme.names[answer],
                "chance": float(chances[answer]),
                "words": {scheme.terms[counts.indices[at]]: int(counts.data[at]) for at in order},
            }
        )
    return {
        "input": text,
        "known": not bool(rows.unknown(encoded)[0]),
        "draws": scheme.draws,
        "loss_per_draw": scheme.mechanism.loss,
        "answers": answers,
        "others": {"answers": len(chances) - len(best), "chance": float(1 - chances[best].sum())},
        "chances": chances,
    }


def _without_chances(one: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if name != "chances"}


def _show(name: str, one: dict[str, Any]) -> None:
    draws = "the only draw" if one["draws"] == 1 else f"a mean of {one['draws']} draws"
    console.say(f"[bold]{name}[/]: {draws}")
    best = one["answers"][0]["chance"]
    rows = []
    for answer in one["answers"]:
        bar = "█" * max(1, round(20 * answer["chance"] / best))
        rows.append([console.escape(answer["name"]), f"{answer['chance']:.2%}", bar])
    others = one["others"]
    rows.append([f"any of {others['answers']:,} others", f"{others['chance']:.2%}", ""])
    console.table(rows)
    words = one["answers"][0]["words"]
    if len(words) > 1:
        listed = ", ".join(f"{word} {count}" for word, count in words.items())
        console.say(f"Released words of the first: {console.escape(listed)}")


def _compare(found: list[dict[str, Any]]) -> None:
    """Say how well one draw tells two inputs apart."""
    import numpy as np

    for first, second in combinations(found, 2):
        p, q = first["chances"], second["chances"]
        loss = float(np.abs(np.log(p) - np.log(q)).max())
        guessed = (1 + float(np.abs(p - q).sum()) / 2) / 2
        names = " and ".join(console.escape(one["input"]) for one in (first, second))
        console.say(
            f"{names}: one draw changes their odds by a loss of at most {shown(loss, 2)}; the best "
            f"guess from it is right in {guessed:.1%} of cases"
        )
