"""A release written by a cluster: Parquet beside the files that a release on one machine has.

Only the last file makes it a release: ``guarantee.json``, with the digest of all others. What a
cluster wrote before it failed has none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from syntf.core.errors import SyntfError
from syntf.pipeline.anonymizer import Anonymizer
from syntf.privacy.guarantee import Guarantee
from syntf.releases.readme import render_readme
from syntf.report.figures import Sparsity
from syntf.report.page import REPORT_FILE, render_report, template_digest
from syntf.report.table_summary import summarize_table
from syntf.spark.batches import COUNTS, TERMS
from syntf.vocabulary.vocabulary import as_lines

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DATA = "data"
"""The folder of the rows: by itself, so that ``spark.read.parquet`` can be pointed at it."""

GUARANTEE = "guarantee.json"
PARTS = {GUARANTEE, DATA, "vocabulary.txt", "README.txt", REPORT_FILE}
"""All that a release holds, by name."""


@dataclass(frozen=True)
class Written:
    """What stands in a folder: its guarantee with all digests, and how many documents it has.

    `dropped` terms of the vocabulary had no vector; `notes` say what was mended in the vectors.
    """

    guarantee: Guarantee
    documents: int
    dropped: int
    notes: Sequence[str]


def write(
    path: str, data: "DataFrame", guarantee: Guarantee, anonymizer: Anonymizer, *, force: bool
) -> Written:
    """Evaluate `data` into a new release."""
    session = data.sparkSession
    folder = Folder(session, path)
    folder.clear(force=force)
    rows = f"{path}/{DATA}"
    # A file of success would be one more that is no part of the release.
    quiet = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}
    data.write.options(**quiet).parquet(rows)
    folder.tidy(DATA)
    released = _released(session, rows, data.columns, guarantee)
    portrayed = summarize_table(
        anonymizer.mechanism, anonymizer.vocabulary, length=guarantee.length
    )
    name = f"{DATA}/*.parquet"
    texts = {
        "vocabulary.txt": as_lines(anonymizer.vocabulary.outputs),
        "README.txt": render_readme(guarantee, released.documents, data.columns, name, name),
        REPORT_FILE: render_report(guarantee, portrayed, released),
    }
    digests = dict(_digests(session, rows))
    for file, text in texts.items():
        folder.put(file, text.encode())
        digests[file] = f"sha256:{sha256(text.encode()).hexdigest()}"
    promise = replace(guarantee, files=dict(sorted(digests.items())), template=template_digest())
    folder.put(GUARANTEE, promise.as_json().encode())
    dropped = anonymizer.vocabulary.dropped
    return Written(promise, released.documents, dropped, anonymizer.notes)


class Folder:
    """A folder at any address that Spark knows: a disk, HDFS, an object store."""

    def __init__(self, session: "SparkSession", path: str) -> None:
        java: Any = session.sparkContext._jvm
        self._path = java.org.apache.hadoop.fs.Path
        self._place = self._path(path)
        configuration = session._jsparkSession.sessionState().newHadoopConf()
        self._system = self._place.getFileSystem(configuration)
        self._local = self._system.getScheme() == "file"

    def clear(self, *, force: bool) -> None:
        """Refuse an address that is taken, unless by a release that may be replaced."""
        if not self._system.exists(self._place):
            return
        if not force:
            raise SyntfError(
                f"{self._place} exists already: choose another, or replace it with force (--force)"
            )
        found = {status.getPath().getName() for status in self._system.listStatus(self._place)}
        if GUARANTEE not in found or found - PARTS:
            raise SyntfError(
                f"{self._place} is not a release of syntf, so force does not replace it: choose "
                "another"
            )
        self._system.delete(self._path(self._place, GUARANTEE), False)  # from here on it is none
        self._system.delete(self._place, True)

    def put(self, name: str, content: bytes) -> None:
        """A file with these bytes."""
        place = self._path(self._place, name)
        stream = self._system.create(place, True)
        try:
            stream.write(content)
        finally:
            stream.close()
        self._tidied(place.getParent(), [place.getName()])

    def tidy(self, name: str) -> None:
        """Remove the checksums that Hadoop writes beside files on a local disk."""
        folder = self._path(self._place, name)
        if self._local:
            found = self._system.listStatus(folder)
            self._tidied(folder, [status.getPath().getName() for status in found])

    def _tidied(self, folder: Any, names: list[str]) -> None:
        if self._local:
            for name in names:
                self._system.getRawFileSystem().delete(self._path(folder, f".{name}.crc"), False)


def _released(
    session: "SparkSession", rows: str, columns: list[str], guarantee: Guarantee
) -> Sparsity:
    """How many documents have how many distinct words, from what was written."""
    from pyspark.sql import functions

    # A vector by what it is made of, as Spark offers no other way to look inside it.
    vector = f"{COUNTS} struct<indices: array<int>>"
    schema = f"{TERMS} array<string>" if TERMS in columns else vector
    column = TERMS if TERMS in columns else f"{COUNTS}.indices"
    sizes = session.read.schema(schema).parquet(rows).select(functions.size(column).alias("size"))
    found = sizes.groupBy("size").count().collect()
    distinct = np.zeros(min(guarantee.length, guarantee.vocabulary_size) + 1, dtype=np.int64)
    for row in found:
        distinct[row["size"]] = row["count"]
    return Sparsity(distinct)


def _digests(session: "SparkSession", rows: str) -> Iterator[tuple[str, str]]:
    """The SHA-256 of each file of rows, found where the files are."""
    files = session.read.format("binaryFile").load(rows)
    for row in files.selectExpr("path", "sha2(content, 256) as digest").collect():
        yield f"{DATA}/{unquote(row['path'].rsplit('/', 1)[1])}", f"sha256:{row['digest']}"
