"""Draw docs/how-it-works.svg: one document on its way through the mechanism, with real figures.

    python tools/draw_picture.py [FILE]

Prints the released words as README.md shows them. The draws use a fixed seed, so that picture and
README can be made again.
"""

import sys
from pathlib import Path
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from syntf.core.entropy import Seeded
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.text.tokenizer import tokenize

TEXT = (
    "I have an old wardrobe and a matress for the bulky collection. Can you pick them up tommorow "
    "or next week? They are allready in the yard becuase we are moving."
)
"""The second message of the example corpus."""
WORD = "wardrobe"
PICTURE = Path(__file__).parent.parent / "docs" / "how-it-works.svg"
INK, SOFT, HUE = "#1f2933", "#52606d", "#2f6f8f"


def example() -> tuple[Anonymizer, list[tuple[str, int]]]:
    """Anonymise the text; return the anonymizer and the released words, most frequent first."""
    anonymizer = Anonymizer.build(Settings.from_preset(), source=Seeded(1))
    counts = anonymizer.anonymize([TEXT]).toarray()[0]
    order = np.argsort(-counts, kind="stable")
    return anonymizer, [
        (anonymizer.vocabulary.outputs[i], int(counts[i])) for i in order if counts[i] > 0
    ]


def heading(axes: Axes, title: str, note: str) -> None:
    """Write a title above a panel and a note below it."""
    axes.set_axis_off()
    axes.text(0, 1.10, title, fontsize=10.5, weight="bold", color=INK, transform=axes.transAxes)
    axes.text(0, -0.04, fill(note, 35), fontsize=7.5, color=SOFT, va="top",
              transform=axes.transAxes)  # fmt: skip


def bars(axes: Axes, names: list[str], values: list[float], labels: list[str]) -> None:
    """Draw horizontal bars with a name on the left and a label on the right."""
    places = [-float(i) for i in range(len(names))]
    axes.barh(places, values, color=HUE, height=0.62)
    axes.set_xlim(0, max(values) * 1.5)
    axes.set_ylim(-6.5, 0.5)
    for place, name, value, label in zip(places, names, values, labels, strict=True):
        axes.text(-0.03 * max(values), place, name, ha="right", va="center", fontsize=8, color=INK)
        axes.text(value + 0.03 * max(values), place, label, va="center", fontsize=8, color=INK)


def main(path: str) -> None:
    anonymizer, released = example()
    outputs = anonymizer.vocabulary.outputs
    length = anonymizer.settings.length
    terms = [term for token in tokenize(TEXT) if (term := anonymizer.term(token)) is not None]
    weight = anonymizer.weights
    shares = {
        term: terms.count(term) * (1.0 if weight is None else float(weight[term])) for term in terms
    }
    term = anonymizer.term(WORD)
    assert term is not None
    chances = anonymizer.mechanism.weights(term) / anonymizer.mechanism.total

    figure = Figure(figsize=(11.5, 3.2))
    panels = figure.subplots(1, 4, gridspec_kw={"wspace": 0.62, "width_ratios": [1.15, 1, 1, 1]})
    figure.subplots_adjust(left=0.02, right=0.985, top=0.84, bottom=0.24)
    document, composition, row, release = panels

    heading(document, "1  A private document", "It stays with its owner.")
    document.text(0, 0.96, fill(TEXT, 30), fontsize=9, va="top", color=INK, style="italic",
                  transform=document.transAxes, linespacing=1.5)  # fmt: skip

    largest = sorted(shares, key=lambda term: -shares[term])[:7]
    names = [anonymizer.vocabulary.inputs[term] for term in largest]
    total = sum(shares.values())
    bars(composition, names, [shares[t] / total for t in largest], [""] * len(largest))
    heading(
        composition,
        "2  Its known words",
        "Each bar is a word's share of the document. Stop words and unknown words are left out.",
    )

    best = int(np.argmax(chances))
    values = [float(chances[best]), 1 - float(chances[best])]
    labels = [f"{value:.0%}" for value in values]
    bars(row, [outputs[best], "any other"], values, labels)
    heading(
        row,
        f"3  A draw for “{WORD}”",
        f"{length} words are picked and replaced like this, by one of {len(outputs):,} public "
        f"words. One word changes the odds by at most e^{anonymizer.mechanism.loss:.3g}.",
    )

    shown = released[:7]
    bars(release, [word for word, _ in shown], [count for _, count in shown],
         [str(count) for _, count in shown])  # fmt: skip
    heading(
        release,
        "4  The released counts",
        f"The most frequent of the {length} new words, with their counts.",
    )
    figure.savefig(path, transparent=False, dpi=140, metadata={"Date": None})
    print(", ".join(f"{word} {count}" for word, count in released[:13]) + ", …")


if __name__ == "__main__":
    main(*(sys.argv[1:] or [str(PICTURE)]))
