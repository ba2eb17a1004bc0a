"""Draw for whole documents on the executors: first the pilot, then all others.

First the pilot is chosen. Without an id, the driver chooses document numbers at random, from the
key of the run. With an id, a job computes a random number for each document from the key and the
id; the documents with the smallest numbers are the pilot. A job then draws for the pilot, and the
driver sharpens the list by what was released. The last job draws for all others, and releases for
the pilot what it has released already.

*Guarantee.* Every document is drawn for in one job only. Attempts of a task repeat the same draws
(:mod:`syntf.spark.random_bytes`). Which documents are the pilot does not depend on a text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from syntf.codebook.encoder import Encoded
from syntf.codebook.lists import EntryList
from syntf.core import parallel
from syntf.core.errors import SyntfError
from syntf.pipeline.document import (
    RELEASED_COLUMNS,
    DocumentAnonymizer,
    DocumentMechanism,
    Drawn,
)
from syntf.spark.charging import Charged
from syntf.spark.drawing import Drawing, count_columns, names_of, text_bytes
from syntf.spark.random_bytes import BatchSource, list_key, pilot_numbers, sample_numbers
from syntf.spark.rows import NAME, PLACE, TEXT, Numbering
from syntf.spark.sessions import Sent, local_frame, map_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

PILOT, PROTOTYPES, LABELS = RELEASED_COLUMNS

NUMBER, ANSWERS, MEMBER = "number", "answers", "member"
"""Columns of the jobs for the pilot: the number of a document (:func:`numbers_of`), its answers,
and the places or ids of the documents of the pilot."""

_NUMBERS = 1 << 63
_CHANGED = "the input changed while it was being read, so nothing was released: run again"


@dataclass(frozen=True)
class DocumentTable:
    """What the executors need to draw; it is sent to each of them once."""

    anonymizer: DocumentAnonymizer
    mechanism: DocumentMechanism

    def read(self, texts: Sequence[bytes]) -> Encoded:
        """Encode texts, each by itself."""
        return self.anonymizer.read([text.decode("utf-8", "replace") for text in texts])

    def draw(
        self,
        entry_list: EntryList,
        key: bytes,
        names: Sequence[bytes],
        texts: Sequence[bytes],
        encoded: Encoded,
    ) -> NDArray[np.int64]:
        """Draw answers; those of a document depend on the key, the list, its name and its text."""
        mechanism = self.mechanism
        draws = mechanism.plan.draws
        targets = entry_list.targets(encoded, mechanism.encoder, draws)
        own = list_key(key, entry_list.digest)
        source = BatchSource.for_documents(own, names, texts, [8 * draws])
        return mechanism.response(entry_list).sample(targets, source=source)


@dataclass(frozen=True, eq=False)
class PilotAnswers:
    """What the pilot has released, and the list that it led to.

    numbers : the numbers of its documents, ascending (:func:`numbers_of`).
    answers : their released answers.
    sharpened : the list for all other documents.
    has_ids : whether the documents have ids.
    """

    numbers: NDArray[np.int64]
    answers: NDArray[np.int64]
    sharpened: EntryList
    has_ids: bool = True

    def find(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Tell which documents are of the pilot, and where their answers are."""
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return self.numbers[places] == numbers, places


def numbers_of(key: bytes, names: Sequence[bytes], *, has_ids: bool) -> NDArray[np.int64]:
    """Return the numbers that documents of the pilot are found by.

    A random number for each id; or the names themselves, if documents are named by their numbers.
    """
    if has_ids:
        return pilot_numbers(key, names)
    return np.array(names, dtype=bytes).astype(np.int64)


@dataclass(frozen=True)
class NumberDrawing:
    """Compute the random number of each id, as a function for ``mapInArrow``."""

    key: bytes = field(repr=False)

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        for batch in batches:
            names = names_of(batch, None)
            numbers = pa.array(pilot_numbers(self.key, names))
            yield pa.RecordBatch.from_pydict({NUMBER: numbers, NAME: pa.array(names, pa.binary())})


@dataclass(frozen=True)
class PilotDrawing:
    """Draw for the documents of the pilot, as a function for ``mapInArrow``.

    chosen : the numbers of the documents of the pilot, ascending. Other documents are left out.
    """

    table: Sent[DocumentTable]
    key: bytes = field(repr=False)
    chosen: NDArray[np.int64] = field(repr=False)
    numbering: Numbering | None
    charged: Charged | None
    has_ids: bool = True

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        table = self.table.value
        if self.charged is not None:
            batches = self.charged.confirm(batches)
        for batch in batches:
            names = names_of(batch, self.numbering)
            numbers = numbers_of(self.key, names, has_ids=self.has_ids)
            (places,) = np.nonzero(np.isin(numbers, self.chosen))
            if not len(places):
                continue
            texts = text_bytes(batch.column(TEXT).take(pa.array(places)))
            with threadpool_limits(1), parallel.at_most(1):  # a task has one core
                answers = table.draw(
                    table.mechanism.general, self.key, [names[place] for place in places],
                    texts, table.read(texts),
                )  # fmt: skip
            columns = {
                NUMBER: pa.array(numbers[places]),
                ANSWERS: pa.array(answers.tolist(), pa.list_(pa.int64())),
            }
            yield pa.RecordBatch.from_pydict(columns)


