"""Read counts from Parquet files of an untrusted release, with polars."""

from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from syntf.core.counts import Rows
from syntf.core.errors import SyntfError
from syntf.verification.counts_file import CheckedCounts, Expected, rows_of, writer
from syntf.verification.parquet_file import check_bytes, check_sizes


def open_parquet(path: Path, rows: int) -> pl.LazyFrame:
    """Return a lazy table of exactly this file; refuse it if it has another number of rows."""
    check_sizes(path)
    table = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    found = table.select(pl.len()).collect().item()
    if found != rows:
        raise SyntfError(f"{found:,} rows for {rows:,} documents")
    return table


def write_frame(file: IO[bytes], frame: pl.DataFrame) -> None:
    """Write a frame as earlier versions wrote the columns beside the counts."""
    frame.rechunk().write_parquet(file)


def read_parquet(path: Path, expected: Expected) -> CheckedCounts:
    """Read lists of terms and counts, as syntf or Spark writes them."""
    if expected.by_spark:
        return _spark_parquet(path, expected)
    table = open_parquet(path, expected.rows)
    schema = {"document": pl.Int64(), "terms": pl.List(pl.String), "counts": pl.List(pl.Int32)}
    if dict(table.collect_schema()) != schema:
        raise SyntfError("the columns are not document, terms and counts")
    frame = table.collect()
    numbers = pl.Series("document", np.arange(expected.rows, dtype=np.int64) + expected.first)
    if not frame["document"].equals(numbers):
        raise SyntfError("the documents are not numbered in order")
    counts = _from_lists(frame["terms"], frame["counts"], expected, by_name=True)
    del frame  # before the table is built once more
    return CheckedCounts(counts, check_bytes(path, writer(path, counts, expected)))


SPARK_VECTOR = pl.Struct(
    [
        pl.Field("type", pl.Int8),
        pl.Field("size", pl.Int32),
        pl.Field("indices", pl.List(pl.Int32)),
        pl.Field("values", pl.List(pl.Float64)),
    ]
)
"""A vector of Spark ML, in a Parquet file."""


def _spark_parquet(path: Path, expected: Expected) -> CheckedCounts:
    """Read lists of terms and counts, or vectors of Spark ML, beside kept columns."""
    table = open_parquet(path, expected.rows)
    schema = table.collect_schema()
    found = schema.get("terms"), schema.get("counts")
    frame = table.collect()
    if found == (pl.List(pl.String), pl.List(pl.Int32)):
        counts = _from_lists(frame["terms"], frame["counts"], expected, by_name=True)
    elif found[1] == SPARK_VECTOR:
        vectors = frame["counts"].struct.unnest()
        kinds = set(zip(vectors["type"].to_list(), vectors["size"].to_list(), strict=True))
        if kinds - {(0, len(expected.terms))}:
            raise SyntfError("the vectors are of another kind or size")
        if (vectors["values"].explode() % 1 != 0).any():
            raise SyntfError("a count is not a whole number")
        values = vectors["values"].cast(pl.List(pl.Int64))
        counts = _from_lists(vectors["indices"], values, expected, by_name=False)
    else:
        raise SyntfError("the columns are not those of a release by Spark")
    compared = check_bytes(path, lambda file: write_frame(file, frame))
    return CheckedCounts(counts, compared)


def _from_lists(terms: pl.Series, counts: pl.Series, expected: Expected, *, by_name: bool) -> Rows:
    """Return checked counts from lists of terms, or of columns, and lists of their counts."""
    sizes = terms.list.len().to_numpy()
    if sizes.size and not (sizes.min() >= 1 and sizes.max() <= expected.most_distinct):
        raise SyntfError("a row has no words or too many")  # for a missing list, sizes are NaN
    if not np.array_equal(sizes, counts.list.len().to_numpy()):
        raise SyntfError("the numbers of terms and of counts differ")
    columns, numbers = terms.explode(), counts.explode()
    if columns.null_count() or numbers.null_count():
        raise SyntfError("a count is missing")
    if by_name:
        known = pl.Series(expected.terms, dtype=pl.String)
        place = pl.int_range(len(known), dtype=pl.Int32, eager=True)
        columns = columns.replace_strict(known, place, default=-1, return_dtype=pl.Int32)
    return rows_of(sizes, columns.to_numpy(), numbers.to_numpy(), expected)
