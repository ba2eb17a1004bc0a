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
from syntf.ledger.ledger import Ledger
from syntf.pipeline.document import DocumentAnonymizer
from syntf.serve.service import Answer, BaseService, counts_by_word


class DocumentService(BaseService[DocumentAnonymizer]):
    """Anonymise whole documents for several threads, and charge a ledger if there is one."""

    unit = "document"
    needs = "a public codebook"

    def __init__(self, anonymizer: DocumentAnonymizer, ledger: Ledger | None = None) -> None:
        reader = anonymizer.reader
        super().__init__(anonymizer, ledger, reader.words, reader.analyzer)
        self.prototypes()  # describe all topics of the list now
        self.read(["ready"])  # load what reading needs now, not in the first request

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
        run = self.charge(texts, ids, authors)
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
            "loss": self.loss,
            "prototypes": labels,
        }
