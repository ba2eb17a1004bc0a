"""Compute what the page shows: the inner draws, for the person who owns the text.

The result is not a release. Each word's ten nearest words are found once; for a smaller k the
first k of them are used. A draw needs only the rows of the words in the text: in the
neighbourhood mechanism a row depends on its own neighbours, ε, k and the number of outputs.
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
from syntf.mechanism.synthesis import draw_terms
from syntf.pipeline.sample import describe_text, language_of
from syntf.pipeline.settings import Settings
from syntf.privacy import bounds
from syntf.serve.service import Service
from syntf.text.documents import Documents
from syntf.text.tokenizer import Analyzer

MAX_NEIGHBOURS = 10
"""Largest k that can be tried on the page."""


def supports_page(settings: Settings) -> bool:
    """Return whether the page can show these settings.

    It needs the neighbourhood mechanism, and an analyzer that keeps words as they are written.
    """
    return settings.neighbours is not None and settings.analyzer == Analyzer.name


@dataclass(frozen=True)
class TextPieces:
    """A text cut into pieces; joined, they are the text.

    `places` are the pieces that are known words, and `terms` their input words.
    """

    pieces: list[str]
    places: list[int]
    terms: list[int]


@dataclass(frozen=True)
class OutputModel:
    """Probability of each output word for one draw from a text.

    It is `background` for every word, plus the value in `above` for the words that have one.
    """

    background: float
    above: dict[int, float]

    def __getitem__(self, column: int) -> float:
        return self.background + self.above.get(column, 0.0)


class Playground:
    """Draw for the page, with any loss, k and n, over the vocabulary of a service.

    Parameters
    ----------
    service : reads and weighs the texts. It must not have a ledger: the page draws without
        charging.
    neighbours : the nearest outputs of each input, `MAX_NEIGHBOURS` or as many as there are.
    """

    file = "index.html"

    def __init__(self, service: Service, neighbours: Neighbours) -> None:
        if not supports_page(service.anonymizer.settings):
            raise SyntfError("the page needs --neighbours and --analyzer fast")
        if service.ledger is not None:
            raise SyntfError("the page draws without charging, so it cannot be used with a ledger")
        self._service = service
        self._neighbours = neighbours
        self._words = frozenset(service.anonymizer.vocabulary.inputs)

    @property
    def start(self) -> dict[str, Any]:
        """The values that the page starts with: the parameters of the service."""
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
        """Draw for each text; return every draw, and what the counts tell an attacker."""
        anonymizer = self._service.anonymizer
        cut = [self._cut(text) for text in texts]
        distinct = sorted({term for text in cut for term in text.terms})
        table = self._neighbours[distinct or [0], : min(neighbours, self._neighbours.shape[1])]
        outputs = anonymizer.vocabulary.outputs
        mechanism = NeighbourhoodMechanism(table, outputs=len(outputs), epsilon=2 * loss)
        row_of = {term: row for row, term in enumerate(distinct)}
        results = [self._draw_text(text, mechanism, row_of, length) for text in cut]
        models = [self._model(text, mechanism) for text in cut]
        for place, result in enumerate(results):
            other = models[1 - place] if len(models) == 2 else None
            result["counts"] = self._counts(result.pop("words"), models[place], other)
            result["read"] = describe_text(
                texts[place], anonymizer.analyzer, self._words,
                language=language_of(anonymizer.settings),
            )  # fmt: skip
        measured_loss = full_loss(mechanism)
        return {
            "loss": measured_loss,
            "epsilon": 2 * loss,
            "document": bounds.document_loss(measured_loss, length),
            "near": float((mechanism.background + mechanism.shares[0]) / mechanism.total),
            "other": float(mechanism.background / mechanism.total),
            "terms": [
                {
                    "word": anonymizer.vocabulary.inputs[term],
                    "near": [outputs[column] for column in near],
                }
                for term, near in zip(distinct, table, strict=False)
            ],
            "texts": results,
        }

    def _cut(self, text: str) -> TextPieces:
        """Cut a text at its words."""
        numbers = self._service.word_numbers()
        cut, end = TextPieces([], [], []), 0
        for token in next(iter(self._service.anonymizer.analyzer.read([text]))):
            start = text.index(token, end)
            cut.pieces.append(text[end:start])
            end = start + len(token)
            if numbers[token] >= 0:
                cut.places.append(len(cut.pieces))
                cut.terms.append(numbers[token])
            cut.pieces.append(token)
        cut.pieces.append(text[end:])
        return cut

    def _draw_text(
        self,
        text: TextPieces,
        mechanism: NeighbourhoodMechanism,
        row_of: dict[int, int],
        length: int,
    ) -> dict[str, Any]:
        """Return the pieces with their rows, and for each draw its piece and the output word."""
        anonymizer = self._service.anonymizer
        known = len(text.terms)
        # Every occurrence is a term of its own here, so a drawn term is a place in the text.
        occurrences = Documents(
            np.array([0, max(1, known)]), np.arange(max(1, known), dtype=np.int32)
        )
        weights = self._weights(text)
        systematic = anonymizer.settings.draws == "systematic"
        drawn = draw_terms(occurrences, length, entropy.system, weights, systematic=systematic)[0]
        empty_row = mechanism.shape[0] - 1
        rows = np.array([row_of[term] for term in text.terms] or [empty_row])[drawn]
        output_words = mechanism.sample(rows, source=entropy.system).tolist()
        term_at = dict(zip(text.places, text.terms, strict=True))
        return {
            "pieces": [
                [piece, row_of[term_at[place]] if place in term_at else -1]
                for place, piece in enumerate(text.pieces)
            ],
            "draws": [
                [text.places[place] if known else -1, anonymizer.vocabulary.outputs[column]]
                for place, column in sorted(zip(drawn.tolist(), output_words, strict=True))
            ],
            "words": output_words,
        }

    def _weights(self, text: TextPieces) -> NDArray[np.float64] | None:
        weights = self._service.anonymizer.weights
        return None if weights is None or not text.terms else weights[text.terms]

    def _model(self, text: TextPieces, mechanism: NeighbourhoodMechanism) -> OutputModel:
        """Compute the probability of each output word, as an attacker with the text would."""
        if not text.terms:
            return OutputModel(1 / mechanism.shape[1], {})
        weights = self._weights(text)
        theta = np.ones(len(text.terms)) if weights is None else weights
        theta = theta / theta.sum()
        shares = mechanism.shares / mechanism.total
        above: defaultdict[int, float] = defaultdict(float)
        for term, mass in zip(text.terms, theta.tolist(), strict=True):
            near = self._neighbours[term, : len(shares)].tolist()
            for column, share in zip(near, shares.tolist(), strict=True):
                above[column] += mass * share
        return OutputModel(mechanism.background / mechanism.total, dict(above))

    def _counts(
        self, words: Sequence[int], own: OutputModel, other: OutputModel | None
    ) -> list[tuple[str, int, float]]:
        """Return word, count and the log ratio of its probability under both texts."""
        outputs = self._service.anonymizer.vocabulary.outputs
        return [
            (outputs[column], count, 0.0 if other is None else log(own[column] / other[column]))
            for column, count in sorted(Counter(words).items(), key=lambda item: (-item[1], item))
        ]


def full_loss(mechanism: NeighbourhoodMechanism) -> float:
    """Return the loss of the whole table that these rows belong to: ln R, rounded up.

    >>> rows = NeighbourhoodMechanism([[0, 1], [1, 2]], outputs=10_000, epsilon=16.0)
    >>> full_loss(rows) == rows.loss <= 8.0
    True
    """
    largest = mechanism.background + int(mechanism.shares[0])
    return log_up(Fraction(largest, mechanism.background))
