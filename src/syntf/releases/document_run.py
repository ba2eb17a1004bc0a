"""Draw for the documents of a release as a whole: the pilot first, then all others.

The first pass over the input counts the documents and keeps a uniform sample of them, encoded. The
pilot is a random part of this sample. It answers from the general list, and its released answers
sharpen the list. The second pass draws for all other documents. Up to :data:`SAMPLE` documents
are in the sample themselves, so the input is read once.

A document is drawn for once. The pilot's answers are stored in the draft before any other document
is drawn for, so that a run which is resumed has the same pilot and the same list.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain

import numpy as np
from arro3.core import ChunkedArray, Table
from numpy.typing import NDArray

from syntf.codebook.encoder import Encoded, join
from syntf.codebook.lists import EntryList
from syntf.codebook.plan import PILOT_MOST
from syntf.core import entropy, parallel, tables
from syntf.core.counts import Counts
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages
from syntf.inputs.rows import Rows
from syntf.pipeline.document import (
    DocumentAnonymizer,
    DocumentMechanism,
    Drawn,
    with_sharpened_list,
)
from syntf.privacy.guarantee import Guarantee, with_author_limit
from syntf.releases import draft as drafts
from syntf.releases.contents.prototypes import (
    check_kept_columns,
    released_columns,
    released_counts,
    summarize,
)
from syntf.releases.draft import PILOT_FILE
from syntf.releases.rest import Rest
from syntf.report.document_summary import DocumentSummary

SAMPLE = PILOT_MOST
"""Documents whose encoded vectors are kept in the first pass."""

NO_PILOT = (
    "standard input has more than {most:,} documents and can be read only once, so no pilot has "
    "adapted the list to them: more of the topics is kept if you give a file"
)

_BITS_AT_ONCE = 1 << 12


@dataclass
class Sample:
    """A uniform sample of at most :data:`SAMPLE` documents of a stream (reservoir sampling).

    Which documents are kept depends on their number and on random bits, never on a text.
    """

    source: entropy.Source
    seen: int = 0
    places: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _bits: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _parts: list[Encoded] = field(default_factory=list)
    _rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _chosen: int = 0  # rows of the parts, and of those that are still being encoded

    def choose(self, documents: int) -> NDArray[np.intp]:
        """Look at the next documents of the stream; return which of them are kept.

        They must be given to :meth:`keep`, in the same order, once they are encoded.
        """
        first, self.seen = self.seen, self.seen + documents
        slots = np.arange(first, self.seen)
        late = slots >= SAMPLE
        if late.any():
            bits = self._next_bits(int(late.sum()))
            slots[late] = (bits / 2.0**53 * (slots[late] + 1)).astype(np.int64)
        kept = np.flatnonzero(slots < SAMPLE)
        more = np.full(min(self.seen, SAMPLE) - len(self.places), -1, dtype=np.int64)
        self.places = np.concatenate([self.places, more])
        self._rows = np.concatenate([self._rows, more])
        # Of several documents with the same slot the last one takes it.
        self.places[slots[kept]] = first + kept
        self._rows[slots[kept]] = self._chosen + np.arange(len(kept))
        self._chosen += len(kept)
        return kept

    def keep(self, encoded: Encoded) -> None:
        """Take the documents that the first call of :meth:`choose` without an answer has chosen."""
        self._parts.append(encoded)
        held = sum(map(len, self._parts))
        if held > 2 * SAMPLE:  # drop documents that have lost their slots
            here = self._rows < held
            self._parts = [join(self._parts).at(self._rows[here])]
            self._rows[here] = np.arange(here.sum())
            dropped = held - int(here.sum())
            self._rows[~here] -= dropped
            self._chosen -= dropped

    def _next_bits(self, count: int) -> NDArray[np.int64]:
        """Return random integers, asked for in blocks of a fixed number.

        Batches of the input end by bytes, so they must not decide how often the source is asked.
        """
        while len(self._bits) < count:
            block = entropy.integers(self.source, _BITS_AT_ONCE, 53)
            self._bits = np.concatenate([self._bits, block])
        taken, self._bits = self._bits[:count], self._bits[count:]
        return taken

    @property
    def complete(self) -> bool:
        """Whether all documents of the stream are in the sample, in their order."""
        return self.seen <= SAMPLE

    def encoded(self) -> Encoded:
        """Return the sampled documents, in the order of their slots; at least one was kept."""
        if len(self._parts) > 1:
            self._parts = [join(self._parts)]
        (together,) = self._parts
        return together if self.complete else together.at(self._rows)


@dataclass
class Pilot:
    """The documents that answered first.

    places : their places in the input, ascending.
    answers : their released answers.
    documents : the number of documents of the whole input.
    """

    places: NDArray[np.int64]
    answers: NDArray[np.int64]
    documents: int

    def as_bytes(self) -> bytes:
        """Return the pilot as the contents of a file of the draft, with a checksum."""
        file = io.BytesIO()
        np.savez(file, places=self.places, answers=self.answers, documents=self.documents)
        return sha256(file.getvalue()).digest() + file.getvalue()

    @classmethod
    def from_bytes(cls, raw: bytes) -> "Pilot":
        """Read what :meth:`as_bytes` returned, and refuse anything else."""
        if sha256(raw[32:]).digest() != raw[:32]:
            raise SyntfError(f"{PILOT_FILE} of the draft is damaged: start over with --force")
        with np.load(io.BytesIO(raw[32:])) as arrays:
            return cls(arrays["places"], arrays["answers"], int(arrays["documents"]))


@dataclass
class DocumentRun:
    """Draws for all documents of an input and describes what was released."""

    anonymizer: DocumentAnonymizer
    sharpened: EntryList | None = None
    mechanism: DocumentMechanism = field(init=False)  # known once the documents are counted
    _released: list[NDArray[np.int64]] = field(default_factory=list)

    terms_without_vector = 0

    @property
    def terms(self) -> list[str]:
        """The columns of the counts."""
        return self.anonymizer.encoder.terms

    @property
    def notes(self) -> Sequence[str]:
        return self.anonymizer.encoder.vectors.notes

    def guarantee(self, *, kept_columns: Sequence[str], shuffled: bool) -> Guarantee:
        """Return what the release promises, before the number of documents is known."""
        check_kept_columns(kept_columns)
        general = self.anonymizer.mechanism(None)
        return self.anonymizer.guarantee(general, kept_columns=kept_columns, shuffled=shuffled)

    def draw(
        self, rows: Rest, draft: "drafts.Draft", progress: Stages
    ) -> Iterator[tuple[Counts, Table]]:
        """Draw for all documents that are not in the draft yet; yield shards.

        An input that can be read only once, and has more documents than the sample holds, has no
        pilot.
        """
        size, repeatable = rows.corpus.size, rows.corpus.repeatable
        pilot = self._stored_pilot(draft)
        if pilot is not None:
            self._resume(pilot, draft)
            with progress("all documents", size) as advance:
                yield from self._from_stream(rows, rows.batches(advance), pilot)
            return
        sample, batches = Sample(self.anonymizer.source), []

        def chosen(stream: Iterator[Rows]) -> Iterator[tuple[Rows, NDArray[np.intp]]]:
            for batch in stream:
                yield batch, sample.choose(batch.height)

        def encode(chosen: tuple[Rows, NDArray[np.intp]]) -> Encoded:
            batch, places = chosen
            every = len(places) == batch.height
            return self.anonymizer.read(rows.texts(batch, None if every else places))

        with progress("all documents", size) as advance:
            stream = rows.batches(advance)
            for (batch, _), encoded in parallel.ahead(
                encode, chosen(stream), quick=repeatable and self._reads_quickly
            ):
                sample.keep(encoded)
                if sample.complete or not repeatable:
                    batches.append(batch)
                if not (sample.complete or repeatable):  # too long to be kept, and read once
                    if self.anonymizer.mechanism(sample.seen).plan.pilot:
                        rows.corpus.notices.append(NO_PILOT.format(most=SAMPLE))
                    pilot = self._begin(None, sample)
                    yield from self._from_stream(rows, chain(batches, stream), pilot)
                    return
        if not sample.seen:  # every row is in the draft or was left out
            sample.keep(self.anonymizer.read(()))
        pilot = self._begin(sample.seen, sample)
        if sample.complete:
            yield from self._in_memory(rows, batches, sample.encoded(), pilot)
            return
        if sample.seen >= drafts.SHARD:
            draft.store(PILOT_FILE, pilot.as_bytes())
        rows.rewind()
        with progress("second pass", size) as advance:
            yield from self._from_stream(rows, rows.batches(advance), pilot)

    def seal(self, guarantee: Guarantee) -> Guarantee:
        """Record the plan and the sharpened list, which are known once the pilot has answered."""
        planned = self.anonymizer.guarantee(
            self.mechanism, kept_columns=guarantee.kept_columns, shuffled=guarantee.shuffled
        )
        if guarantee.documents_per_author is not None:
            planned = with_author_limit(planned, guarantee.documents_per_author)
        return with_sharpened_list(planned, self.sharpened)

    def summary(self) -> DocumentSummary:
        """Return the released prototypes with their counts, corrected for the known noise."""
        general = self.mechanism.general
        none = [np.zeros(len(general), dtype=np.int64)]
        return summarize(self.mechanism, self.sharpened, self._released or none)

    def _begin(self, documents: int | None, sample: Sample) -> Pilot:
        """Choose the pilot among the sampled documents, draw for it and sharpen the list."""
        self.mechanism = mechanism = self.anonymizer.mechanism(documents)
        empty = np.zeros((0, mechanism.plan.draws), dtype=np.int64)
        pilot = Pilot(np.zeros(0, dtype=np.int64), empty, sample.seen)
        if mechanism.plan.pilot:
            order = entropy.permutation(self.anonymizer.source, len(sample.places))
            chosen = order[: mechanism.plan.pilot]
            slots = chosen[np.argsort(sample.places[chosen])]
            pilot.places = sample.places[slots]
            encoded = self._compared(sample.encoded())
            pilot.answers = mechanism.draw(encoded.at(slots), mechanism.general)
            self.sharpened = mechanism.sharpen(pilot.answers)
        return pilot

    def _resume(self, pilot: Pilot, draft: "drafts.Draft") -> None:
        """Derive the lists from the stored pilot, and count what complete shards released."""
        self.mechanism = self.anonymizer.mechanism(pilot.documents)
        if len(pilot.places):
            self.sharpened = self.mechanism.sharpen(pilot.answers)
        for documents in draft.complete_documents():
            self._count(released_counts(documents, self.mechanism.general, self.sharpened))

    def _count(self, found: list[NDArray[np.int64]]) -> None:
        """Add how often the prototypes of each list were released in a shard."""
        before = self._released or [np.zeros_like(counts) for counts in found]
        self._released = [old + new for old, new in zip(before, found, strict=True)]

    def _stored_pilot(self, draft: "drafts.Draft") -> Pilot | None:
        raw = draft.stored(PILOT_FILE)
        return None if raw is None else Pilot.from_bytes(raw)

    def _in_memory(
        self, rows: Rest, batches: Sequence[Rows], encoded: Encoded, pilot: Pilot
    ) -> Iterator[tuple[Counts, Table]]:
        columns, done = [], rows.done
        for batch in batches:
            columns.append(rows.released_columns(batch, done))
            done += batch.height
        if columns:
            yield self._shard(self._compared(encoded), tables.joined(columns), pilot, rows.done)

    def _from_stream(
        self, rows: Rest, batches: Iterator[Rows], pilot: Pilot
    ) -> Iterator[tuple[Counts, Table]]:
        waiting: list[Encoded] = []
        columns: list[Table] = []
        done = first = rows.done

        def encode(batch: Rows) -> Encoded:
            return self._compared(self.anonymizer.read(rows.texts(batch)))

        for batch, encoded in parallel.ahead(encode, batches, quick=self._reads_quickly):
            waiting.append(encoded)
            columns.append(rows.released_columns(batch, done))
            done += batch.height
            if (done - first) % drafts.SHARD == 0:
                yield self._shard(join(waiting), tables.joined(columns), pilot, first)
                waiting, columns, first = [], [], done
        if columns:
            yield self._shard(join(waiting), tables.joined(columns), pilot, first)

    @property
    def _reads_quickly(self) -> bool:
        """Whether a batch of texts is encoded within seconds."""
        by_table = self.anonymizer.reader.table is not None
        return by_table and self.anonymizer.encoder.text_encoder is None

    def _compared(self, encoded: Encoded) -> Encoded:
        """Return what the list of this run is compared with: topics need the vectors alone."""
        return encoded.without_counts() if self.mechanism.plan.kind == "topics" else encoded

    def _shard(
        self, encoded: Encoded, columns: Table, pilot: Pilot, first: int
    ) -> tuple[Counts, Table]:
        """Draw for the documents of a shard that are not in the pilot, and describe all."""
        mechanism = self.mechanism
        own = slice(*np.searchsorted(pilot.places, [first, first + len(encoded)]))
        is_pilot = np.zeros(len(encoded), dtype=bool)
        is_pilot[pilot.places[own] - first] = True
        answers = np.zeros((len(encoded), mechanism.plan.draws), dtype=np.int64)
        answers[is_pilot] = pilot.answers[own]
        rest = np.flatnonzero(~is_pilot)
        answers[rest] = mechanism.draw(encoded.at(rest), self.sharpened or mechanism.general)
        drawn = Drawn(answers, is_pilot, mechanism.general, self.sharpened)
        counts, labels = mechanism.described(drawn)
        self._count(drawn.counts())
        for name, values in released_columns(drawn, labels).items():
            columns = columns.append_column(name, ChunkedArray([values]))
        return counts, columns
