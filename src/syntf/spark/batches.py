"""What an executor does: batches of rows in, batches of synthetic counts out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from syntf.core import parallel
from syntf.pipeline.anonymizer import Anonymizer
from syntf.spark.rows import NAME, TEXT, kept
from syntf.spark.streams import Dealt, shares

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import Broadcast

Output = Literal["vector", "arrays"]
"""Counts as a sparse vector of Spark ML, or as an array of terms and one of counts."""

TERMS, COUNTS = "terms", "counts"
"""The columns that a release adds to those that are kept; a vector is `counts` alone."""

_SPARSE = 0  # the type that Spark ML's vectors have in their struct


@dataclass(frozen=True)
class Drawing:
    """Draws for the rows of Arrow batches: what ``DataFrame.mapInArrow`` calls in every task.

    table : an :class:`~syntf.pipeline.anonymizer.Anonymizer`, which each worker process reads once.
    key : that of the run (:mod:`syntf.spark.streams`).
    keep : what the columns that are released beside the counts are called.
    """

    table: "Broadcast[Anonymizer]"
    key: bytes = field(repr=False)
    keep: Sequence[str]
    output: Output

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        anonymizer = self.table.value
        for batch in batches:
            names, texts = as_names(batch.column(NAME)), as_texts(batch.column(TEXT))
            with threadpool_limits(1), parallel.at_most(1):  # a task has one core
                counts = drawn(anonymizer, self.key, names, texts)
            columns = [batch.column(kept(number)) for number in range(len(self.keep))]
            made = _written(counts, self.output, anonymizer.vocabulary.outputs)
            yield pa.RecordBatch.from_arrays([*columns, *made.values()], names=[*self.keep, *made])


def drawn(
    anonymizer: Anonymizer, key: bytes, names: Sequence[bytes], texts: Sequence[bytes]
) -> csr_matrix:
    """Synthetic counts, each document's from the stream of its name and text alone."""
    settings = anonymizer.settings
    taken = shares(settings.length, systematic=settings.draws == "systematic")
    documents = anonymizer.read([text.decode("utf-8", "replace") for text in texts])
    return replace(anonymizer, source=Dealt.of(key, names, texts, taken)).draw(documents)


def as_texts(column: "pa.Array") -> list[bytes]:
    """The bytes of texts, UTF-8 or not; a missing one is empty."""
    import pyarrow as pa

    return [text or b"" for text in column.cast(pa.binary()).to_pylist()]


def as_names(column: "pa.Array") -> list[bytes]:
    """The bytes of names: of texts as they are, of whole numbers in decimal."""
    import pyarrow as pa

    if column.null_count:
        raise RuntimeError("a document has no name")
    if pa.types.is_integer(column.type):
        return [b"%d" % name for name in column.to_pylist()]
    names: list[bytes] = column.cast(pa.binary()).to_pylist()
    return names


def _written(counts: csr_matrix, output: Output, terms: Sequence[str]) -> dict[str, Any]:
    """The columns that hold the counts, as Spark takes them."""
    import pyarrow as pa

    rows, size = counts.shape
    ends = pa.array(counts.indptr, pa.int32())
    if output == "arrays":
        words = pa.DictionaryArray.from_arrays(pa.array(counts.indices), pa.array(terms))
        return {
            TERMS: pa.ListArray.from_arrays(ends, words.dictionary_decode()),
            COUNTS: pa.ListArray.from_arrays(ends, pa.array(counts.data, pa.int32())),
        }
    parts = {
        "type": pa.array(np.full(rows, _SPARSE, dtype=np.int8)),
        "size": pa.array(np.full(rows, size, dtype=np.int32)),
        "indices": pa.ListArray.from_arrays(ends, pa.array(counts.indices, pa.int32())),
        "values": pa.ListArray.from_arrays(ends, pa.array(counts.data.astype(np.float64))),
    }
    return {COUNTS: pa.StructArray.from_arrays(list(parts.values()), names=list(parts))}
