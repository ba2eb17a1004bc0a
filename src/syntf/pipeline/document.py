"""Anonymise documents as a whole: one choice among public answers for each document.

The way of a document: text → known words → encoded vector → nearest answer of a public list →
randomised response → the term profile of the released answer.

*Guarantee.* Every document is drawn for once, from one list, by randomised response with the whole
loss of the document. The list that the other documents answer from depends on a pilot document
through its released answer alone. So changing one document changes the probability of any joint
release by a factor of at most e to the loss per document: for a pilot document, the factor of its
own answer, because everything after is computed from it; for another one, the factor of its own
answer, because nothing else depends on it. ``docs/documents.md`` has the proof, and
``tests/pipeline/test_document.py`` goes through every joint release of small corpora.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from syntf.codebook import lists
from syntf.codebook.encoder import Encoded, Encoder, take_rows
from syntf.codebook.lists import EntryList
from syntf.codebook.plan import Plan, make_plan
from syntf.codebook.profiles import make_profiles, output_terms
from syntf.core import entropy
from syntf.core.counts import Counts, stack
from syntf.mechanism.response import ResponseMechanism


@dataclass(frozen=True, eq=False)
class Drawn:
    """Released answers of documents, with the lists they were drawn from.

    answers : int64, documents × draws.
    pilot : whether each document is one of the pilot.
    general, sharpened : the lists that pilot documents and others answered from. Without a pilot
        all documents answered from the general list.
    """

    answers: NDArray[np.int64]
    pilot: NDArray[np.bool_]
    general: EntryList
    sharpened: EntryList | None = None

    def __len__(self) -> int:
        return len(self.answers)

    def parts(self) -> list[tuple[EntryList, NDArray[np.intp]]]:
        """Return each list with the places of the documents that answered from it."""
        if self.sharpened is None:
            return [(self.general, np.arange(len(self)))]
        return [
            (self.general, np.flatnonzero(self.pilot)),
            (self.sharpened, np.flatnonzero(~self.pilot)),
        ]


@dataclass(eq=False)
class DocumentMechanism:
    """Everything that turns encoded documents into released answers, for one loss per document.

    encoder : encodes a document by itself.
    loss : the loss per document, the headline of the guarantee.
    plan : how the loss is spent.
    source : where random bits come from.
    """

    encoder: Encoder
    loss: float
    plan: Plan
    source: entropy.Source = entropy.system

    @classmethod
    def build(
        cls,
        encoder: Encoder,
        loss: float,
        documents: int | None,
        *,
        pilot: bool = True,
        source: entropy.Source = entropy.system,
    ) -> "DocumentMechanism":
        """Prepare the mechanism for a loss and a number of documents, None if it is unknown."""
        leaves = int(np.count_nonzero(encoder.codebook.leaves))
        return cls(encoder, loss, make_plan(loss, documents, pilot=pilot, leaves=leaves), source)

    @cached_property
    def general(self) -> EntryList:
        """The list that depends on public knowledge and the loss alone."""
        if self.plan.kind == "topics":
            return lists.topic_list(self.encoder.codebook, self.plan.entries)
        return lists.word_list(
            self.encoder.codebook, self.encoder, self.plan.entries, self.plan.size
        )

    def response(self, entry_list: EntryList) -> ResponseMechanism:
        """Return the randomised response over the answers of a list."""
        return ResponseMechanism(entry_list.answers, loss=self.plan.loss_per_draw)

    def draw(self, encoded: Encoded, entry_list: EntryList) -> NDArray[np.int64]:
        """Release answers for documents. Each call spends the loss of these documents."""
        targets = entry_list.targets(encoded, self.encoder, self.plan.draws)
        return self.response(entry_list).sample(targets, source=self.source)

    def sharpen(self, released: NDArray[np.int64]) -> EntryList:
        """Return the list for all other documents, from the released answers of the pilot."""
        general, plan = self.general, self.plan
        if plan.kind == "topics":
            return lists.sharpened_topics(
                self.encoder.codebook, general, released.ravel(), self.response(general),
                plan.sharpened_entries,
            )  # fmt: skip
        return lists.sharpened_words(
            general, released.ravel(), plan.sharpened_entries, plan.sharpened_size
        )

    def choose_pilot(self, documents: int) -> NDArray[np.bool_]:
        """Choose the documents of the pilot at random, whatever their texts are."""
        chosen = np.zeros(documents, dtype=bool)
        if self.plan.pilot:
            chosen[entropy.permutation(self.source, documents)[: self.plan.pilot]] = True
        return chosen

    def release(self, encoded: Encoded) -> Drawn:
        """Release answers for all documents: first the pilot, then the others."""
        pilot = self.choose_pilot(len(encoded))
        if not pilot.any():
            return Drawn(self.draw(encoded, self.general), pilot, self.general)
        first, rest = np.flatnonzero(pilot), np.flatnonzero(~pilot)
        answers = np.zeros((len(encoded), self.plan.draws), dtype=np.int64)
        answers[first] = self.draw(encoded.at(first), self.general)
        sharpened = self.sharpen(answers[first])
        answers[rest] = self.draw(encoded.at(rest), sharpened)
        return Drawn(answers, pilot, self.general, sharpened)

    @cached_property
    def terms(self) -> list[str]:
        """The words that are the columns of a release."""
        return output_terms(self.encoder)

    def described(self, drawn: Drawn) -> tuple[Counts, list[str]]:
        """Return the synthetic term counts and a readable description of each document."""
        width = len(self.terms)
        labels = [""] * len(drawn)
        parts, order = [], []
        for entry_list, places in drawn.parts():
            sets = entry_list.entries(drawn.answers[places].ravel()).reshape(len(places), -1)
            profiles = make_profiles(entry_list, self.encoder, sets)
            parts.append(profiles.rows(sets, width))
            order.append(places)
            for place, label in zip(places.tolist(), profiles.described(sets), strict=True):
                labels[place] = label
        back = np.argsort(np.concatenate(order), kind="stable")
        return take_rows(stack(parts, width), back), labels
