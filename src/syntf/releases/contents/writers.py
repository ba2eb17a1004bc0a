"""Write synthetic counts in the formats that other tools read, and the documents beside them."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, repeat
from typing import IO, Any

import numpy as np
from arro3.core import Table

from syntf.core import tables
from syntf.core.counts import Counts, released_type
from syntf.core.csv_files import BYTE_ORDER_MARK, as_csv, cell_text
from syntf.core.release_names import ROW_NUMBER
from syntf.releases.contents import archive
from syntf.report.document_summary import DocumentSummary

Writer = Callable[[IO[bytes], Counts, Sequence[str], int], None]
"""Writes counts over some terms to a file; the last argument numbers the first document."""

LISTED_DOCUMENTS = 1 << 12
"""Documents whose lists of terms are built at once."""


def npz(file: IO[bytes], counts: Counts, terms: Sequence[str], first: int) -> None:
    """Write a file for ``scipy.sparse.load_npz``."""
    arrays = {
        "indices": counts.indices,
        "indptr": counts.indptr,
        "format": np.array(b"csr"),
        "shape": np.array(counts.shape),
        "data": counts.data,
    }
    types = {name: released_type(array.dtype) for name, array in arrays.items()}
    archive.write_arrays(file, arrays, types)


def parquet(file: IO[bytes], counts: Counts, terms: Sequence[str], first: int) -> None:
    """Write one row per document: its number, and its terms and their counts as lists."""
    import polars as pl

    names = pl.Series(terms, dtype=pl.String)

    def lists(start: int) -> "pl.DataFrame":
        ends = counts.indptr[start : start + LISTED_DOCUMENTS + 1]
        own = slice(ends[0], ends[-1])
        numbers = np.arange(first + start, first + start + len(ends) - 1)
        flat = pl.DataFrame(
            {
                "document": np.repeat(numbers, np.diff(ends)),
                "terms": names[counts.indices[own]],
                "counts": counts.data[own].astype(np.int32, copy=False),
            }
        )
        return flat.group_by("document", maintain_order=True).all()

    table = pl.concat(map(lists, range(0, max(1, counts.shape[0]), LISTED_DOCUMENTS)))
    table.write_parquet(file, row_group_size=LISTED_DOCUMENTS)


def mtx(file: IO[bytes], counts: Counts, terms: Sequence[str], first: int) -> None:
    """Write Matrix Market: for ``scipy.io.mmread``, gensim's ``MmCorpus``, R and Julia."""
    rows, columns = counts.shape
    head = "%%MatrixMarket matrix coordinate real general"  # gensim reads no other field
    file.write(f"{head}\n%\n{rows} {columns} {counts.data.size}\n".encode())
    labels = [f"{column} " for column in range(1, columns + 1)]
    for row, entries in enumerate(_rows(counts), start=1):
        pairs = zip(*entries, strict=True)
        lines = (f"{row} {labels[column]}{count:.6e}\n" for column, count in pairs)
        file.write("".join(lines).encode())


def svmlight(file: IO[bytes], counts: Counts, terms: Sequence[str], first: int) -> None:
    """Write for ``sklearn.datasets.load_svmlight_file``: columns from 1, every target 0."""
    labels = [f"{column}:" for column in range(1, counts.shape[1] + 1)]
    file.writelines(f"0 {' '.join(pairs)}\n".encode() for pairs in _labelled(counts, labels))


def jsonl(file: IO[bytes], counts: Counts, terms: Sequence[str], first: int) -> None:
    """Write one JSON object per line: the number of a document, and a count for each term."""
    labels = [f"{json.dumps(term)}: " for term in terms]
    file.writelines(
        f'{{"document": {number}, "counts": {{{", ".join(pairs)}}}}}\n'.encode()
        for number, pairs in enumerate(_labelled(counts, labels), start=first)
    )


def csv(file: IO[bytes], counts: Counts, terms: Sequence[str], first: int) -> None:
    """Write one row for each term of a document: the document's number, the term, its count."""
    file.write(BYTE_ORDER_MARK + b"document,term,count\n")
    labels = [f"{cell_text(term)}," for term in terms]
    for number, pairs in enumerate(_labelled(counts, labels), start=first):
        file.write("".join(f"{number},{pair}\n" for pair in pairs).encode())


def text(file: IO[bytes], counts: Counts, terms: Sequence[str], first: int) -> None:
    """Write one line per document: each word as often as it was drawn, in alphabetical order."""
    for columns, numbers in _rows(counts):
        words = sorted((terms[at], count) for at, count in zip(columns, numbers, strict=True))
        drawn = (word for own, count in words for word in repeat(own, count))
        file.write((" ".join(drawn) + "\n").encode())


def write_documents(file: IO[bytes], documents: Table) -> None:
    """Write the columns that are released beside the counts, as Parquet."""
    # The bytes are complete before any is written, so that a full disk raises an OSError.
    file.write(tables.as_parquet(documents, ascending=[ROW_NUMBER]))


def documents_csv(documents: Table) -> bytes:
    """Return the same columns for a spreadsheet: lists as words, None as an empty cell."""
    import polars as pl

    rows = (map(_cell, row) for row in pl.DataFrame(documents).iter_rows())
    return BYTE_ORDER_MARK + as_csv(documents.column_names, rows)


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return value if value is None or isinstance(value, str | int | float) else str(value)


def prototypes_csv(summary: DocumentSummary) -> bytes:
    """Return the contents of ``prototypes.csv``: one row for each released prototype."""
    header = ("list", "prototype", "label", "released", "estimate", "standard_error")
    rows = (
        (one.list, one.prototype, one.label, one.released,
         round(one.estimate, 1), round(one.error, 1))
        for one in summary.prototypes
    )  # fmt: skip
    return as_csv(header, rows)


def _labelled(counts: Counts, labels: Sequence[str]) -> Iterator[list[str]]:
    """Yield for each document its counts, each after the label of its column."""
    once = [f"{label}1" for label in labels]  # most counts are 1
    for columns, numbers in _rows(counts):
        pairs = zip(columns, numbers, strict=True)
        yield [once[at] if count == 1 else f"{labels[at]}{count}" for at, count in pairs]


def _rows(counts: Counts) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the columns and counts of one document after the other."""
    for first, last in pairwise(counts.indptr.tolist()):
        yield counts.indices[first:last].tolist(), counts.data[first:last].tolist()


WRITERS: dict[str, tuple[str, Writer]] = {
    "npz": (".npz", npz),
    "parquet": (".parquet", parquet),
    "mtx": (".mtx", mtx),
    "svmlight": (".svmlight", svmlight),
    "jsonl": (".jsonl", jsonl),
    "text": (".txt", text),
    "csv": (".csv", csv),
}
"""For each format: the suffix of its files, and the function that writes them."""
