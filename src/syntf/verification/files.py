"""Check that the files of an untrusted release are those of its guarantee, and what they hold.

Links and devices are refused, and sizes are checked before contents are read.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl

from syntf.core.errors import SyntfError
from syntf.core.progress import Stages
from syntf.privacy.guarantee import Guarantee
from syntf.releases.contents.croissant import CARD_FILE
from syntf.releases.contents.folder import PROTOTYPES_FILE, ROW_NUMBER, spreadsheet_file
from syntf.releases.contents.writers import WRITERS, documents_csv, write_documents
from syntf.report.figures import Sparsity
from syntf.report.page import REPORT_FILE
from syntf.verification.counts_file import Expected, read_counts
from syntf.verification.parquet_file import check_bytes, open_parquet
from syntf.verification.plausibility import Plausibility
from syntf.verification.result import Finding, one_line
from syntf.vocabulary.vocabulary import as_lines, terms_digest

DATA = "data"
"""The folder into which Spark writes the rows (:mod:`syntf.spark.folders`)."""

LARGEST_VOCABULARY = 1 << 28
"""Bytes of a vocabulary at most."""

MOST_DOCUMENTS = 1 << 24
"""Documents in one file at most; syntf writes about 65,536."""

Shards = Sequence[tuple[str, str]]
"""The name of each file of counts, with the name of the file of its documents."""


def check_files(folder: Path, guarantee: Guarantee, stages: Stages) -> Finding:
    """Check that a folder holds the files of one release, each with its digest."""
    named = {"README.txt", "vocabulary.txt", REPORT_FILE}
    if guarantee.unit == "document":
        named.add(PROTOTYPES_FILE)
    if CARD_FILE in guarantee.files:  # releases before 0.2 have none
        named.add(CARD_FILE)
    for counts, documents in shard_names(guarantee):
        named.update((counts, documents))
        if counts.endswith(".csv"):
            named.add(spreadsheet_file(Path(documents)).name)
    if named != set(guarantee.files):
        raise SyntfError("guarantee.json does not name the files of one release")
    found = dict(_entries(folder, with_data=by_spark(guarantee)))
    for name in sorted(found.keys() ^ {*named, "guarantee.json"}):
        fault = "is missing" if name in named else "is not part of the release"
        raise SyntfError(f"{one_line(name)} {fault}")
    size = sum(found[name].st_size for name in named)
    with stages("reading files", size) as advance:
        for name in sorted(named):
            if not stat.S_ISREG(found[name].st_mode):
                raise SyntfError(f"{name} is not a regular file")
            digest = sha256()
            with (folder / name).open("rb") as file:
                while piece := file.read(1 << 20):
                    digest.update(piece)
                    advance(len(piece))
            if guarantee.files[name] != f"sha256:{digest.hexdigest()}":
                raise SyntfError(f"{name} was changed: its digest is not that in guarantee.json")
    return Finding(f"{len(named)} and no other, each with its digest")


def _entries(folder: Path, *, with_data: bool) -> Iterator[tuple[str, os.stat_result]]:
    """List a folder, and the folder of rows inside it if Spark wrote the release."""
    for path in folder.iterdir():
        if with_data and path.name == DATA and stat.S_ISDIR(path.lstat().st_mode):
            yield from ((f"{DATA}/{inner.name}", inner.lstat()) for inner in path.iterdir())
        else:
            yield path.name, path.lstat()


def by_spark(guarantee: Guarantee) -> bool:
    """Tell whether Spark wrote a release."""
    return any(name.startswith(f"{DATA}/") for name in guarantee.files)


def shard_names(guarantee: Guarantee) -> Iterator[tuple[str, str]]:
    """Return the files of counts, each with the file of its documents."""
    if by_spark(guarantee):
        for name in sorted(guarantee.files):
            if re.fullmatch(rf"{DATA}/part-[0-9A-Za-z.-]+\.parquet", name):
                yield name, name
        return
    for suffix, _ in WRITERS.values():
        if f"vectors{suffix}" in guarantee.files:
            yield f"vectors{suffix}", "documents.parquet"
            return
        shard = 0
        while f"vectors-{shard:05}{suffix}" in guarantee.files:
            yield f"vectors-{shard:05}{suffix}", f"documents-{shard:05}.parquet"
            shard += 1
        if shard:
            return
    raise SyntfError("guarantee.json does not name a file of counts")


def names_in_readme(guarantee: Guarantee, shards: Shards) -> tuple[str, str]:
    """Return the names, or patterns, that README.txt has for the files of a release."""
    if by_spark(guarantee):
        return f"{DATA}/*.parquet", f"{DATA}/*.parquet"
    counts, documents = shards[0]
    if len(shards) == 1:
        return counts, documents
    return counts.replace("-00000", "-*"), documents.replace("-00000", "-*")


def check_vocabulary(folder: Path, guarantee: Guarantee) -> Finding:
    """Check vocabulary.txt; the value of the finding is its terms."""
    raw = plain_bytes(folder / "vocabulary.txt", LARGEST_VOCABULARY)
    terms = raw.decode().split("\n")[:-1]
    if as_lines(terms).encode() != raw or not all(terms) or len(set(terms)) < len(terms):
        raise SyntfError("the file does not hold one term per line, each term once")
    if guarantee.vocabulary_digest != f"sha256:{terms_digest(terms)}":
        raise SyntfError("vocabulary_digest in guarantee.json is that of other terms")
    if guarantee.vocabulary_size != len(terms):
        raise SyntfError(
            f"the file has {len(terms):,} terms, guarantee.json says {guarantee.vocabulary_size:,}"
        )
    return Finding(f"{len(terms):,} terms, each once", terms)


@dataclass(frozen=True)
class Documents:
    """The columns of the files of documents, the rows of each, and files not fully compared."""

    schema: Mapping[str, pl.DataType]
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
    schema: Mapping[str, pl.DataType] = dict.fromkeys(expected, pl.String())
    for counts, name in shards:
        table = open_parquet(folder / name)
        count = int(table.select(pl.len()).collect().item())
        if count > MOST_DOCUMENTS:
            raise SyntfError(f"{name} claims {count:,} rows, more than syntf writes to a file")
        schema = table.collect_schema()
        columns = list(schema)
        if by_spark(guarantee):
            if columns not in ([*expected, "counts"], [*expected, "terms", "counts"]):
                raise SyntfError(f"{name} has columns other than kept_columns and counts")
        else:
            if columns not in (expected, [ROW_NUMBER, *expected]):
                raise SyntfError(f"{name} has columns other than kept_columns")
            frame = table.collect()
            if not _check_documents_file(folder / name, frame, expected, sum(rows)):
                uncompared.append(name)
            if counts.endswith(".csv"):
                _check_spreadsheet(spreadsheet_file(folder / name), frame)
        rows.append(count)
    kept_text = f"with the kept columns {one_line(', '.join(kept))}" if kept else "no kept column"
    return Finding(f"{sum(rows):,} documents, {kept_text}", Documents(schema, rows, uncompared))


def _check_spreadsheet(path: Path, documents: pl.DataFrame) -> None:
    """Check that a CSV file holds the documents of a shard and nothing else."""
    expected = documents_csv(documents)
    if plain_bytes(path, len(expected)) != expected:
        raise SyntfError(f"{path.name} differs from the Parquet file of the same documents")


def _check_documents_file(
    path: Path, documents: pl.DataFrame, expected: Sequence[str], first: int
) -> bool:
    """Check the numbers of documents and all bytes; returns whether every byte was compared."""
    if documents.columns != expected:
        numbers = pl.Series(ROW_NUMBER, np.arange(documents.height, dtype=np.int64) + first)
        if not documents[ROW_NUMBER].equals(numbers, check_dtypes=True):
            raise SyntfError(f"{path.name} does not number its documents in order")
    try:
        return check_bytes(path, lambda file: write_documents(file, documents))
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
    first, uncompared = 0, list[str]()
    sparsity = Sparsity.count(np.empty(0, dtype=np.int64), min(guarantee.length, len(terms)))
    with stages("checking counts", sum(rows)) as advance:
        for (name, _), count in zip(shards, rows, strict=True):
            expected = Expected(terms, count, first, guarantee.length, by_spark(guarantee))
            checked = read_counts(folder / name, expected)
            if not checked.compared:
                uncompared.append(name)
            sparsity += Sparsity.count(np.diff(checked.counts.indptr), expected.most_distinct)
            if plausibility := find_plausibility():
                plausibility.add(checked.counts, first)
            first += count
            advance(count)
    detail = f"exactly {guarantee.length:,} words in each of {first:,} documents"
    return Finding(detail, CountsFound(sparsity, uncompared))


def plain_bytes(path: Path, largest: int) -> bytes:
    """Return the contents of an untrusted file, if it is a regular file of a likely size."""
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode) or found.st_size > largest:
        raise SyntfError(f"{path.name} is not a regular file of at most {largest:,} bytes")
    return path.read_bytes()
