"""Draw on the executors: Arrow batches of texts in, Arrow batches of synthetic counts out."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from syntf.core import parallel
from syntf.core.counts import Counts
from syntf.pipeline.anonymizer import Anonymizer
from syntf.spark.charging import Charged
from syntf.spark.random_bytes import BatchSource, draw_sizes, order_keys
from syntf.spark.rows import NAME, NOT_UNIQUE, PLACE, TEXT, Numbering, kept_name
from syntf.spark.sessions import Sent

if TYPE_CHECKING:
    import pyarrow as pa
    from scipy.sparse import csr_matrix

Output = Literal["vector", "arrays"]
"""Counts as a sparse vector of Spark ML, or as an array of terms and an array of counts."""

TERMS, COUNTS = "terms", "counts"
"""Columns that a release adds to the kept ones. A vector is in `counts`, without `terms`."""

ORDER = "syntf_order"
"""Column with the random integer that rows are sorted by. It is removed before the release."""

_SPARSE_VECTOR = 0  # the code of sparse vectors in Spark ML's struct


Table = TypeVar("Table")


@dataclass(frozen=True)
class Drawing(ABC, Generic[Table]):
    """The function that ``DataFrame.mapInArrow`` calls in every task.

    table : what draws; each worker process reads it once.
    key : the key of the run (:mod:`syntf.spark.random_bytes`).
    keep : the released names of the kept columns.
    numbering : the numbers of the documents, if they have no id.
    charged : the documents that a ledger was charged for, if there is one.
    """

    table: Sent[Table]
    key: bytes = field(repr=False)
    keep: Sequence[str]
    output: Output
    numbering: Numbering | None = None
    charged: Charged | None = None

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        if self.charged is not None:
            batches = self.charged.confirm(batches)
        for batch in batches:
            names, texts = names_of(batch, self.numbering), text_bytes(batch.column(TEXT))
            columns = dict(
                zip(
                    self.keep, map(batch.column, map(kept_name, range(len(self.keep)))), strict=True
                )
            )
            with threadpool_limits(1), parallel.at_most(1):  # a task has one core
                columns |= self.released(names, texts)
            columns[ORDER] = pa.array(order_keys(self.key, names))
            yield pa.RecordBatch.from_pydict(columns)

    @abstractmethod
    def released(self, names: Sequence[bytes], texts: Sequence[bytes]) -> dict[str, Any]:
        """Draw for documents; return the columns that a release adds to the kept ones."""


@dataclass(frozen=True)
class WordDrawing(Drawing[Anonymizer]):
    """Draw for documents word by word."""

    def released(self, names: Sequence[bytes], texts: Sequence[bytes]) -> dict[str, Any]:
        """Draw for documents; return the columns that hold the counts."""
        anonymizer = self.table.value
        counts = draw(anonymizer, self.key, names, texts)
        return count_columns(counts, self.output, anonymizer.vocabulary.outputs)


def names_of(batch: "pa.RecordBatch", numbering: Numbering | None) -> list[bytes]:
    """Return the names of documents: their ids, or else their numbers in the input."""
    if NAME in batch.schema.names or numbering is None:
        return name_bytes(batch.column(NAME))
    places: NDArray[np.int64] = batch.column(PLACE).to_numpy()
    return [b"%d" % number for number in numbering.numbers_of(places).tolist()]


def draw(
    anonymizer: Anonymizer, key: bytes, names: Sequence[bytes], texts: Sequence[bytes]
) -> "csr_matrix":
    """Draw synthetic counts; those of a document depend on the key, its name and its text."""
    settings = anonymizer.settings
    sizes = draw_sizes(settings.length, systematic=settings.draws == "systematic")
    documents = anonymizer.read([text.decode("utf-8", "replace") for text in texts])
    source = BatchSource.for_documents(key, names, texts, sizes)
    return replace(anonymizer, source=source).draw(documents)


def text_bytes(column: "pa.Array") -> list[bytes]:
    """Return texts as bytes, which need not be valid UTF-8; a missing text is empty."""
    import pyarrow as pa

    return [text or b"" for text in column.cast(pa.binary()).to_pylist()]


def name_bytes(column: "pa.Array") -> list[bytes]:
    """Return ids as bytes: texts as they are, whole numbers in decimal."""
    import pyarrow as pa

    if column.null_count:
        raise RuntimeError(NOT_UNIQUE)
    if pa.types.is_integer(column.type):
        return [b"%d" % name for name in column.to_pylist()]
    names: list[bytes] = column.cast(pa.binary()).to_pylist()
    return names


def count_columns(counts: Counts, output: Output, terms: Sequence[str]) -> dict[str, Any]:
    """Return the columns that hold the counts, in Spark's types."""
    import pyarrow as pa

    rows, size = counts.shape
    ends = pa.array(counts.indptr, pa.int32())
    if output == "arrays":
        words = pa.DictionaryArray.from_arrays(pa.array(counts.indices), pa.array(terms))
        return {
            TERMS: pa.ListArray.from_arrays(ends, words.dictionary_decode()),
            COUNTS: pa.ListArray.from_arrays(ends, pa.array(counts.data, pa.int32())),
        }
    fields = {
        "type": pa.array(np.full(rows, _SPARSE_VECTOR, dtype=np.int8)),
        "size": pa.array(np.full(rows, size, dtype=np.int32)),
        "indices": pa.ListArray.from_arrays(ends, pa.array(counts.indices, pa.int32())),
        "values": pa.ListArray.from_arrays(ends, pa.array(counts.data.astype(np.float64))),
    }
    return {COUNTS: pa.StructArray.from_arrays(list(fields.values()), names=list(fields))}
