"""Anonymise whole documents for the HTTP service; this module does not know HTTP.

*Guarantee.* Every answer is a release of its own: each text is described by one choice among public
answers, which is randomised with fresh entropy of the operating system. There is no pilot: texts
answer from the general list of the codebook, or from the list of an earlier release, which is
public. With a ledger, a request is charged before it draws; if the charge is refused, nothing is
drawn. Nothing of a text is kept after its answer.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from syntf.codebook.encoder import Encoded
from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.ledger.ledger import Ledger, chargeable_loss
from syntf.pipeline.document import DocumentAnonymizer
from syntf.serve.service import Answer, charge, counts_by_word
from syntf.text.tokenizer import Memo, first_known


class DocumentService:
    """Anonymise whole documents for several threads at once, and charge a ledger if there is one.

    Parameters
    ----------
    anonymizer : must draw from the operating system's entropy and have a public codebook.
    ledger : charged for every document before it is drawn for.

    Raises
    ------
    SyntfError : the anonymizer is seeded, or its codebook was made from private texts.
    """

    unit = "document"

    def __init__(self, anonymizer: DocumentAnonymizer, ledger: Ledger | None = None) -> None:
        if anonymizer.source is not entropy.system:
            raise SyntfError(
                "the service draws from the operating system and does not accept a seed"
            )
        guarantee = anonymizer.guarantee()
        if not guarantee.private:
            raise SyntfError("the service needs a public codebook")
        self.anonymizer = anonymizer
        self.ledger = ledger
        self.guarantee = guarantee.as_dict()
        self._loss = chargeable_loss(guarantee)
        self._number = {word: number for number, word in enumerate(anonymizer.reader.words)}
        self._term = first_known(anonymizer.reader.analyzer, self._number.__contains__)
        self.prototypes()  # describe all topics of the list now
        self.read(["ready"])  # load what reading needs now, not in the first request

    def word_numbers(self) -> Memo[Any, int]:
        """Return a new mapping from tokens to known words, -1 for unknown tokens.

        It remembers the tokens it was asked for, so use one per request.
        """
        return Memo(lambda token: self._number.get(self._term(token), -1))

    def read(self, texts: Sequence[str]) -> Encoded:
        """Encode texts, each by itself, without keeping any token afterwards."""
        reader = self.anonymizer.reader
        return self.anonymizer.encoder.encode_texts(texts, reader, term_of=self.word_numbers())

    def anonymize(
        self,
        texts: Sequence[str],
        ids: Sequence[str] | None = None,
        authors: Sequence[str] | None = None,
    ) -> Answer:
        """Charge the ledger, if there is one, then release one answer for each text.

        Raises
        ------
        BudgetError : the ledger refuses the documents; nothing was charged or drawn.
        """
        run = charge(self.ledger, self._loss, texts, ids, authors)
        drawn = self.anonymizer.draw_singly(self.read(texts))
        mechanism, entry_list = self.anonymizer.single, self.anonymizer.single_list
        counts, labels = mechanism.described(drawn)
        sets = drawn.entries(entry_list, np.arange(len(texts)))
        return Answer(counts_by_word(counts, mechanism.terms), run, labels, sets.tolist())

    def prototypes(self) -> dict[str, Any]:
        """Return the public list that texts answer from, and how often an answer is kept."""
        mechanism, entry_list = self.anonymizer.single, self.anonymizer.single_list
        response = mechanism.response(entry_list)
        if entry_list.kind == "words":
            labels = [self.anonymizer.reader.words[row] for row in entry_list.rows.tolist()]
        else:
            labels = list(mechanism.profiles(entry_list, np.arange(len(entry_list))).labels)
        return {
            "kind": entry_list.kind,
            "chosen": entry_list.size * mechanism.plan.draws,
            "kept": float(response.keep_probability),
            "loss": self._loss,
            "prototypes": labels,
        }
