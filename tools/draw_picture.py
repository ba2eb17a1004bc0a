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

from syntf.codebook.integers import nearest
from syntf.codebook.profiles import make_profiles
from syntf.core.entropy import Seeded
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings

TEXT = (
    "If the town wants fewer cars, why remove the evening bus? How are shop workers supposed to "
    "get home after nine? Does anybody in charge of transport actually ride on it?"
)
"""A message of the example corpus."""
PICTURE = Path(__file__).parent.parent / "docs" / "how-it-works.svg"
INK, SOFT, HUE = "#1f2933", "#52606d", "#2f6f8f"


def example() -> tuple[DocumentAnonymizer, str, list[tuple[str, int]]]:
    """Anonymise the text; return the anonymizer, the released topic and its words with counts."""
    anonymizer = DocumentAnonymizer.build(Settings.from_preset("document"), source=Seeded(1))
    drawn = anonymizer.draw_singly(anonymizer.read([TEXT]))
    counts, labels = anonymizer.single.described(drawn)
    columns = np.asarray(counts.indices)
    order = np.argsort(-np.asarray(counts.data), kind="stable")
    words = [(anonymizer.outputs[columns[i]], int(counts.data[i])) for i in order]
    return anonymizer, labels[0], words


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
    anonymizer, label, released = example()
    encoder, mechanism = anonymizer.encoder, anonymizer.mechanism(None)
    encoded = anonymizer.read([TEXT])
    book, words = encoder.codebook, np.asarray(encoded.counts.indices)
    lengths = np.sqrt((np.asarray(encoder.vectors.matrix[words], dtype=float) ** 2).sum(axis=1))
    shares = book.tf[np.asarray(encoded.counts.data)] * book.weight[words] * lengths
    topics = mechanism.general
    near = nearest(encoded.vectors, topics.vectors)
    name = make_profiles(topics, encoder, near).labels[0]
    kept = float(mechanism.response(topics).keep_probability)

    figure = Figure(figsize=(11.5, 3.2))
    panels = figure.subplots(1, 4, gridspec_kw={"wspace": 0.62, "width_ratios": [1.15, 1, 1, 1]})
    figure.subplots_adjust(left=0.02, right=0.985, top=0.84, bottom=0.24)
    document, composition, row, release = panels

    heading(document, "1  A private document", "It stays with its owner.")
    document.text(0, 0.96, fill(TEXT, 30), fontsize=9, va="top", color=INK, style="italic",
                  transform=document.transAxes, linespacing=1.5)  # fmt: skip

    largest = np.argsort(-shares, kind="stable")[:7]
    known = [encoder.vectors.words[words[i]] for i in largest]
    bars(composition, known, (shares[largest] / shares.sum()).tolist(), [""] * len(largest))
    heading(
        composition,
        "2  Its known words",
        "Each bar is what a word says about the topic. Together they are one vector.",
    )

    bars(row, ["nearest", "any other"], [kept, 1 - kept], [f"{kept:.1%}", f"{1 - kept:.1%}"])
    heading(
        row,
        "3  One draw of a topic",
        f"The nearest of {len(topics)} public topics is “{name}”. The draw changes the odds "
        f"between any two documents by at most e^{anonymizer.loss:g}.",
    )

    shown = released[:7]
    bars(release, [word for word, _ in shown], [count for _, count in shown],
         [str(count) for _, count in shown])  # fmt: skip
    heading(release, "4  The released counts", "The public words of the topic that was drawn.")
    figure.savefig(path, transparent=False, dpi=140, metadata={"Date": None})
    print(label)
    print(", ".join(f"{word} {count}" for word, count in released[:13]) + ", …")


if __name__ == "__main__":
    main(*(sys.argv[1:] or [str(PICTURE)]))
