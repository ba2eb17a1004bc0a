"""Draw docs/how-it-works.svg: one document on its way through the mechanism, with real figures.

python tools/draw_picture.py [FILE]
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
    "Could the library open its reading room later? My bus only reaches the town after four, "
    "and the library closes at five."
)
WORD = "library"
INK, SOFT, HUE = "#1f2933", "#52606d", "#2f6f8f"


def heading(axes: Axes, title: str, note: str) -> None:
    axes.set_axis_off()
    axes.text(0, 1.10, title, fontsize=10.5, weight="bold", color=INK, transform=axes.transAxes)
    axes.text(0, -0.04, fill(note, 35), fontsize=7.5, color=SOFT, va="top",
              transform=axes.transAxes)  # fmt: skip


def bars(axes: Axes, names: list[str], values: list[float], labels: list[str]) -> None:
    places = [-float(i) for i in range(len(names))]
    axes.barh(places, values, color=HUE, height=0.62)
    axes.set_xlim(0, max(values) * 1.5)
    axes.set_ylim(-6.5, 0.5)
    for place, name, value, label in zip(places, names, values, labels, strict=True):
        axes.text(-0.03 * max(values), place, name, ha="right", va="center", fontsize=8, color=INK)
        axes.text(value + 0.03 * max(values), place, label, va="center", fontsize=8, color=INK)


def main(path: str) -> None:
    anonymizer = Anonymizer.build(Settings.from_preset(), source=Seeded(1))
    outputs = anonymizer.vocabulary.outputs
    found = [anonymizer.term(token) for token in tokenize(TEXT)]
    known_terms = [term for term in found if term is not None]
    assert anonymizer.weights is not None
    shares = {
        term: known_terms.count(term) * float(anonymizer.weights[term]) for term in known_terms
    }
    term = anonymizer.term(WORD)
    assert term is not None
    chances = anonymizer.mechanism.weights(term) / anonymizer.mechanism.total
    counts = anonymizer.anonymize([TEXT]).toarray()[0]

    figure = Figure(figsize=(11.5, 3.2))
    panels = figure.subplots(1, 4, gridspec_kw={"wspace": 0.62, "width_ratios": [1.15, 1, 1, 1]})
    figure.subplots_adjust(left=0.02, right=0.985, top=0.84, bottom=0.24)
    document, composition, row, release = panels

    heading(document, "1  A private document", "Stays with its owner.")
    document.text(0, 0.96, fill(TEXT, 30), fontsize=9, va="top", color=INK, style="italic",
                  transform=document.transAxes, linespacing=1.5)  # fmt: skip

    distinct = sorted(shares, key=lambda term: -shares[term])[:7]
    names = [anonymizer.vocabulary.inputs[term] for term in distinct]
    total = sum(shares.values())
    bars(composition, names, [shares[t] / total for t in distinct], [""] * len(distinct))
    heading(
        composition,
        "2  Its composition θ",
        "Words that name a topic, rare ones rather than common ones; others hardly count.",
    )

    best = int(np.argmax(chances))
    names = [outputs[best], "any other"]
    values = [float(chances[best]), 1 - float(chances[best])]
    bars(row, names, values, [f"{value:.0%}" for value in values])
    heading(
        row,
        f"3  A draw for “{WORD}”",
        f"The nearest of {len(outputs):,} public words, or any, all alike. No word can shift the "
        f"odds between two documents by more than e^ℓ, ℓ = {anonymizer.mechanism.loss:.2f}.",
    )

    top = np.argsort(-counts, kind="stable")[:7].tolist()
    bars(release, [outputs[i] for i in top], [int(counts[i]) for i in top],
         [str(counts[i]) for i in top])  # fmt: skip
    length = anonymizer.settings.length
    heading(
        release,
        "4  The release: counts",
        f"Always {length} words, here the most frequent. Loss of the document: {length}·ℓ.",
    )
    figure.savefig(path, transparent=False, dpi=140)


if __name__ == "__main__":
    main(*(sys.argv[1:] or [str(Path(__file__).parent.parent / "docs" / "how-it-works.svg")]))
