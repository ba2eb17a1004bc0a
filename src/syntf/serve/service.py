"""What the service does with texts, without a word of HTTP.

*Guarantee.* Every answer is a release of its own: its words are drawn from the operating system's
entropy, by whichever thread it is, so no two requests share a draw. With a ledger, a request is
charged before it draws, or draws nothing. Of a text nothing is kept once it is answered, not even
which words were looked up; an answer has counts alone, in the order of the vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.ledger.ledger import Ledger, accountable
from syntf.ledger.names import Names
from syntf.ledger.store import Run
from syntf.pipeline.anonymizer import Anonymizer
from syntf.text.documents import Documents
from syntf.text.tokenizer import Remembered, first_known


@dataclass(frozen=True)
class Answer:
    """The counts of each document, by word; and the run of the ledger that was charged."""

    counts: Sequence[dict[str, int]]
    run: Run | None


class Service:
    """An anonymizer that many threads may ask at once, and perhaps a ledger.

    Parameters
    ----------
    anonymizer : draws from the operating system's entropy, over public words: refused else.
    ledger : to charge every document to.
    """

    def __init__(self, anonymizer: Anonymizer, ledger: Ledger | None = None) -> None:
        if anonymizer.source is not entropy.system:
            raise SyntfError("a service draws from the system's entropy, never from a seed")
        guarantee = anonymizer.guarantee()
        if not guarantee.private:
            raise SyntfError("a service needs a public vocabulary: nothing is fitted on requests")
        self.anonymizer = anonymizer
        self.ledger = ledger
        self.guarantee = guarantee.as_dict()
        self._loss = accountable(guarantee)
        inputs = anonymizer.vocabulary.inputs
        self._number = {term: i for i, term in enumerate(inputs)}
        self._column = {term: i for i, term in enumerate(anonymizer.vocabulary.outputs)}
        self._term = first_known(anonymizer.analyzer, self._number.__contains__)
        self.read(["ready"])  # what reading needs is loaded now, not in the first request

    def terms(self) -> Remembered[Any, int]:
        """From tokens to inputs, or -1; forgets its tokens with the request it is made for."""
        return Remembered(lambda token: self._number.get(self._term(token), -1))

    def read(self, texts: Sequence[str]) -> Documents:
        """The known terms of each text, by a memory of its own."""
        return self.anonymizer.read(texts, term_of=self.terms())

    def anonymize(
        self,
        texts: Sequence[str],
        ids: Sequence[str] | None = None,
        authors: Sequence[str] | None = None,
    ) -> Answer:
        """Charge the ledger, if there is one, then draw."""
        run = None
        if self.ledger is not None:
            names = Names(texts if ids is None else ids, authors, "text" if ids is None else "id")
            run = self.ledger.spend(self._loss, [names]).run
        drawn = self.anonymizer.draw(self.read(texts))
        outputs = self.anonymizer.vocabulary.outputs
        counts = []
        for start, end in zip(drawn.indptr[:-1], drawn.indptr[1:], strict=True):
            row = sorted(zip(drawn.indices[start:end], drawn.data[start:end], strict=True))
            counts.append({outputs[column]: int(count) for column, count in row})
        return Answer(counts, run)

    def explain(self, word: str, top: int) -> dict[str, Any]:
        """What the mechanism makes of a word: its likeliest substitutes, and all the others."""
        mechanism, outputs = self.anonymizer.mechanism, self.anonymizer.vocabulary.outputs
        term = self.terms()[self.anonymizer.analyzer.alone(word)]
        if term < 0:
            return {"known": False, "loss": mechanism.loss}
        chances: NDArray[np.float64] = mechanism.weights(term) / mechanism.total
        best = np.argsort(-chances, kind="stable")[:top]
        own = self.anonymizer.vocabulary.inputs[term]
        column = self._column.get(own)
        return {
            "known": True,
            "term": own,
            "stays": 0.0 if column is None else float(chances[column]),
            "substitutes": [
                {"word": outputs[place], "chance": float(chances[place])} for place in best
            ],
            "others": {
                "words": len(outputs) - len(best),
                "chance": float(np.delete(chances, best).sum()),
            },
            "loss": mechanism.loss,
        }
