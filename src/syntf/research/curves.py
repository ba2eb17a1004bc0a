"""The curves of the frontier: a mechanism, its words, and the losses or lengths along the curve."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from syntf.core.progress import Stages, silent
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.prepare import load_words, rate_words
from syntf.pipeline.settings import Settings
from syntf.research.peers import CusText, DistanceRating, randomised_response, santext
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.vocabulary import Vocabulary

CUSTEXT_SUBSTITUTES = 20
"""The substitutes of each word in CusText, as in its paper."""

PEERS = {"santext": None, "k-rr": 1, "custext": CUSTEXT_SUBSTITUTES}
"""Mechanisms of other systems and their number of neighbours k."""

BEST_SIZES = ((5.5, 500), (6.5, 1000), (7.5, 2000))
"""Up to a loss, the best number of outputs: about e^ℓ, found on the training documents."""

MANY_UNCERTAIN_WORDS: dict[str, Any] = {"neighbours": 2, "length": 200}
FEW_CERTAIN_WORDS: dict[str, Any] = {"loss": 10.5, "max_size": 5000}


class Change(NamedTuple):
    """The setting that a point of a curve changes: ``loss``, ``epsilon`` or ``length``."""

    name: str
    value: float


class CurveGrid(NamedTuple):
    """The values along the curves."""

    losses: Sequence[float] = (5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
    santext_losses: Sequence[float] = (12.0, 20.0, 30.0)
    """Larger than ours, because SanText has no utility at our losses."""
    lengths: Sequence[int] = (50, 100, 150, 200)
    paper_epsilons: Sequence[float] = (30.0, 40.0, 47.5, 55.0)
    custext_epsilons: Sequence[float] = (1.0, 10.0)
    """The ε that CusText states; its loss is infinite at each of them."""
    uncertain_losses: Sequence[float] = (7.0, 7.5, 8.0)
    """Losses for many uncertain words: the smallest loss per word that still has utility."""
    certain_lengths: Sequence[int] = (30, 47, 60)
    """Lengths for few certain words: the smallest loss per document that still has utility."""


QUICK = CurveGrid((6.0, 8.0, 10.0), (10.0, 20.0), (50, 100), (30.0, 47.5), (3.0,), (8.0,), (47,))
"""Few points that still show where the curves are."""


@dataclass(frozen=True)
class Curve:
    """A part of a curve: the mechanism, its settings, and what each point changes in them."""

    mechanism: str
    settings: Settings
    changes: Sequence[Change]

    @property
    def vocabulary(self) -> str:
        """Whether the outputs are public or fitted on the training documents."""
        return "fitted" if self.settings.fit_vocabulary else "public"

    @property
    def neighbours(self) -> int | None:
        """The number of neighbours k of the mechanism, if it has any."""
        return PEERS.get(self.mechanism, self.settings.neighbours)

    def settings_at(self, change: Change) -> Settings:
        """Return the settings of one point; a loss replaces ε, and ε replaces a loss."""
        return self.settings.changed(**{change.name: change.value})


def all_curves(
    default: Settings, accurate: Settings, paper: Settings, outputs: int, grid: CurveGrid
) -> list[Curve]:
    """Return the curves of the presets, of the paper, and of other systems over our words.

    *default* varies the length. Most curves vary *accurate*, which has `outputs` words. At small
    losses a smaller vocabulary is better (`BEST_SIZES`), so *accurate* and randomised response,
    which depends on it as much, get one there. Two more parts of *accurate*, found on the training
    documents, go to its ends: many uncertain words and few certain ones. *accurate* is also drawn
    with as many fitted outputs.
    """
    fitted = replace(accurate, vocabulary=None, fit_vocabulary=True, max_size=outputs)
    curves = [
        Curve("default", default, _lengths(grid.lengths, default)),
        Curve("accurate", accurate, _lengths(grid.lengths, accurate)),
    ]
    for settings in (accurate, fitted):
        uncertain = settings.changed(**MANY_UNCERTAIN_WORDS)
        certain = settings.changed(**FEW_CERTAIN_WORDS)
        curves += [
            *_with_best_sizes("accurate", settings, outputs, grid),
            Curve("accurate", uncertain, [Change("loss", x) for x in grid.uncertain_losses]),
            Curve("accurate", certain, [Change("length", x) for x in grid.certain_lengths]),
        ]
    return [
        *curves,
        Curve("paper", paper, [Change("epsilon", x) for x in grid.paper_epsilons]),
        Curve("santext", accurate, [Change("loss", x) for x in grid.santext_losses]),
        *_with_best_sizes("k-rr", accurate, outputs, grid),
        Curve("custext", accurate, [Change("epsilon", x) for x in grid.custext_epsilons]),
    ]


def _with_best_sizes(
    mechanism: str, settings: Settings, outputs: int, grid: CurveGrid
) -> Iterator[Curve]:
    """Divide the losses into parts, each with the best number of outputs."""
    by_size: dict[int, list[Change]] = {}
    for loss in grid.losses:
        size = next((size for limit, size in BEST_SIZES if loss <= limit), outputs)
        by_size.setdefault(min(size, outputs), []).append(Change("loss", loss))
    for size, changes in by_size.items():
        yield Curve(mechanism, replace(settings, max_size=size), changes)


def _lengths(lengths: Sequence[int], settings: Settings) -> list[Change]:
    return [Change("length", length) for length in sorted({*lengths, settings.length})]


def anonymizer_factory(
    curve: Curve, texts: Iterable[str] = (), stages: Stages = silent
) -> Callable[[Change], Anonymizer]:
    """Return a function that makes the anonymizer of each point; fitting uses `texts`."""
    analyzer, vectors, vocabulary = load_words(curve.settings, texts, stages=stages)
    if curve.mechanism == "k-rr":  # it cannot read words that are not outputs
        outputs, rows = vocabulary.outputs, vocabulary.output_rows
        vocabulary = replace(vocabulary, inputs=outputs, input_rows=rows)
    rating = rate_words(curve.settings, vectors, vocabulary)

    def make(settings: Settings) -> Anonymizer:
        return Anonymizer.from_parts(
            settings, analyzer, vectors, vocabulary, texts, stages=stages, rating=rating
        )

    if curve.mechanism not in PEERS:
        return lambda change: make(curve.settings_at(change))
    base = make(curve.settings)
    make_mechanism = _peer_factory(curve.mechanism, vectors, vocabulary, stages)

    def make_peer(change: Change) -> Anonymizer:
        settings, mechanism = curve.settings_at(change), make_mechanism(change.value)
        return replace(base, settings=settings, mechanism=mechanism)

    return make_peer


def _peer_factory(
    name: str, vectors: WordVectors, vocabulary: Vocabulary, stages: Stages
) -> Callable[[float], Any]:
    """Return a function from a loss, or from the ε that CusText states, to the mechanism."""
    words = len(vocabulary.outputs)
    if name == "k-rr":
        return lambda loss: randomised_response(words, loss=loss)
    rating = DistanceRating(
        vectors.matrix[np.asarray(vocabulary.input_rows)],
        vectors.matrix[np.asarray(vocabulary.output_rows)],
    )
    if name == "santext":
        public = vocabulary.provenance == "public"
        return lambda loss: santext(rating, loss=loss, cache=public, stages=stages)
    return lambda epsilon: CusText(rating, epsilon=epsilon, size=min(CUSTEXT_SUBSTITUTES, words))
