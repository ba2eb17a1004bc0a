"""What the page shows: the inner draws, to the person whose text it is. This is no release.

Neighbours are found once, ten for each word; those for a smaller k are the first k of them. The
rows of the words in a text are then all that a draw needs: in the neighbourhood mechanism a row
depends on its own neighbours, on ε, k and the number of outputs, and on no other row.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.core.exact import log_up
from syntf.mechanism.nearest import Neighbours
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.pipeline.settings import Settings
from syntf.privacy import bounds
from syntf.serve.service import Service
from syntf.text.documents import Documents, draw_terms
from syntf.text.tokenizer import Analyzer

MOST = 10
"""The largest k that can be tried."""


def playable(settings: Settings) -> bool:
    """Whether the page can show these settings: neighbours, and words as they stand in the text."""
    return settings.neighbours is not None and settings.analyzer == Analyzer.name


@dataclass(frozen=True)
class Reading:
    """A text in pieces; those in `places` are its known words, with their `terms`."""

    pieces: list[str]
    places: list[int]
    terms: list[int]


class Playground:
    """Draws for the page, with any loss, k and n, over the vocabulary of a service.

    Parameters
    ----------
    service : how texts are read and weighed.
    neighbours : of each input, the nearest outputs, `MOST` or as many as there are.
    """

    def __init__(self, service: Service, neighbours: Neighbours) -> None:
        if not playable(service.anonymizer.settings):
            raise SyntfError("the page shows neighbours (--neighbours), read by --analyzer fast")
        self._service = service
        self._neighbours = neighbours

    @property
    def start(self) -> dict[str, Any]:
        """What the page begins with: the parameters of the service itself."""
        anonymizer = self._service.anonymizer
        return {
            "loss": anonymizer.mechanism.loss,
            "neighbours": anonymizer.settings.neighbours,
            "length": anonymizer.settings.length,
            "most_neighbours": self._neighbours.shape[1],
            "inputs": len(anonymizer.vocabulary.inputs),
            "outputs": len(anonymizer.vocabulary.outputs),
        }

    def draw(
        self, texts: Sequence[str], *, loss: float, neighbours: int, length: int
    ) -> dict[str, Any]:
        """Each draw of each text, what it became, and what an attacker would make of the counts."""
        anonymizer = self._service.anonymizer
        readings = [self._read(text) for text in texts]
        distinct = sorted({term for reading in readings for term in reading.terms})
        table = self._neighbours[distinct or [0], : min(neighbours, self._neighbours.shape[1])]
        outputs = anonymizer.vocabulary.outputs
        mechanism = NeighbourhoodMechanism(table, outputs=len(outputs), epsilon=2 * loss)
        row = {term: place for place, term in enumerate(distinct)}
        shown = [self._shown(reading, mechanism, row, length) for reading in readings]
        models = [self._model(reading, mechanism, row) for reading in readings]
        for place, one in enumerate(shown):
            other = models[1 - place] if len(models) == 2 else None
            one["counts"] = self._counts(one.pop("words"), models[place], other)
        measured = full_loss(mechanism)
        return {
            "loss": measured,
            "epsilon": 2 * loss,
            "document": bounds.document_loss(measured, length),
            "near": float((mechanism.background + mechanism.shares[0]) / mechanism.total),
            "other": float(mechanism.background / mechanism.total),
            "terms": [
                {
                    "word": anonymizer.vocabulary.inputs[term],
                    "near": [outputs[column] for column in near],
                }
                for term, near in zip(distinct, table, strict=False)
            ],
            "texts": shown,
        }

    def _read(self, text: str) -> Reading:
        """The text cut at its words: the pieces together are the text."""
        terms = self._service.terms()
        reading, end = Reading([], [], []), 0
        for token in next(iter(self._service.anonymizer.analyzer.read([text]))):
            start = text.index(token, end)
            reading.pieces.append(text[end:start])
            end = start + len(token)
            if terms[token] >= 0:
                reading.places.append(len(reading.pieces))
                reading.terms.append(terms[token])
            reading.pieces.append(token)
        reading.pieces.append(text[end:])
        return reading

    def _shown(
        self, reading: Reading, mechanism: NeighbourhoodMechanism, row: dict[int, int], length: int
    ) -> dict[str, Any]:
        """The pieces of a text with their terms, and of each draw its piece and what it became."""
        anonymizer = self._service.anonymizer
        known = len(reading.terms)
        words = Documents(
            np.array([0, max(1, known)]), np.arange(max(1, known), dtype=np.int32)
        )  # every word a term of its own: what is drawn is then a place in the text
        weights = self._weights(reading)
        systematic = anonymizer.settings.draws == "systematic"
        drawn = draw_terms(words, length, entropy.system, weights, systematic=systematic)[0]
        last = mechanism.shape[0] - 1
        rows = np.array([row[term] for term in reading.terms] or [last])[drawn]
        became = mechanism.sample(rows, source=entropy.system).tolist()
        place_of = dict(zip(reading.places, reading.terms, strict=True))
        return {
            "pieces": [
                [piece, row[place_of[place]] if place in place_of else -1]
                for place, piece in enumerate(reading.pieces)
            ],
            "draws": [
                [reading.places[place] if known else -1, anonymizer.vocabulary.outputs[column]]
                for place, column in sorted(zip(drawn.tolist(), became, strict=True))
            ],
            "words": became,
        }

    def _weights(self, reading: Reading) -> NDArray[np.float64] | None:
        weights = self._service.anonymizer.weights
        return None if weights is None or not reading.terms else weights[reading.terms]

    def _model(
        self, reading: Reading, mechanism: NeighbourhoodMechanism, row: dict[int, int]
    ) -> "Model":
        """How likely a word drawn for a text is each output: what an attacker who has it knows."""
        weights = self._weights(reading)
        if not reading.terms:
            return Model(1 / mechanism.shape[1], {})
        theta = np.ones(len(reading.terms)) if weights is None else weights
        theta = theta / theta.sum()
        shares = mechanism.shares / mechanism.total
        above: defaultdict[int, float] = defaultdict(float)
        for term, mass in zip(reading.terms, theta.tolist(), strict=True):
            near = self._neighbours[term, : len(shares)].tolist()
            for column, share in zip(near, shares.tolist(), strict=True):
                above[column] += mass * share
        return Model(mechanism.background / mechanism.total, dict(above))

    def _counts(
        self, words: Sequence[int], own: "Model", other: "Model | None"
    ) -> list[tuple[str, int, float]]:
        """What is released of a text, and how much each word speaks for it, not for the other."""
        outputs = self._service.anonymizer.vocabulary.outputs
        return [
            (outputs[column], count, 0.0 if other is None else log(own[column] / other[column]))
            for column, count in sorted(Counter(words).items(), key=lambda item: (-item[1], item))
        ]


@dataclass(frozen=True)
class Model:
    """The chance of each output under a text: the background, and what stands above it."""

    background: float
    above: dict[int, float]

    def __getitem__(self, column: int) -> float:
        return self.background + self.above.get(column, 0.0)


def full_loss(mechanism: NeighbourhoodMechanism) -> float:
    """The loss of the whole table that these rows are from: the theorem's ln R, rounded up.

    >>> rows = NeighbourhoodMechanism([[0, 1], [1, 2]], outputs=10_000, epsilon=16.0)
    >>> full_loss(rows) == rows.loss <= 8.0
    True
    """
    most = mechanism.background + int(mechanism.shares[0])
    return log_up(Fraction(most, mechanism.background))
