"""Draw for texts on behalf of the HTTP service; this module does not know HTTP.

*Guarantee.* Every answer is a release of its own. Its words are drawn with fresh entropy of the
operating system, eight bytes for every number that a document needs, so no two documents share a
draw, also if they are drawn for in one call. Nothing of a text is kept after its answer, not even
which words were looked up. An answer holds counts only, in the order of the vocabulary. Who calls
`draw` has charged the ledger before, if there is one (`syntf.serve.batch`).
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from syntf.core import entropy
from syntf.core.counts import Counts
from syntf.core.errors import SyntfError
from syntf.ledger.ledger import Ledger, chargeable_loss
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.document import DocumentAnonymizer
from syntf.text.documents import Documents
from syntf.text.tokenizer import Analysis, Memo, first_known

AnyAnonymizer = TypeVar("AnyAnonymizer", bound=Anonymizer | DocumentAnonymizer)
Released = dict[str, Any]
"""What is released for a document, as the API describes it (`syntf.serve.schemas`)."""


class BaseService(Generic[AnyAnonymizer]):
    """What the services of both units share: the guarantee, the ledger, and the known words.

    Parameters
    ----------
    anonymizer : must draw from the operating system's entropy and depend on no private text.
    ledger : to be charged for every document before it is drawn for.
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

    @cached_property
    def is_quick(self) -> bool:
        """Whether a short text takes well below a millisecond."""
        return bool(self.guarantee["analyzer"] == "fast")

    @abstractmethod
    def draw(self, texts: Sequence[str]) -> list[Released]:
        """Draw for each text. Each call spends the loss of these documents."""


class Service(BaseService[Anonymizer]):
    """Draw words for texts; several threads may do so at once."""

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

    def draw(self, texts: Sequence[str]) -> list[Released]:
        """Draw n words for each text. Each call spends the loss of these documents."""
        drawn = self.anonymizer.draw_rows(self.read(texts))
        return released(drawn, self.anonymizer.vocabulary.outputs)

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


def released(drawn: Counts, outputs: Sequence[str]) -> list[Released]:
    """Return the counts of each document by word, and its words, in the order of the vocabulary."""
    documents = []
    columns, counts, starts = drawn.indices.tolist(), drawn.data.tolist(), drawn.indptr.tolist()
    for start, end in pairwise(starts):
        row = sorted(zip(columns[start:end], counts[start:end], strict=True))
        by_word = {outputs[column]: int(count) for column, count in row}
        words = [word for word, count in by_word.items() for _ in range(count)]
        documents.append({"counts": by_word, "words": words})
    return documents
