"""Whether the files of a release are those of its guarantee, and hold what it says.

They are a stranger's: links and devices are refused, sizes are looked at before contents.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl

from syntf import __version__
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages
from syntf.privacy.guarantee import Guarantee
from syntf.releases.folder import ROW_NUMBER as NUMBER
from syntf.releases.readme import readme
from syntf.releases.writers import WRITERS
from syntf.report.contents import Released
from syntf.report.page import NAME as REPORT
from syntf.verification.count_readers import Expected, check, open_parquet
from syntf.verification.result import WORD, Finding, plain
from syntf.vocabulary.vocabulary import as_lines, terms_digest

DATA = "data"
"""The folder in which a cluster writes its rows (:mod:`syntf.spark.folders`)."""

LARGEST = 1 << 28
"""Bytes of a vocabulary: a hundred times the largest there is."""

MOST = 1 << 24
"""Documents in one file of a release, which holds some 65,536."""

Parts = Sequence[tuple[str, str]]
"""The names of files of counts, each with that of the file of their documents."""


def files(folder: Path, guarantee: Guarantee, stages: Stages) -> Finding:
    """The names are those of one release, and each file has the bytes that the guarantee says."""
    named = {"README.txt", "vocabulary.txt", REPORT}
    for pair in parts(guarantee):
        named.update(pair)
    if named != set(guarantee.files):
        raise SyntfError("the guarantee does not name the files of one release")
    found = dict(_entries(folder, rows_apart=_by_a_cluster(guarantee)))
    for name in sorted(found.keys() ^ {*named, "guarantee.json"}):
        fault = "is missing" if name in named else "is not part of the release"
        raise SyntfError(f"{plain(name)} {fault}")
    size = sum(found[name].st_size for name in named)
    with stages("reading files", size) as advance:
        for name in sorted(named):
            if not stat.S_ISREG(found[name].st_mode):
                raise SyntfError(f"{name} is no plain file")
            digest = sha256()
            with (folder / name).open("rb") as file:
                while piece := file.read(1 << 20):
                    digest.update(piece)
                    advance(len(piece))
            if guarantee.files[name] != f"sha256:{digest.hexdigest()}":
                raise SyntfError(f"{name} was changed: it has another digest")
    return Finding(f"{len(named)} and no other, each with its digest in guarantee.json")


def _entries(folder: Path, *, rows_apart: bool) -> Iterator[tuple[str, os.stat_result]]:
    """All that is in a folder, and in that of the rows where a cluster wrote them."""
    for path in folder.iterdir():
        if rows_apart and path.name == DATA and stat.S_ISDIR(path.lstat().st_mode):
            yield from ((f"{DATA}/{inner.name}", inner.lstat()) for inner in path.iterdir())
        else:
            yield path.name, path.lstat()


def _by_a_cluster(guarantee: Guarantee) -> bool:
    return any(name.startswith(f"{DATA}/") for name in guarantee.files)


def parts(guarantee: Guarantee) -> Iterator[tuple[str, str]]:
    """The files of counts and of documents that belong together, by the names there are."""
    if _by_a_cluster(guarantee):
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
    raise SyntfError("the guarantee names no file of counts")


def terms(folder: Path, guarantee: Guarantee) -> Finding:
    raw = plain_bytes(folder / "vocabulary.txt", LARGEST)
    terms = raw.decode().split("\n")[:-1]
    if as_lines(terms).encode() != raw or not all(terms) or len(set(terms)) < len(terms):
        raise SyntfError("not one term a line, each of them once")
    if guarantee.vocabulary_digest != f"sha256:{terms_digest(terms)}":
        raise SyntfError("vocabulary_digest is that of another vocabulary")
    if guarantee.vocabulary_size != len(terms):
        raise SyntfError(f"{len(terms):,} terms, not {guarantee.vocabulary_size:,}")
    return Finding(f"{len(terms):,} terms, each once", terms)


def documents(folder: Path, guarantee: Guarantee, parts: Parts) -> Finding:
    """The columns released, and how many rows each part has."""
    kept, rows = list(guarantee.kept_columns), list[int]()
    columns = kept
    for _, name in parts:
        table = open_parquet(folder / name)
        count = int(table.select(pl.len()).collect().item())
        if count > MOST:
            raise SyntfError(f"{name} says it has {count:,} rows")
        columns = table.collect_schema().names()
        if _by_a_cluster(guarantee):
            if columns not in ([*kept, "counts"], [*kept, "terms", "counts"]):
                raise SyntfError(f"{name} has other columns than kept_columns and counts")
        elif columns not in (kept, [NUMBER, *kept]):
            raise SyntfError(f"{name} has other columns than kept_columns")
        elif columns != kept:
            numbers = table.select(NUMBER).collect()[NUMBER]
            expected = pl.Series(NUMBER, np.arange(count, dtype=np.int64) + sum(rows))
            if not numbers.equals(expected, check_dtypes=True):
                raise SyntfError(f"{name} does not number its documents in order")
        rows.append(count)
    told = f"the columns {plain(', '.join(kept))}" if kept else "no column"
    return Finding(f"{sum(rows):,}, and of the source {told}", (columns, rows))


def counts(
    folder: Path,
    guarantee: Guarantee,
    parts: Parts,
    terms: Sequence[str],
    rows: Sequence[int],
    stages: Stages,
) -> Finding:
    first = 0
    distinct = np.zeros(min(guarantee.length, len(terms)) + 1, dtype=np.int64)
    with stages("checking counts", sum(rows)) as advance:
        for (name, _), count in zip(parts, rows, strict=True):
            numbered = not _by_a_cluster(guarantee)
            expected = Expected(terms, count, first, guarantee.length, numbered)
            distinct += check(folder / name, expected, advance)
            first += count
    return Finding(
        f"exactly {guarantee.length:,} words in each of {first:,} documents", Released(distinct)
    )


def check_readme(
    folder: Path,
    guarantee: Guarantee,
    parts: Parts,
    columns: Sequence[str],
    documents: int,
) -> Finding:
    if guarantee.version != __version__:
        told = f"written by syntf {plain(guarantee.version)}; this is {__version__}"
        return Finding(told, status=WORD)
    names = [name if len(parts) == 1 else name.replace("-00000", "-*") for name in parts[0]]
    if _by_a_cluster(guarantee):
        names = [f"{DATA}/*.parquet"] * 2
    text = readme(guarantee, documents, columns, *names).encode()
    if plain_bytes(folder / "README.txt", len(text)) != text:
        raise SyntfError("says something else than guarantee.json and the files")
    return Finding("says what guarantee.json and the files say")


def plain_bytes(path: Path, most: int) -> bytes:
    """A file of a stranger, which must be a plain one and no larger than such files are."""
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode) or found.st_size > most:
        raise SyntfError(f"{path.name} is no plain file of a likely size")
    return path.read_bytes()
