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

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from syntf import __version__
from syntf.codebook import lists
from syntf.codebook.codebook import Codebook
from syntf.codebook.encoder import Encoded, Encoder
from syntf.codebook.lists import EntryList
from syntf.codebook.plan import Plan, make_plan
from syntf.codebook.profiles import Profiles, distinct, make_profiles
from syntf.codebook.several import joint_encoder
from syntf.codebook.text_encoder import load_text_encoder
from syntf.core import entropy
from syntf.core.counts import Counts, stack, take
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages, silent
from syntf.mechanism.response import ResponseMechanism
from syntf.pipeline import prepare
from syntf.pipeline.settings import Settings
from syntf.privacy.guarantee import DocumentUnit, Guarantee
from syntf.text.several import reader_for
from syntf.text.word_reader import WordReader
from syntf.vocabulary.vocabulary import terms_digest

WORD_VECTORS = "word vectors"
"""What a guarantee says of the encoder, unless a person supplied one."""

RELEASED_COLUMNS = ("pilot", "prototypes", "labels")
"""Columns that a release adds to the kept ones: is it of the pilot, and what was released."""


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

    def entries(self, entry_list: EntryList, places: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the entries of the documents at these places, which answered from this list."""
        width = self.answers.shape[1] * entry_list.size
        return entry_list.entries(self.answers[places].ravel()).reshape(len(places), width)

    def counts(self) -> list[NDArray[np.int64]]:
        """Count how often each entry was released, one array for each list."""
        return [
            np.bincount(self.entries(entry_list, places).ravel(), minlength=len(entry_list))
            for entry_list, places in self.parts()
        ]

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
    _profiles: dict[str, Profiles] = field(default_factory=dict)
    _responses: dict[int, ResponseMechanism] = field(default_factory=dict)

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
        book = encoder.codebook
        plan = make_plan(
            loss, documents, pilot=pilot, leaves=int(np.count_nonzero(book.leaves)),
            near=book.is_near, named=bool(book.labels),
        )  # fmt: skip
        return cls(encoder, loss, plan, source)

    @cached_property
    def general(self) -> EntryList:
        """The list that depends on public knowledge and the loss alone."""
        book, plan = self.encoder.codebook, self.plan
        if plan.kind == "topics":
            rounds = lists.ROUNDS if book.is_near else 0
            return lists.topic_list(book, plan.entries, rounds=rounds, size=plan.size)
        return lists.word_list(book, self.encoder, plan.entries, plan.size)

    def response(self, entry_list: EntryList) -> ResponseMechanism:
        """Return the randomised response over the answers of a list."""
        answers = entry_list.answers
        if answers not in self._responses:
            self._responses[answers] = ResponseMechanism(answers, loss=self.plan.loss_per_draw)
        return self._responses[answers]

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

    @property
    def terms(self) -> list[str]:
        """The words that are the columns of a release."""
        return self.encoder.terms

    def profiles(self, entry_list: EntryList, entries: NDArray[np.int64]) -> Profiles:
        """Return the profiles of these entries of a list, and of others computed before."""
        known = self._profiles.get(entry_list.digest)
        wanted = distinct(entries)
        if known is not None:
            wanted = wanted[~np.isin(wanted, known.entries, assume_unique=True)]
        if known is None or len(wanted):
            found = make_profiles(entry_list, self.encoder, wanted)
            known = found if known is None else known.with_others(found)
            self._profiles[entry_list.digest] = known
        return known

    def described(self, drawn: Drawn) -> tuple[Counts, list[str]]:
        """Return the synthetic term counts and a readable description of each document."""
        width = len(self.terms)
        labels = [""] * len(drawn)
        parts, order = [], []
        for entry_list, places in drawn.parts():
            sets = drawn.entries(entry_list, places)
            profiles = self.profiles(entry_list, sets)
            parts.append(profiles.rows(sets, width))
            order.append(places)
            for place, label in zip(places.tolist(), profiles.described(sets), strict=True):
                labels[place] = label
        back = np.argsort(np.concatenate(order), kind="stable")
        return take(stack(parts, width), back), labels


@dataclass(eq=False)
class DocumentAnonymizer:
    """Turns texts into released answers and synthetic counts, a whole document at a time.

    settings : settings of the document unit.
    reader : finds the known words of a text.
    encoder : encodes a document by itself.
    source : where random bits come from; any but the operating system's is marked NOT PRIVATE.
    """

    settings: Settings
    reader: WordReader
    encoder: Encoder
    source: entropy.Source = entropy.system
    sharpened: EntryList | None = None
    """The list of an earlier release, which is public, for documents that come later."""

    @classmethod
    def build(
        cls, settings: Settings, *, source: entropy.Source = entropy.system, stages: Stages = silent
    ) -> "DocumentAnonymizer":
        """Prepare the reader and the encoder. No text is looked at."""
        analyzer = prepare.analyzer_for(settings)
        vectors = prepare.vectors_for(settings, stages)
        reader = reader_for(analyzer, vectors.words)
        if vectors.packs:
            return cls(settings, reader, joint_encoder(vectors, cache=True), source)
        text_encoder = load_text_encoder(settings.encoder)
        if settings.codebook is None:
            if text_encoder is not None:
                raise SyntfError(
                    "the embedded codebook is for word vectors: build a codebook with the same "
                    "encoder by syntf codebook build --encoder, and give it with --codebook"
                )
            if vectors.pack is None:
                raise SyntfError(
                    "the embedded codebook needs the embedded word vectors: build a codebook for "
                    "yours with syntf codebook build, or choose the preset words"
                )
            codebook = Codebook.of_pack(vectors.pack)
        else:
            codebook = Codebook.read(settings.codebook)
        if codebook.encoder and text_encoder is None:
            raise SyntfError(
                f"the codebook was built with the encoder {codebook.encoder}: give the same one "
                "with --encoder"
            )
        encoder = Encoder(codebook, vectors, text_encoder, cache=True)
        return cls(settings, reader, encoder, source)

    @property
    def loss(self) -> float:
        """The largest loss of a document."""
        return float(self.settings.document_loss or 0.0)

    def mechanism(self, documents: int | None) -> DocumentMechanism:
        """Return the mechanism for a number of documents; None for one at a time."""
        return DocumentMechanism.build(
            self.encoder, self.loss, documents, pilot=self.settings.pilot, source=self.source
        )

    def read(self, texts: Sequence[str], *, stages: Stages = silent) -> Encoded:
        """Encode texts, each by itself. Nothing is drawn yet."""
        with stages("reading words", len(texts)) as advance:
            return self.encoder.encode_texts(texts, self.reader, advance)

    @property
    def outputs(self) -> Sequence[str]:
        """The columns of the counts."""
        return self.encoder.terms

    def anonymize_together(self, texts: Sequence[str]) -> tuple[Drawn, Guarantee]:
        """Release texts together, with a pilot if there are enough of them.

        The sharpened list is kept for documents that come later. With the list of an earlier
        release there is no pilot. Returns what was released and the guarantee.
        """
        if self.sharpened is not None:
            return self.draw_singly(self.read(texts)), self.guarantee()
        mechanism = self.mechanism(len(texts))
        drawn = mechanism.release(self.read(texts))
        self.sharpened = drawn.sharpened
        return drawn, with_sharpened_list(self.guarantee(mechanism), drawn.sharpened)

    @cached_property
    def single(self) -> DocumentMechanism:
        """The mechanism of documents that are released one at a time, without a pilot."""
        return self.mechanism(None)

    @property
    def single_list(self) -> EntryList:
        """The list of documents released one at a time: an earlier release's, or the general."""
        return self.sharpened or self.single.general

    def draw_singly(self, encoded: Encoded) -> Drawn:
        """Release documents from :attr:`single_list`. Each call spends their loss."""
        answers = self.single.draw(encoded, self.single_list)
        return Drawn(answers, np.zeros(len(encoded), dtype=bool), self.single_list)

    def guarantee(
        self,
        mechanism: DocumentMechanism | None = None,
        *,
        kept_columns: Sequence[str] = (),
        shuffled: bool = False,
    ) -> Guarantee:
        """Return what a release by `mechanism` promises, before its pilot has answered.

        By default the mechanism is that of documents which are released one at a time. These
        answer from the list of an earlier release, if there is one, so its digest is recorded.
        """
        earlier = self.sharpened if mechanism is None else None
        mechanism = mechanism or self.single
        settings, plan, book = self.settings, mechanism.plan, self.encoder.codebook
        response = mechanism.response(earlier or mechanism.general)
        seeded = self.source is not entropy.system
        sharpened_entries, sharpened_size = plan.sharpened_entries, plan.sharpened_size
        if earlier is not None:
            sharpened_entries, sharpened_size = len(earlier), earlier.size
        elif not plan.pilot:
            sharpened_entries = sharpened_size = 0
        return Guarantee(
            unit="document",
            language=prepare.recorded_language(settings),
            mechanism=response.scheme,
            epsilon=self.loss,
            neighbours=None,
            spelling=0.0,
            length=plan.draws,
            morphology=settings.morphology,
            synsets=False,
            analyzer=self.reader.analyzer.name,
            weights="topical",
            draws="independent",
            vocabulary_size=len(mechanism.terms),
            inputs="vectors",
            input_size=len(self.encoder.vectors.words),
            loss_per_word=None,
            loss_ratio=str(response.ratio),
            loss_per_document=self.loss,
            document=DocumentUnit(
                kind=plan.kind,
                draws=plan.draws,
                loss_per_draw=plan.loss_per_draw,
                entries=len(mechanism.general),
                size=plan.size,
                pilot=plan.pilot,
                sharpened_entries=sharpened_entries,
                sharpened_size=sharpened_size,
                encoder=book.encoder or WORD_VECTORS,
                codebook=f"sha256:{book.digest}",
                codebook_origin=book.origin,
                general=f"sha256:{mechanism.general.digest}",
                sharpened="" if earlier is None else f"sha256:{earlier.digest}",
            ),
            provenance={
                "vocabulary": "fitted" if book.origin == "private" else "public",
                "vectors": "public",
                "stop_words": "public",
                "idf": "public",
            },
            supplied=settings.supplied,
            seeded=seeded,
            kept_columns=list(kept_columns),
            shuffled=shuffled,
            digest=f"sha256:{response.digest}",
            vocabulary_digest=f"sha256:{terms_digest(mechanism.terms)}",
            vectors_digest=f"sha256:{self.encoder.vectors.digest}",
            private=not seeded and book.origin != "private",
            version=__version__,
        )


def with_sharpened_list(guarantee: Guarantee, sharpened: EntryList | None) -> Guarantee:
    """Record the list that the pilot led to in a guarantee."""
    if sharpened is None or guarantee.document is None:
        return guarantee
    record = replace(guarantee.document, sharpened=f"sha256:{sharpened.digest}")
    return replace(guarantee, document=record)
