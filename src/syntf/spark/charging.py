"""Charge a ledger for the documents of a frame, and confirm them when they are drawn for.

Names are hashed on the executors, so that no text passes through the driver. The ledger's key is
sent to them like the key of the run: in memory, never in a file.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from syntf.core.errors import SyntfError
from syntf.ledger.names import Charge, HashedNames, NamedBy, Names
from syntf.spark.rows import AUTHOR, NAME, NOT_UNIQUE, PLACE, TEXT, Numbering, not_unique
from syntf.spark.sessions import map_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from syntf.ledger.ledger import Ledger
    from syntf.privacy.guarantee import Guarantee

ROWS_AT_ONCE = 10_000


@dataclass(frozen=True)
class LedgerNames:
    """Hash the names of documents and authors, as a function for ``DataFrame.mapInArrow``."""

    key: bytes = field(repr=False)
    by: NamedBy
    authors: bool

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        for batch in batches:
            digests = self.hashed(batch)
            missing = [None] * batch.num_rows
            columns = {
                PLACE: batch.column(PLACE),
                NAME: pa.array(digests["document"], pa.binary()),
                AUTHOR: pa.array(digests.get("author", missing), pa.binary()),
            }
            yield pa.RecordBatch.from_pydict(columns)

    def hashed(self, batch: "pa.RecordBatch") -> dict[str, list[bytes]]:
        """Return the digests of a batch, the same as a release on one machine would charge."""
        if self.by == "id" and batch.column(NAME).null_count:
            raise RuntimeError(NOT_UNIQUE)
        documents = _as_text(batch.column(NAME if self.by == "id" else TEXT))
        authors = _as_text(batch.column(AUTHOR)) if self.authors else None
        return Names(documents, authors, self.by).hashed(self.key)


@dataclass(frozen=True)
class Charged:
    """The documents that a ledger was charged for: a hash of the names in each split."""

    names: LedgerNames
    numbering: Numbering
    split_hashes: list[bytes] = field(repr=False)

    def confirm(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Pass the batches of a task through; raise at the end if the ledger was not charged.

        A task that raises has no output, so nothing that it drew becomes visible.
        """
        hashes: dict[int, Any] = {}
        for batch in batches:
            digests = self.names.hashed(batch)
            rows = zip(*digests.values(), strict=True)
            places = batch.column(PLACE).to_numpy()
            for split, row in zip(self.numbering.splits_of(places).tolist(), rows, strict=True):
                hashes.setdefault(split, sha256()).update(b"".join(row))
            yield batch
        if any(found.digest() != self.split_hashes[split] for split, found in hashes.items()):
            raise RuntimeError("the input changed after the ledger was charged for it")


def charge(
    frame: "DataFrame",
    numbering: Numbering,
    ledger: "Ledger",
    guarantee: "Guarantee",
    id: str | None = None,
) -> tuple[Charge, Charged]:
    """Charge the loss of every document of a frame with places, before anything is drawn.

    A document is named by its id if the frame has ids, else by its text. `id` is the name of the
    column for an error message.

    Raises
    ------
    BudgetError : a budget would be exceeded; nothing was charged.
    SyntfError : an id is missing or occurs twice; nothing was charged.
    """
    by: NamedBy = "id" if NAME in frame.columns else "text"
    names = LedgerNames(ledger.name_key(), by, AUTHOR in frame.columns)
    hashes = [sha256() for _ in numbering.sizes]
    schema = f"{PLACE} long, {NAME} binary, {AUTHOR} binary"
    digests = map_rows(frame, names, schema).persist()
    try:
        if digests.count() != numbering.documents:  # also computes all digests in parallel
            raise SyntfError("the input changed while it was being read: run again")
        if by == "id" and not digests.groupBy(NAME).count().where("count > 1").isEmpty():
            raise not_unique(id or "")

        def batches() -> Iterator[Names]:
            iterator = digests.toLocalIterator()
            while rows := list(islice(iterator, ROWS_AT_ONCE)):
                columns = {"document": [bytes(row[NAME]) for row in rows]}
                if names.authors:
                    columns["author"] = [bytes(row[AUTHOR]) for row in rows]
                places = np.array([row[PLACE] for row in rows])
                parts = zip(*columns.values(), strict=True)
                for split, part in zip(numbering.splits_of(places).tolist(), parts, strict=True):
                    hashes[split].update(b"".join(part))
                placeholders = [""] * len(rows)
                authors = placeholders if names.authors else None
                yield HashedNames(placeholders, authors, by, columns)

        charged = ledger.charge(guarantee, batches())
    finally:
        digests.unpersist()
    return charged, Charged(names, numbering, [found.digest() for found in hashes])


def _as_text(column: "pa.Array") -> list[str]:
    """Return values as text, as a release on one machine names them; a missing one is empty."""
    import pyarrow as pa

    if pa.types.is_integer(column.type):
        return ["" if value is None else str(value) for value in column.to_pylist()]
    values = column.cast(pa.binary()).to_pylist()
    return ["" if value is None else value.decode("utf-8", "replace") for value in values]
