"""Words drawn a second of processor time, by ours and by the others."""

from suite.figures import Figure, ratios, spread
from suite.parts.peers import GROUP, peers
from suite.place import WORDS, Place
from suite.process import worker
from suite.rows import Measured, Results, Row

TITLE = "Words drawn, by ours and by others"
NOTE = f"""\
{WORDS:,} words with vectors of 100 dimensions, given to each system in the form it wants, and the
same words to draw for, frequent ones more often. Each system has an environment of its own, with
the newest release that installs from PyPI, and one thread. Only the drawing is timed, in seconds of
processor time. Ours with its defaults draws from the public vocabulary that comes with it, fewer
words than the others have, and many draws in one call; the row with {WORDS:,} words has as many.
To run at all, dp-diffractor has a short list of stop words and texts split at spaces, diffprivlib
an older scikit-learn. What is *recorded* was measured earlier, not in this run and not beside ours.
What the mechanisms of others lose, measured as ours is, stands in
[What a loss buys](frontier.md)."""

RECORDED = {"MADLIB with Annoy": 15_600.0, "SanText, 10,000 words": 7_190.0}
"""Mechanisms that are not on PyPI, as once measured from their sources, words a CPU second."""
NO_MECHANISM = ("mldp-syntf", "pypantera-custext")
"""Their support differs from word to word: their loss is infinite whatever is drawn."""


def groups(place: Place) -> list[list[Row]]:
    words = place.words("words.txt")
    ours = {
        "default": ("ours, defaults, the mechanism alone", "default", "", ""),
        "synthesize": ("ours, defaults, documents to counts", "default", "", place.news()),
        "words": (f"ours, neighbourhood, {WORDS:,} words", "default", words, ""),
        "paper": (f"ours, the paper's rating, {WORDS:,} words", "paper", words, ""),
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
    """The fastest of the others that is a mechanism over all words."""
    kept = [
        row
        for key, row in found.items()
        if key.startswith(f"{GROUP}/peer-") and row.rounds and not key.endswith(NO_MECHANISM)
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
