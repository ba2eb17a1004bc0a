"""Draw for whole documents on the executors: first the pilot, then all others.

Three jobs make a release with a pilot. The first computes a random number for each document from
the key of the run and the document's name; the documents with the smallest numbers are the pilot.
The second draws for the pilot, and the driver sharpens the list by what was released. The third
draws for all others, and releases for the pilot what it has released already.

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
from syntf.spark.random_bytes import BatchSource, list_key, pilot_numbers
from syntf.spark.rows import NAME, PLACE, TEXT, Numbering
from syntf.spark.sessions import Sent, map_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

PILOT, PROTOTYPES, LABELS = RELEASED_COLUMNS

NUMBER, ANSWERS = "number", "answers"
"""Columns of the jobs for the pilot: the random number of a document, and its answers."""

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

    numbers : the random numbers of its documents, ascending.
    answers : their released answers.
    sharpened : the list for all other documents.
    """

    numbers: NDArray[np.int64]
    answers: NDArray[np.int64]
    sharpened: EntryList

    def find(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Tell which documents are of the pilot, and where their answers are."""
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return self.numbers[places] == numbers, places


@dataclass(frozen=True)
class NumberDrawing:
    """Compute the random number of each document, as a function for ``mapInArrow``."""

    key: bytes = field(repr=False)
    numbering: Numbering | None

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        for batch in batches:
            numbers = pilot_numbers(self.key, names_of(batch, self.numbering))
            yield pa.RecordBatch.from_pydict({NUMBER: pa.array(numbers)})


@dataclass(frozen=True)
class PilotDrawing:
    """Draw for the documents of the pilot, as a function for ``mapInArrow``.

    last : the largest random number of the pilot.
    """

    table: Sent[DocumentTable]
    key: bytes = field(repr=False)
    last: int
    numbering: Numbering | None
    charged: Charged | None

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        table = self.table.value
        if self.charged is not None:
            batches = self.charged.confirm(batches)
        for batch in batches:
            names = names_of(batch, self.numbering)
            numbers = pilot_numbers(self.key, names)
            (chosen,) = np.nonzero(numbers <= self.last)
            if not len(chosen):
                continue
            texts = text_bytes(batch.column(TEXT).take(pa.array(chosen)))
            with threadpool_limits(1), parallel.at_most(1):  # a task has one core
                answers = table.draw(
                    table.mechanism.general, self.key, [names[place] for place in chosen],
                    texts, table.read(texts),
                )  # fmt: skip
            columns = {
                NUMBER: pa.array(numbers[chosen]),
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
            is_pilot, places = pilot.find(pilot_numbers(self.key, names))
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
    mechanism = drawing.table.value.mechanism
    size = mechanism.plan.pilot
    numbers = smallest_numbers(frame, drawing.key, drawing.numbering, documents, size)
    last = int(numbers[-1])
    job = PilotDrawing(drawing.table, drawing.key, last, drawing.numbering, drawing.charged)
    rows = map_rows(frame, job, f"{NUMBER} long, {ANSWERS} array<long>").collect()
    found = {row[NUMBER]: row[ANSWERS] for row in rows}
    if len(rows) != size or sorted(found) != numbers.tolist():
        raise SyntfError(_CHANGED)
    answers = np.array([found[number] for number in numbers.tolist()], dtype=np.int64)
    return PilotAnswers(numbers, answers, mechanism.sharpen(answers))


def smallest_numbers(
    frame: "DataFrame", key: bytes, numbering: Numbering | None, documents: int, size: int
) -> NDArray[np.int64]:
    """Return the `size` smallest random numbers of all documents, ascending.

    Only numbers below a bound are collected, so that the driver holds about as many as it needs.
    """
    named = frame.select(*(column for column in (NAME, PLACE) if column in frame.columns))
    job = NumberDrawing(key, numbering)
    wanted = size + 8 * size**0.5
    while True:
        bound = min(_NUMBERS, int(_NUMBERS * wanted / documents))
        rows = map_rows(named, job, f"{NUMBER} long").where(f"{NUMBER} <= {bound - 1}").collect()
        numbers = np.sort(np.array([row[NUMBER] for row in rows], dtype=np.int64))
        if len(numbers) >= size:
            break
        if bound == _NUMBERS:
            raise SyntfError(_CHANGED)
        wanted *= 2
    if len(np.unique(numbers[: size + 1])) < min(size + 1, len(numbers)):
        same = "id" if NAME in frame.columns else "random number: run again"
        raise SyntfError(f"two documents have the same {same}")
    return numbers[:size]
