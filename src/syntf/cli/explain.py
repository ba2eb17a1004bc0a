"""`syntf explain`: what the mechanism makes of a word."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from syntf.cli import console
from syntf.core.errors import SyntfError
from syntf.core.exact import shown
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings


def run(
    words: Sequence[str],
    settings: Settings,
    top: int,
    *,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    with console.progress(quiet) as stages:
        anonymizer = Anonymizer.build(settings, stages=stages)
    terms = {word: anonymizer.term(word) for word in words}
    rows = {
        word: probabilities(anonymizer, term) for word, term in terms.items() if term is not None
    }
    if as_json and rows:
        console.emit(_record(anonymizer, terms, rows, top))
        return
    for word, term in terms.items():
        if term is not None:
            _show(word, anonymizer, term, rows[word], top)
        elif not as_json:
            console.out.print(
                f"[bold]{escape(word)}[/]: left out of documents (unknown, or a stop word)\n"
            )
    if not rows:
        raise SyntfError("none of these words is known to the vocabulary: nothing to explain")
    for one, other in combinations(rows, 2):
        _compare(one, other, rows[one], rows[other])
    console.out.print(
        f"Loss per word: {shown(anonymizer.mechanism.loss, 4)}, the most any two can differ"
    )


def probabilities(anonymizer: Anonymizer, term: int) -> NDArray[np.float64]:
    """The chance of each output, from the integer weights."""
    return anonymizer.mechanism.weights(term) / anonymizer.mechanism.total


def _show(
    word: str, anonymizer: Anonymizer, term: int, chances: NDArray[np.float64], top: int
) -> None:
    outputs = list(anonymizer.vocabulary.outputs)
    own = anonymizer.vocabulary.inputs[term]
    stays = f"{chances[outputs.index(own)]:.2%}" if own in outputs else "never (not an output)"
    taken = "" if own == word else f", read as {escape(own)}"
    console.out.print(f"[bold]{escape(word)}[/]{taken}: stays itself {stays}")
    table = Table(box=None, padding=(0, 2, 0, 2), show_header=False)
    longest = min(40, max(4, console.out.width - 40))
    for index in np.argsort(-chances, kind="stable")[:top]:
        bar = "█" * round(longest * chances[index] / chances.max())
        table.add_row(escape(outputs[index]), f"{chances[index]:.2%}", bar)
    if top < len(outputs):
        others = np.sort(chances)[: len(outputs) - top].sum()
        table.add_row(f"any of {len(outputs) - top:,} others", f"{others:.2%}")
    console.show(table)


def _compare(one: str, other: str, p: NDArray[np.float64], q: NDArray[np.float64]) -> None:
    largest, right = told_apart(p, q)
    console.out.print(
        f"[bold]{escape(one)}[/] and [bold]{escape(other)}[/]: one drawn word tells them apart "
        f"by a loss of at most {shown(largest, 2)}; the best guess from it is right in "
        f"{right:.1%} of cases"
    )


def told_apart(p: NDArray[np.float64], q: NDArray[np.float64]) -> tuple[float, float]:
    """The largest loss between two words, and how often the best guess from one draw is right."""
    largest = np.abs(np.log(p) - np.log(q)).max()
    return float(largest), float((1 + np.abs(p - q).sum() / 2) / 2)


def _record(
    anonymizer: Anonymizer,
    terms: Mapping[str, int | None],
    rows: Mapping[str, NDArray[np.float64]],
    top: int,
) -> dict[str, Any]:
    """The same for programs; a word that is left out of documents has no `term`."""
    outputs = list(anonymizer.vocabulary.outputs)
    words: list[dict[str, Any]] = []
    for word, term in terms.items():
        if term is None:
            words.append({"word": word, "term": None})
            continue
        own, chances = anonymizer.vocabulary.inputs[term], rows[word]
        best = np.argsort(-chances, kind="stable")
        words.append(
            {
                "word": word,
                "term": own,
                "stays": float(chances[outputs.index(own)]) if own in outputs else None,
                "substitutes": [
                    {"term": outputs[index], "chance": float(chances[index])}
                    for index in best[:top]
                ],
                "others": {
                    "terms": len(best[top:]),
                    "chance": float(np.sort(chances)[: len(best[top:])].sum()),
                },
            }
        )
    pairs = []
    for one, other in combinations(rows, 2):
        loss, right = told_apart(rows[one], rows[other])
        pairs.append({"words": [one, other], "loss": loss, "best_guess": right})
    losses = asdict(anonymizer.guarantee().loss_per_word)
    return {"loss_per_word": losses, "words": words, "pairs": pairs}