@dataclass(frozen=True)
class DocumentDrawing(Drawing[DocumentTable]):
    """Draw for all documents that are not of the pilot, and describe what was released of all."""

    pilot: Sent[PilotAnswers] | None = None

    def released(self, names: Sequence[bytes], texts: Sequence[bytes]) -> dict[str, Any]:
        """Return the columns that a release adds to the kept ones."""
        import pyarrow as pa

        table = self.table.value
        mechanism = table.mechanism
        encoded = table.read(texts)
        is_pilot = np.zeros(len(names), dtype=bool)
        answers = np.zeros((len(names), mechanism.plan.draws), dtype=np.int64)
        sharpened = None
        if self.pilot is not None:
            pilot = self.pilot.value
            is_pilot, places = pilot.find(numbers_of(self.key, names, has_ids=pilot.has_ids))
            answers[is_pilot] = pilot.answers[places[is_pilot]]
            sharpened = pilot.sharpened
        (rest,) = np.nonzero(~is_pilot)
        answers[rest] = table.draw(
            sharpened or mechanism.general, self.key, [names[place] for place in rest.tolist()],
            [texts[place] for place in rest.tolist()], encoded.at(rest),
        )  # fmt: skip
        drawn = Drawn(answers, is_pilot, mechanism.general, sharpened)
        counts, labels = mechanism.described(drawn)
        entries: list[list[int]] = [[]] * len(names)
        for entry_list, own in drawn.parts():
            for place, row in zip(
                own.tolist(), drawn.entries(entry_list, own).tolist(), strict=True
            ):
                entries[place] = row
        columns: dict[str, Any] = {} if sharpened is None else {PILOT: pa.array(is_pilot)}
        columns |= {
            PROTOTYPES: pa.array(entries, pa.list_(pa.int32())),
            LABELS: pa.array(labels, pa.string()),
        }
        return columns | count_columns(counts, self.output, mechanism.terms)


def draw_pilot(frame: "DataFrame", drawing: DocumentDrawing, documents: int) -> PilotAnswers:
    """Choose the pilot, draw for it, and sharpen the list by what was released.

    frame : the documents, under their internal names.
    drawing : what will draw for the others.
    documents : the number of documents.
    """
    mechanism, numbering = drawing.table.value.mechanism, drawing.numbering
    size = mechanism.plan.pilot
    has_ids = NAME in frame.columns
    members: Sequence[Any]
    if has_ids or numbering is None:
        numbers, members = smallest_numbers(frame, drawing.key, documents, size)
    else:
        numbers = sample_numbers(drawing.key, documents, size)
        members = numbering.places_of(numbers).tolist()
    if drawing.charged is None:  # a ledger confirms all rows of a task
        frame = only_members(frame, members)
    job = PilotDrawing(drawing.table, drawing.key, numbers, numbering, drawing.charged, has_ids)
    rows = map_rows(frame, job, f"{NUMBER} long, {ANSWERS} array<long>").collect()
    found = {row[NUMBER]: row[ANSWERS] for row in rows}
    if len(rows) != size or sorted(found) != numbers.tolist():
        raise SyntfError(_CHANGED)
    answers = np.array([found[number] for number in numbers.tolist()], dtype=np.int64)
    return PilotAnswers(numbers, answers, mechanism.sharpen(answers), has_ids)


def only_members(frame: "DataFrame", members: Sequence[Any]) -> "DataFrame":
    """Return the rows of the pilot, so that no other text is sent to Python.

    members : the ids of the pilot as bytes; or the places of its documents, if they have no ids.
    """
    from pyspark.sql import functions

    kind, own = "long", PLACE
    if NAME in frame.columns:
        kind, own = "binary", f"cast(cast({NAME} as string) as binary)"
    chosen = local_frame(frame, f"{MEMBER} {kind}", members)
    return frame.join(functions.broadcast(chosen), functions.expr(f"{own} = {MEMBER}"), "left_semi")


def smallest_numbers(
    frame: "DataFrame", key: bytes, documents: int, size: int
) -> tuple[NDArray[np.int64], list[bytes]]:
    """Return the `size` smallest random numbers of all documents, ascending, and their ids.

    Only numbers below a bound are collected, so that the driver holds about as many as it needs.
    """
    job = NumberDrawing(key)
    wanted = size + 8 * size**0.5
    while True:
        bound = min(_NUMBERS, int(_NUMBERS * wanted / documents))
        numbered = map_rows(frame.select(NAME), job, f"{NUMBER} long, {NAME} binary")
        rows = numbered.where(f"{NUMBER} <= {bound - 1}").collect()
        found = sorted((row[NUMBER], bytes(row[NAME])) for row in rows)
        if len(found) >= size:
            break
        if bound == _NUMBERS:
            raise SyntfError(_CHANGED)
        wanted *= 2
    numbers = np.array([number for number, _ in found], dtype=np.int64)
    if len(np.unique(numbers[: size + 1])) < min(size + 1, len(numbers)):
        raise SyntfError("two documents have the same id")
    return numbers[:size], [name for _, name in found[:size]]
