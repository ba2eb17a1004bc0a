"""Check what the files of an untrusted release hold: its documents and its counts."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arro3.core import DataType, Table

from syntf.core import tables
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages
from syntf.core.release_names import ROW_NUMBER
from syntf.privacy.guarantee import Guarantee
from syntf.releases.contents.folder import row_numbers, spreadsheet_file
from syntf.releases.contents.writers import documents_csv, write_documents
from syntf.report.figures import Sparsity
from syntf.verification.counts_file import Expected, read_counts
from syntf.verification.parquet_file import (
    check_documents_bytes,
    check_readable,
    read_table,
    rows_of,
)
from syntf.verification.plausibility import Plausibility, RepeatedRows
from syntf.verification.release_folder import Shards, by_spark, plain_bytes
from syntf.verification.result import Finding, one_line

MOST_DOCUMENTS = 1 << 24
"""Documents in one file at most; syntf writes about 65,536."""


@dataclass(frozen=True)
class Documents:
    """The columns of the files of documents, the rows of each, and files not fully compared."""

    schema: Mapping[str, DataType]
    rows: Sequence[int]
    uncompared: Sequence[str]

    @property
    def columns(self) -> Sequence[str]:
        """The names of the columns."""
        return list(self.schema)


def check_documents(
    folder: Path, guarantee: Guarantee, shards: Shards, described: Sequence[str] = ()
) -> Finding:
    """Check the files of documents; the value of the finding is :class:`Documents`.

    described : columns after the kept ones, whose values other checks compare.
    """
    kept, rows, uncompared = list(guarantee.kept_columns), list[int](), list[str]()
    expected = [*kept, *described]
    schema: Mapping[str, DataType] = dict.fromkeys(expected, tables.STRING)
    tried = False
    for number, (counts, name) in enumerate(shards):
        count = rows_of(folder / name)
        if count > MOST_DOCUMENTS:
            raise SyntfError(f"{name} claims {count:,} rows, more than syntf writes to a file")
        table = None if expected else _numbers_alone(folder / name, sum(rows), count)
        if table is None:
            if not tried:
                check_readable([folder / other for _, other in shards[number:]])
                tried = True
            table = read_table(folder / name)
        schema = tables.types(table)
        columns = list(schema)
        if by_spark(guarantee):
            if columns not in ([*expected, "counts"], [*expected, "terms", "counts"]):
                raise SyntfError(f"{name} has columns other than kept_columns and counts")
        else:
            if columns not in (expected, [ROW_NUMBER, *expected]):
                raise SyntfError(f"{name} has columns other than kept_columns")
            if not _check_documents_file(folder / name, table, expected, sum(rows)):
                uncompared.append(name)
            if counts.endswith(".csv"):
                _check_spreadsheet(spreadsheet_file(folder / name), table)
        rows.append(count)
    kept_text = f"with the kept columns {one_line(', '.join(kept))}" if kept else "no kept column"
    return Finding(f"{sum(rows):,} documents, {kept_text}", Documents(schema, rows, uncompared))


def _numbers_alone(path: Path, first: int, count: int) -> Table | None:
    """Return the table of a file that numbers its documents; None if it holds other bytes.

    Nothing is decoded.
    """
    numbers = tables.of({ROW_NUMBER: row_numbers(first, count)})
    written = io.BytesIO()
    write_documents(written, numbers)
    return numbers if path.read_bytes() == written.getvalue() else None


def check_counts_readable(folder: Path, guarantee: Guarantee, shards: Shards) -> None:
    """Refuse Parquet files of counts that cannot be decoded; Spark's hold the documents, too."""
    names = [name for name, _ in shards if name.endswith(".parquet")]
    check_readable([] if by_spark(guarantee) else [folder / name for name in names])


def _check_spreadsheet(path: Path, documents: Table) -> None:
    """Check that a CSV file holds the documents of a shard and nothing else."""
    expected = documents_csv(documents)
    if plain_bytes(path, len(expected)) != expected:
        raise SyntfError(f"{path.name} differs from the Parquet file of the same documents")


def _check_documents_file(
    path: Path, documents: Table, expected: Sequence[str], first: int
) -> bool:
    """Check the numbers of documents and all bytes; returns whether every byte was compared."""
    if documents.column_names != expected:
        numbers = np.arange(first, first + documents.num_rows)
        found = documents.column(ROW_NUMBER)
        right = DataType.is_int64(found.type) and not found.null_count
        if not (right and np.array_equal(found.to_numpy(), numbers)):
            raise SyntfError(f"{path.name} does not number its documents in order")
    try:
        return check_documents_bytes(path, documents)
    except SyntfError as error:
        raise SyntfError(f"{path.name}: {error}") from None


@dataclass(frozen=True)
class CountsFound:
    """The sparsity of all counts, and the files that were not fully compared."""

    sparsity: Sparsity
    uncompared: Sequence[str]


def check_counts(
    folder: Path,
    guarantee: Guarantee,
    shards: Shards,
    terms: Sequence[str],
    rows: Sequence[int],
    find_plausibility: Callable[[], Plausibility | None],
    stages: Stages,
) -> Finding:
    """Check all counts, and show them to the plausibility; the value is :class:`CountsFound`.

    find_plausibility : returns None without a table. It is called once the first file was read,
        as it may have to wait for the table.
    """
    check_counts_readable(folder, guarantee, shards)
    first, uncompared, rows_before = 0, list[str](), RepeatedRows(len(terms))
    sparsity = Sparsity.count(np.empty(0, dtype=np.int64), min(guarantee.length, len(terms)))
    with stages("checking counts", sum(rows)) as advance:
        for (name, _), count in zip(shards, rows, strict=True):
            expected = Expected(terms, count, first, guarantee.length, by_spark(guarantee))
            checked = read_counts(folder / name, expected)
            if not checked.compared:
                uncompared.append(name)
            sparsity += Sparsity.count(np.diff(checked.counts.indptr), expected.most_distinct)
            repeated = rows_before.find(checked.counts)
            if plausibility := find_plausibility():
                plausibility.add(checked.counts, first, repeated)
            first += count
            advance(count)
    detail = f"exactly {guarantee.length:,} words in each of {first:,} documents"
    return Finding(detail, CountsFound(sparsity, uncompared))
