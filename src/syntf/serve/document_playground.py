"""Compute what the page shows in the document unit, for the person who owns the text.

The result is not a release: it has the target of each text, and several draws of the same text.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.lists import EntryList
from syntf.core.errors import SyntfError
from syntf.language.several import SEPARATOR
from syntf.mechanism.response import ResponseMechanism
from syntf.pipeline.document import DocumentMechanism, Drawn
from syntf.pipeline.sample import describe_text, language_of
from syntf.pipeline.settings import Settings
from syntf.serve.document_service import DocumentService
from syntf.text.tokenizer import Analyzer

DRAWS = 24
"""How often each text is drawn for; the first draw is shown as the release."""
SHOWN_PIECES = 6_000
"""Words of a text, and what stands between them, that the page shows at most."""


def supports_page(settings: Settings) -> bool:
    """Return whether the page can show these settings: words must stay as they are written."""
    return settings.analyzer == Analyzer.name and SEPARATOR not in str(settings.language)


class DocumentPlayground:
    """Draw for the page, with any loss per document, over the codebook of a service.

    Parameters
    ----------
    service : reads the texts. It must not have a ledger: the page draws without charging.
    """

    file = "document.html"

    def __init__(self, service: DocumentService) -> None:
        if not supports_page(service.anonymizer.settings):
            raise SyntfError("the page needs --analyzer fast and one --language")
        if service.ledger is not None:
            raise SyntfError("the page draws without charging, so it cannot be used with a ledger")
        self._service = service
        self._words = frozenset(service.anonymizer.reader.words)
        self._prepared = lru_cache(maxsize=8)(self._prepare)

    @property
    def start(self) -> dict[str, Any]:
        """The values that the page starts with: those of the service."""
        return {
            "loss": self._service.anonymizer.loss,
            "words": len(self._service.anonymizer.reader.words),
            "earlier": self._service.anonymizer.sharpened is not None,
            "encoder": self._service.anonymizer.encoder.codebook.encoder,
        }

    def draw(self, texts: Sequence[str], *, loss: float) -> dict[str, Any]:
        """Draw for each text; return its target, the draws, and what they tell an attacker.

        With the loss of the service texts answer from its list, else from the general list for
        that loss.
        """
        anonymizer = self._service.anonymizer
        mechanism, entry_list = self._prepared(loss)
        response = mechanism.response(entry_list)
        encoded = self._service.read(texts)
        targets = entry_list.targets(encoded, anonymizer.encoder, mechanism.plan.draws)
        drawn = response.sample(np.repeat(targets[:, None, :], DRAWS, axis=1))
        first = Drawn(drawn[:, 0], np.zeros(len(texts), dtype=bool), entry_list)
        counts, labels = mechanism.described(first)
        words = mechanism.terms
        results = []
        for place, text in enumerate(texts):
            own = slice(counts.indptr[place], counts.indptr[place + 1])
            found = zip(counts.indices[own].tolist(), counts.data[own].tolist(), strict=True)
            other = targets[1 - place] if len(texts) == 2 else targets[place]
            pieces, left_out = self._cut(text)
            results.append(
                {
                    "pieces": pieces,
                    "left_out": left_out,
                    "empty": not encoded.vectors[place].any(),
                    "read": self._read(text),
                    "target": self._labels(mechanism, entry_list, targets[place]),
                    "label": labels[place],
                    "draws": [
                        [
                            self._labels(mechanism, entry_list, answers),
                            bool((answers == targets[place]).all()),
                        ]
                        for answers in drawn[place]
                    ],
                    "counts": sorted(
                        ([words[column], count] for column, count in found),
                        key=lambda one: (-one[1], one[0]),
                    ),
                    "odds": log_odds(response, drawn[place, 0], targets[place], other),
                }
            )
        return {
            "loss": loss,
            "kind": entry_list.kind,
            "entries": len(entry_list),
            "size": entry_list.size,
            "draws": mechanism.plan.draws,
            "answers": response.answers,
            "kept": float(response.keep_probability),
            "other": response.background / response.total,
            "earlier": entry_list is anonymizer.sharpened,
            "texts": results,
        }

    def _read(self, text: str) -> dict[str, Any]:
        """Return how many words of a text are known, and what makes it unreadable."""
        anonymizer = self._service.anonymizer
        language = language_of(anonymizer.settings)
        return describe_text(text, anonymizer.reader.analyzer, self._words, language=language)

    def _prepare(self, loss: float) -> tuple[DocumentMechanism, EntryList]:
        anonymizer = self._service.anonymizer
        if loss == anonymizer.loss:
            return anonymizer.single, anonymizer.single_list
        mechanism = DocumentMechanism.build(anonymizer.encoder, loss, None)
        return mechanism, mechanism.general

    def _labels(
        self, mechanism: DocumentMechanism, entry_list: EntryList, answers: NDArray[np.int64]
    ) -> str:
        sets = entry_list.entries(answers.ravel()).reshape(1, -1)
        return mechanism.profiles(entry_list, sets).described(sets)[0]

    def _cut(self, text: str) -> tuple[list[tuple[str, bool]], int]:
        """Cut a text at its words; return the first pieces, whether each is known, and the rest.

        Joined, the pieces are the text if nothing is left out.
        """
        numbers = self._service.word_numbers()
        pieces: list[tuple[str, bool]] = []
        end = 0
        tokens = list(next(iter(self._service.anonymizer.reader.analyzer.read([text]))))
        shown = tokens[: SHOWN_PIECES // 2]
        for token in shown:
            start = text.index(token, end)
            pieces.append((text[end:start], False))
            end = start + len(token)
            pieces.append((token, numbers[token] >= 0))
        if len(shown) == len(tokens):
            pieces.append((text[end:], False))
        return pieces, len(tokens) - len(shown)


def log_odds(
    response: ResponseMechanism,
    answers: NDArray[np.int64],
    own: NDArray[np.int64],
    other: NDArray[np.int64],
) -> float:
    """Return ln P(answers | own targets) − ln P(answers | other targets).

    >>> response = ResponseMechanism(100, loss=3.0)
    >>> round(log_odds(response, np.array([7]), np.array([7]), np.array([9])), 6)
    3.0
    >>> log_odds(response, np.array([7]), np.array([8]), np.array([9]))
    0.0
    """
    times = int((answers == own).sum()) - int((answers == other).sum())
    return times * log(response.ratio)
