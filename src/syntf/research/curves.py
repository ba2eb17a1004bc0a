"""The curves of the frontier: which mechanism, over which words, at which losses and lengths."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from syntf.core.progress import Stages, silent
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.prepare import rated, reading
from syntf.pipeline.settings import Settings
from syntf.research.peers import CusText, DistanceRating, randomised_response, santext
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.vocabulary import Vocabulary

SUBSTITUTES = 20
"""The size of CusText's sets of substitutes, as in its paper."""

PEERS = {"santext": None, "k-rr": 1, "custext": SUBSTITUTES}
"""Mechanisms of others, and their k."""


SIZES = ((5.5, 500), (6.5, 1000), (7.5, 2000))
"""Up to a loss, the number of outputs that serves best: some e^ℓ, found on the training half."""


MANY: dict[str, Any] = {"neighbours": 2, "length": 200}
SURE: dict[str, Any] = {"loss": 10.5, "max_size": 5000}


class Asked(NamedTuple):
    """One parameter of the settings that a point changes: ``loss``, ``epsilon`` or ``length``."""

    name: str
    value: float


class Grid(NamedTuple):
    """What is asked for along the curves."""

    losses: Sequence[float] = (5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
    farther: Sequence[float] = (12.0, 20.0, 30.0)
    """Of SanText, which shows nothing where we do."""
    lengths: Sequence[int] = (50, 100, 150, 200)
    epsilons: Sequence[float] = (30.0, 40.0, 47.5, 55.0)
    """Of the paper's mechanism."""
    nominal: Sequence[float] = (1.0, 10.0)
    """Of CusText, whose loss is infinite at each."""
    least: Sequence[float] = (7.0, 7.5, 8.0)
    """Losses of many words: the least a word that still serves."""
    fewest: Sequence[int] = (30, 47, 60)
    """Lengths of sure words: the least a document that still serves."""


QUICK = Grid((6.0, 8.0, 10.0), (10.0, 20.0), (50, 100), (30.0, 47.5), (3.0,), (8.0,), (47,))
"""Points that still show where the curves lie."""


@dataclass(frozen=True)
class Curve:
    """A part of a curve: settings, what is changed in them from point to point, and who draws."""

    mechanism: str
    settings: Settings
    points: Sequence[Asked]

    @property
    def vocabulary(self) -> str:
        """Whether the outputs are public or fitted on the training half."""
        return "fitted" if self.settings.fit_vocabulary else "public"

    @property
    def neighbours(self) -> int | None:
        """The k of its mechanism, where there is one."""
        return PEERS.get(self.mechanism, self.settings.neighbours)

    def at(self, asked: Asked) -> Settings:
        """The settings of one point; a loss takes the place of ε, and the reverse."""
        return self.settings.changed(**{asked.name: asked.value})


def curves(
    default: Settings, accurate: Settings, paper: Settings, outputs: int, grid: Grid
) -> list[Curve]:
    """Ours, with public outputs and as many fitted ones; the paper's; the peers' over our words.

    The default is a curve along the length. Most is about `accurate`, with `outputs` words: below
    its loss a smaller vocabulary serves better (`SIZES`), so it and randomised response, which is
    as sensitive to it, get one there. Two more parts go to its ends, found on the training half:
    `MANY` words of two neighbours each, and few words that are `SURE`.
    """
    fitted = replace(accurate, vocabulary=None, fit_vocabulary=True, max_size=outputs)
    epsilons = [Asked("epsilon", epsilon) for epsilon in grid.epsilons]
    ours = []
    for one in (accurate, fitted):
        ours += [
            *_sized("accurate", one, outputs, grid),
            Curve("accurate", one.changed(**MANY), [Asked("loss", loss) for loss in grid.least]),
            Curve("accurate", one.changed(**SURE), [Asked("length", n) for n in grid.fewest]),
        ]
    return [
        Curve("default", default, _lengths(grid.lengths, default)),
        Curve("accurate", accurate, _lengths(grid.lengths, accurate)),
        *ours,
        Curve("paper", paper, epsilons),
        Curve("santext", accurate, [Asked("loss", loss) for loss in grid.farther]),
        *_sized("k-rr", accurate, outputs, grid),
        Curve("custext", accurate, [Asked("epsilon", epsilon) for epsilon in grid.nominal]),
    ]


def _sized(mechanism: str, settings: Settings, outputs: int, grid: Grid) -> Iterator[Curve]:
    """The losses in parts, each with the number of outputs that serves it best."""
    by_size: dict[int, list[Asked]] = {}
    for loss in grid.losses:
        size = next((size for most, size in SIZES if loss <= most), outputs)
        by_size.setdefault(min(size, outputs), []).append(Asked("loss", loss))
    for size, asked in by_size.items():
        yield Curve(mechanism, replace(settings, max_size=size), asked)


def _lengths(lengths: Sequence[int], settings: Settings) -> list[Asked]:
    """The settings' own length among them."""
    return [Asked("length", length) for length in sorted({*lengths, settings.length})]


def maker(
    curve: Curve, texts: Iterable[str] = (), stages: Stages = silent
) -> Callable[[Asked], Anonymizer]:
    """What makes the anonymizer of each point; what is fitted is fitted on `texts`."""
    analyzer, vectors, vocabulary = reading(curve.settings, texts, stages=stages)
    if curve.mechanism == "k-rr":  # it has nothing to say of words that are no outputs
        outputs, rows = vocabulary.outputs, vocabulary.output_rows
        vocabulary = replace(vocabulary, inputs=outputs, input_rows=rows)
    rating = rated(curve.settings, vectors, vocabulary)

    def over(settings: Settings) -> Anonymizer:
        return Anonymizer.over(
            settings, analyzer, vectors, vocabulary, texts, stages=stages, rating=rating
        )

    if curve.mechanism not in PEERS:
        return lambda asked: over(curve.at(asked))
    base = over(curve.settings)
    draw = _peer(curve.mechanism, vectors, vocabulary, stages)

    def with_peer(asked: Asked) -> Anonymizer:
        return replace(base, settings=curve.at(asked), mechanism=draw(asked.value))

    return with_peer


def _peer(
    name: str, vectors: WordVectors, vocabulary: Vocabulary, stages: Stages
) -> Callable[[float], Any]:
    """The peer's mechanism for a loss, or, of CusText, for the ε that it states."""
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
    return lambda epsilon: CusText(rating, epsilon=epsilon, size=min(SUBSTITUTES, words))
