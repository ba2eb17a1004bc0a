"""Find the smallest loss at which releases keep a share of the topics.

The choice depends on the texts, and no loss covers it.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from syntf.core import entropy
from syntf.core.checks import count, positive
from syntf.core.errors import Refused, SyntfError
from syntf.core.progress import stage
from syntf.evaluate.analysts import topics
from syntf.evaluate.corpus import Corpus
from syntf.evaluate.evaluation import originals
from syntf.evaluate.measures import ORIGINAL, Measure, average, percent
from syntf.evaluate.release import Release, vectors_of
from syntf.rows import build, draw
from syntf.settings import Settings

LOSSES: dict[str, Sequence[float]] = {
    "document_loss": (
        *(half / 2 for half in range(2, 25)), 13.0, 14.0, 16.0, 18.0, 20.0, 22.0, 25.0, 27.0,
        30.0, 35.0, 40.0, 50.0, 60.0, 80.0, 100.0,
    ),
    "word_loss": tuple(half / 2 for half in range(2, 33)),
}  # fmt: skip
"""The losses that are tried, by the setting."""
MORE = {
    "document_loss": "this codebook: ask for less, give a --codebook of public texts like yours, "
    "or add --preset words",
    "word_loss": "this vocabulary: ask for less, or for more words by --length",
}
"""With what a share is out of reach, and what to do."""


@dataclass(frozen=True)
class Tuned:
    """What :func:`tune` found.

    unit, loss : the setting, and its smallest loss that keeps enough.
    trials : what was measured at each loss that was tried.
    """

    unit: str
    loss: float
    trials: Mapping[float, Measure]


def tune(
    corpus: Corpus, settings: Settings, share: float, *, runs: int = 3,
    source: entropy.Source = entropy.system,
) -> Tuned:  # fmt: skip
    """Find the smallest loss of :data:`LOSSES` that keeps a share of the distance from chance.

    Losses are tried by bisection, because more loss keeps more.

    Raises
    ------
    Refused
        If not even the largest loss keeps so much.
    """
    if positive("keep", share) > 1:
        raise SyntfError(f"keep must be a share from 0 to 1, not {share:g}")
    count("runs", runs)
    unit = settings.unit
    if unit not in LOSSES:
        raise SyntfError("tune knows no preset paper: choose document, words or accurate")
    rows = build(settings, [corpus.texts])
    encoded = rows.encode(corpus.texts, source)  # no loss changes how a text is encoded
    original = originals(corpus, rows)
    trials: dict[float, Measure] = {}

    def keeps(loss: float) -> bool:
        scheme = build(settings.changed(**{unit: loss}), [corpus.texts]).scheme(len(corpus))
        vectors = vectors_of(scheme.terms, settings)
        found = []
        for _ in range(runs):
            counts = draw(scheme, encoded, source).counts()
            found.append(topics(corpus, Release.of_rows(corpus, counts, vectors)))
        trials[loss] = average(found)[0].compared(ORIGINAL, original)
        kept = trials[loss].kept
        if kept is None:
            raise SyntfError(
                "the texts themselves do not tell these labels better than chance, so there is "
                "nothing to keep: check the column of the labels"
            )
        advance(1)
        return kept >= share

    losses = LOSSES[unit]
    with stage("trying losses", len(losses).bit_length()) as advance:
        place = bisect_left(losses, True, key=keeps)
    if place == len(losses):
        raise Refused(
            f"keeping {percent(share)} of the distance from chance is out of reach: a loss of "
            f"{losses[-1]:g} keeps {percent(trials[losses[-1]].kept or 0)} with {MORE[unit]}"
        )
    return Tuned(unit, losses[place], dict(sorted(trials.items())))
