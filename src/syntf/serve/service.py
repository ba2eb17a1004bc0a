"""Anonymise texts for the HTTP service; this module does not know HTTP.

*Guarantee.* Every answer is a release of its own. Its words are drawn with fresh entropy of the
operating system, in whichever thread runs, so no two requests share a draw. With a ledger, a
request is charged before it draws; if the charge is refused, nothing is drawn. Nothing of a text
is kept after its answer, not even which words were looked up. An answer holds counts only, in
the order of the vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from syntf.core import entropy
from syntf.core.counts import Counts
from syntf.core.errors import SyntfError
from syntf.ledger.ledger import Ledger, chargeable_loss
from syntf.ledger.names import Names
from syntf.ledger.store import Run
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.document import DocumentAnonymizer
from syntf.text.documents import Documents
from syntf.text.tokenizer import Analysis, Memo, first_known

AnyAnonymizer = TypeVar("AnyAnonymizer", bound=Anonymizer | DocumentAnonymizer)


@dataclass(frozen=True)
class Answer:
    """What was released for each document, and the ledger run that was charged, if any.

    counts : the counts of each document by word, in the order of the vocabulary.
    labels, prototypes : in the document unit, what was released, in words and as numbers.
    """

    counts: Sequence[dict[str, int]]
    run: Run | None
    labels: Sequence[str] | None = None
    prototypes: Sequence[Sequence[int]] | None = None


class BaseService(Generic[AnyAnonymizer]):
    """What the services of both units share: the guarantee, the ledger, and the known words.

    Parameters
    ----------
    anonymizer : must draw from the operating system's entropy and depend on no private text.
    ledger : charged for every document before it is drawn for.
    words, analyzer : the words that are known in a text, and what finds them.

    Raises
    ------
    SyntfError : the anonymizer is seeded, or what it uses was fitted on private texts.
    """

    unit: str
    needs: str
    """What must be public, for the error message."""

    def __init__(
        self,
        anonymizer: AnyAnonymizer,
        ledger: Ledger | None,
        words: Sequence[str],
        analyzer: Analysis[Any],
    ) -> None:
        if anonymizer.source is not entropy.system:
            raise SyntfError(
                "the service draws from the operating system and does not accept a seed"
            )
        guarantee = anonymizer.guarantee()
        if not guarantee.private:
            raise SyntfError(f"the service needs {self.needs}")
        self.anonymizer = anonymizer
        self.ledger = ledger
        self.guarantee = guarantee.as_dict()
        self.loss = chargeable_loss(guarantee)
        self._number = {word: number for number, word in enumerate(words)}
        self._term = first_known(analyzer, self._number.__contains__)

    def word_numbers(self) -> Memo[Any, int]:
        """Return a new mapping from tokens to the numbers of known words, -1 for other tokens.

        It remembers the tokens it was asked for, so use one per request.
        """
        return Memo(lambda token: self._number.get(self._term(token), -1))

    def charge(
        self, texts: Sequence[str], ids: Sequence[str] | None, authors: Sequence[str] | None
    ) -> Run | None:
        """Charge the loss of every document to the ledger, if there is one; return the run."""
        if self.ledger is None:
            return None
        names = Names(texts if ids is None else ids, authors, "text" if ids is None else "id")
        return self.ledger.spend(self.loss, [names]).run


class Service(BaseService[Anonymizer]):
    """Anonymise texts for several threads at once, and charge a ledger if there is one."""

    unit = "words"
    needs = "a public vocabulary and a public idf"

    def __init__(self, anonymizer: Anonymizer, ledger: Ledger | None = None) -> None:
        super().__init__(anonymizer, ledger, anonymizer.vocabulary.inputs, anonymizer.analyzer)
        outputs = anonymizer.vocabulary.outputs
        self._output_column = {term: column for column, term in enumerate(outputs)}
        self.read(["ready"])  # load what reading needs now, not in the first request

    def read(self, texts: Sequence[str]) -> Documents:
        """Find the known terms of each text, without keeping any token afterwards."""
        return self.anonymizer.read(texts, term_of=self.word_numbers())

    def anonymize(
        self,
        texts: Sequence[str],
        ids: Sequence[str] | None = None,
        authors: Sequence[str] | None = None,
    ) -> Answer:
        """Charge the ledger, if there is one, then draw words for each text.

        Raises
        ------
        BudgetError : the ledger refuses the documents; nothing was charged or drawn.
        """
        run = self.charge(texts, ids, authors)
        drawn = self.anonymizer.draw_rows(self.read(texts))
        return Answer(counts_by_word(drawn, self.anonymizer.vocabulary.outputs), run)

    def explain(self, word: str, top: int) -> dict[str, Any]:
        """Return the `top` most probable substitutes of a word, and the sum of all others."""
        mechanism, outputs = self.anonymizer.mechanism, self.anonymizer.vocabulary.outputs
        number = self.word_numbers()[self.anonymizer.analyzer.token_of(word)]
        if number < 0:
            return {"known": False, "loss": mechanism.loss}
        chances: NDArray[np.float64] = mechanism.weights(number) / mechanism.total
        best = np.argsort(-chances, kind="stable")[:top]
        term = self.anonymizer.vocabulary.inputs[number]
        own_column = self._output_column.get(term)
        return {
            "known": True,
            "term": term,
            "stays": 0.0 if own_column is None else float(chances[own_column]),
            "substitutes": [
                {"word": outputs[column], "chance": float(chances[column])} for column in best
            ],
            "others": {
                "words": len(outputs) - len(best),
                "chance": float(np.delete(chances, best).sum()),
            },
            "loss": mechanism.loss,
        }


def counts_by_word(drawn: Counts, outputs: Sequence[str]) -> list[dict[str, int]]:
    """Return the counts of each document by word, in the order of the vocabulary."""
    counts = []
    for start, end in zip(drawn.indptr[:-1], drawn.indptr[1:], strict=True):
        row = sorted(zip(drawn.indices[start:end], drawn.data[start:end], strict=True))
        counts.append({outputs[column]: int(count) for column, count in row})
    return counts
