"""Measure the words that syntf and other programs draw per second of processor time."""

from suite.figures import Figure, ratios, spread
from suite.parts.peers import GROUP, peers
from suite.place import WORDS, Place
from suite.process import worker
from suite.rows import Measured, Results, Row

TITLE = "Drawing words: syntf and other programs"
NOTE = f"""\
Every system gets the same {WORDS:,} words with vectors of 100 dimensions, in the format that it
needs, and draws for the same words; frequent words come more often. Each system has its own
environment with the newest version that installs from PyPI, and one thread. Only drawing is
timed, in seconds of processor time. syntf with the preset words draws from its public vocabulary
of 4,000 words, in one call for many words; the rows with {WORDS:,} words use the vocabulary of
the others. dp-diffractor needs a short list of stop words and texts split at spaces to run at
all, diffprivlib an older scikit-learn. *Recorded* figures were measured earlier, not in this
run. [Utility against loss](frontier.md) compares the losses of these mechanisms."""

RECORDED = {"MADLIB with Annoy": 15_600.0, "SanText, 10,000 words": 7_190.0}
"""Words per CPU second of mechanisms that are not on PyPI, measured earlier from their sources."""
INFINITE_LOSS = ("mldp-syntf", "pypantera-custext")
"""Mechanisms with an infinite loss: the words they can output differ from word to word."""


def groups(place: Place) -> list[list[Row]]:
    words = place.words("words.txt")
    ours = {
        "default": ("syntf, preset words, the mechanism alone", "words", "", ""),
        "synthesize": ("syntf, preset words, documents to counts", "words", "", place.news()),
        "words": (f"syntf, neighbourhood, {WORDS:,} words", "words", words, ""),
        "paper": (f"syntf, the paper's rating, {WORDS:,} words", "paper", words, ""),
    }  # fmt: skip
    env = {**place.env, "OMP_NUM_THREADS": "1"}
    rows = [
        Row(
            f"{GROUP}/{key}", title, worker("draw", *given), "kept", place.rounds, "words",
            warm=True, env=env,
        )
        for key, (title, *given) in ours.items()
    ]  # fmt: skip
    recorded = [
        Row(
            f"{GROUP}/recorded-{number}", name, amount="words",
            missing=f"not on PyPI; {rate:,.0f} words when it was measured from its sources",
        )
        for number, (name, rate) in enumerate(RECORDED.items())
    ]  # fmt: skip
    return [[*rows, *peers(place), *recorded]]


def fastest(found: Results) -> Measured | None:
    """Return the fastest of the other mechanisms that has a finite loss."""
    kept = [
        row
        for key, row in found.items()
        if key.startswith(f"{GROUP}/peer-") and row.rounds and not key.endswith(INFINITE_LOSS)
    ]
    return max(kept, key=lambda row: spread(row.values("rate")).middle, default=None)


def figures(found: Results) -> list[Figure]:
    made = []
    other = fastest(found)
    for key in ("default", "synthesize", "words", "paper"):
        ours = found[f"{GROUP}/{key}"]
        if other is not None and ours.rounds:
            values = ratios(ours.values("rate"), other.values("rate"))
            title = f"{ours.title}, against {other.title}"
            made.append(Figure(f"{GROUP}/{key}", title, values, "×", "more"))
        if ours.rounds and key == "default":
            name, rate = max(RECORDED.items(), key=lambda item: item[1])
            values = [value / rate for value in ours.values("rate")]
            title = f"{ours.title}, against {name} as recorded"
            made.append(Figure(f"{GROUP}/{key}-recorded", title, values, "×", "more", 100.0, 500.0))
    return made
