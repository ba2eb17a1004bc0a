"""`syntf explain`: what the mechanism makes of a word."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from syntf.anonymizer import Anonymizer, Settings
from syntf.arithmetic import shown
from syntf.cli import console
from syntf.errors import SyntfError


def run(words: Sequence[str], settings: Settings, top: int) -> None:
    with console.progress() as stages:
        anonymizer = Anonymizer.build(settings, stages=stages)
    rows = {}
    for word in dict.fromkeys(words):
        term = anonymizer.term(word)
        if term is None:
            console.out.print(
                f"[bold]{escape(word)}[/]: left out of documents (unknown, or a stop word)\n"
            )
        else:
            rows[word] = probabilities(anonymizer, term)
            _show(word, anonymizer, term, rows[word], top)
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
    for index in np.argsort(-chances, kind="stable")[:top]:
        bar = "█" * round(40 * chances[index] / chances.max())
        table.add_row(escape(outputs[index]), f"{chances[index]:.2%}", bar)
    if top < len(outputs):
        others = np.sort(chances)[: len(outputs) - top].sum()
        table.add_row(f"any of {len(outputs) - top:,} others", f"{others:.2%}")
    console.out.print(table)


def _compare(one: str, other: str, p: NDArray[np.float64], q: NDArray[np.float64]) -> None:
    """How far the outputs of two words can be told apart."""
    largest = np.abs(np.log(p) - np.log(q)).max()
    advantage = np.abs(p - q).sum() / 2
    console.out.print(
        f"[bold]{escape(one)}[/] and [bold]{escape(other)}[/]: one drawn word tells them apart "
        f"by a loss of at most {shown(largest, 2)}; the best guess from it is right in "
        f"{(1 + advantage) / 2:.1%} of cases"
    )
