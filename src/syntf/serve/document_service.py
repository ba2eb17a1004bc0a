"""Draw for whole documents on behalf of the HTTP service; this module does not know HTTP.

*Guarantee.* Every answer is a release of its own: each text is described by one choice among public
answers, which is randomised with fresh entropy of the operating system. There is no pilot: texts
answer from the general list of the codebook, or from the list of an earlier release, which is
public. Nothing of a text is kept after its answer. Who calls `draw` has charged the ledger before,
if there is one (`syntf.serve.batch`).
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from syntf.codebook.encoder import Encoded
from syntf.ledger.ledger import Ledger
from syntf.pipeline.document import DocumentAnonymizer
from syntf.serve.service import BaseService, Released, released


class DocumentService(BaseService[DocumentAnonymizer]):
    """Release one choice for each text; several threads may do so at once."""

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

    @cached_property
    def is_quick(self) -> bool:
        """Whether a short text takes well below a millisecond: not with a model as encoder."""
        return super().is_quick and not self.anonymizer.encoder.codebook.encoder

    def draw(self, texts: Sequence[str]) -> list[Released]:
        """Release one answer for each text. Each call spends the loss of these documents."""
        drawn = self.anonymizer.draw_singly(self.read(texts))
        mechanism, entry_list = self.anonymizer.single, self.anonymizer.single_list
        counts, labels = mechanism.described(drawn)
        sets = drawn.entries(entry_list, np.arange(len(texts))).tolist()
        documents = released(counts, mechanism.terms)
        for document, label, numbers in zip(documents, labels, sets, strict=True):
            document |= {"prototypes": numbers, "labels": label}
        return documents

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
