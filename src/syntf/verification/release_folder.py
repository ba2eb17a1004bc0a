"""Check that a folder holds exactly the files of its guarantee, and read its terms.

Links and devices are refused, and sizes are checked before contents are read. This module imports
little, so that :mod:`syntf.verification.verify` can soon begin to derive the table.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from syntf.core.errors import SyntfError
from syntf.core.progress import Stages
from syntf.core.release_names import CARD_FILE, COUNTS_SUFFIXES, PROTOTYPES_FILE
from syntf.privacy.guarantee import Guarantee
from syntf.report.page import REPORT_FILE
from syntf.verification.result import Finding, one_line
from syntf.vocabulary.vocabulary import as_lines, terms_digest

DATA = "data"
"""The folder into which Spark writes the rows (:mod:`syntf.spark.folders`)."""

_JOB = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
SPARK_PART = re.compile(
    rf"{DATA}/part-[0-9]{{5,6}}(?P<transaction>-tid-[0-9]{{1,20}})?-(?P<job>{_JOB})(-[0-9]{{1,6}}){{0,2}}"
    rf"-c[0-9]{{3,6}}(?P<committer>-{_JOB})?(?P<packed>\.(snappy|gz|zstd|lz4raw))?\.parquet"
)
"""How Spark names its files. All of one job have the same identifiers."""

LARGEST_VOCABULARY = 1 << 28
"""Bytes of a vocabulary at most."""

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
            named.add(Path(documents).with_suffix(".csv").name)
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
        jobs = set[tuple[str | None, ...]]()
        for name in sorted(guarantee.files):
            if part := SPARK_PART.fullmatch(name):
                jobs.add(part.group("transaction", "job", "committer", "packed"))
                yield name, name
        if len(jobs) > 1:  # the names of many files could hold a text
            raise SyntfError("guarantee.json names files of several jobs of Spark")
        return
    for suffix in COUNTS_SUFFIXES:
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


def plain_bytes(path: Path, largest: int) -> bytes:
    """Return the contents of an untrusted file, if it is a regular file of a likely size."""
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode) or found.st_size > largest:
        raise SyntfError(f"{path.name} is not a regular file of at most {largest:,} bytes")
    return path.read_bytes()
