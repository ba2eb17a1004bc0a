"""Write a release from a cluster: Parquet files with the rows, and the files of any release.

The last file makes it a release: ``guarantee.json``, with the digests of all others. A folder
without it was left by a run that failed.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from syntf.codebook.lists import EntryList
from syntf.core.errors import SyntfError
from syntf.core.release_names import CARD_FILE, PROTOTYPES_FILE
from syntf.ledger.store import Run
from syntf.privacy.guarantee import Guarantee
from syntf.releases.contents.croissant import render_card
from syntf.releases.contents.prototypes import PILOT, PROTOTYPES
from syntf.releases.contents.readme import render_readme
from syntf.releases.contents.writers import prototypes_csv
from syntf.releases.job import Release
from syntf.report.document_summary import DocumentSummary
from syntf.report.figures import Sparsity
from syntf.report.page import REPORT_FILE, render_report, template_digest
from syntf.report.table_summary import TableSummary
from syntf.spark.drawing import COUNTS, TERMS
from syntf.spark.schemas import arrow_types
from syntf.vocabulary.vocabulary import as_lines

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DATA = "data"
"""Folder of the rows, separate so that ``spark.read.parquet`` can read it."""

UNFINISHED = "_temporary"
"""Hadoop's folder of files that are being written."""

GUARANTEE = "guarantee.json"
CONTENTS = {
    GUARANTEE, DATA, "vocabulary.txt", "README.txt", REPORT_FILE, PROTOTYPES_FILE, CARD_FILE,
}  # fmt: skip
"""Everything that a release contains."""


class Folder:
    """The folder of a release at any address that Spark can write to."""

    def __init__(self, session: "SparkSession", address: str) -> None:
        java: Any = session.sparkContext._jvm
        self._session = session
        self._address = address
        self._java_path = java.org.apache.hadoop.fs.Path
        self._path = self._java_path(address)
        configuration = session._jsparkSession.sessionState().newHadoopConf()
        self._system = self._path.getFileSystem(configuration)
        self._local = self._system.getScheme() == "file"

    def check_target(self, *, force: bool) -> None:
        """Raise a SyntfError if the address is taken; with `force`, only if not by a release."""
        if not self._system.exists(self._path):
            return
        if not force:
            raise SyntfError(
                f"{self._path} already exists: choose another address, or replace the release "
                "with force (--force)"
            )
        found = {status.getPath().getName() for status in self._system.listStatus(self._path)}
        if GUARANTEE not in found or found - CONTENTS:
            raise SyntfError(
                f"{self._path} is not a release of syntf, so force does not replace it: choose "
                "another address"
            )

    @contextmanager
    def replaced(self) -> Iterator[None]:
        """Delete the earlier release first, and the unfinished one if writing fails."""
        self._delete()
        try:
            yield
        except BaseException:
            self._delete()
            raise

    def write_rows(self, data: "DataFrame") -> None:
        """Evaluate a frame into the folder of the rows."""
        # Hadoop's marker of success would be a file that is not part of the release.
        options = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}
        data.write.options(**options).parquet(self._rows)
        if self._local:
            folder = self._java_path(self._path, DATA)
            found = self._system.listStatus(folder)
            self._delete_checksums(folder, [status.getPath().getName() for status in found])

    def finish(
        self,
        guarantee: Guarantee,
        terms: Sequence[str],
        summary: TableSummary | DocumentSummary,
        run: Run | None,
        *,
        documents: int,
        terms_without_vector: int = 0,
        notes: Sequence[str] = (),
    ) -> Release:
        """Write all other files of the release; the guarantee last.

        Raises a SyntfError if the written rows are not those of this number of documents.
        """
        schema = self._session.read.parquet(self._rows).schema
        columns = schema.names
        released = self._count_distinct(columns, guarantee)
        if released.documents != documents:
            raise SyntfError(
                "the input changed while it was being read, so nothing was released: run again"
            )
        name = f"{DATA}/*.parquet"
        texts = {
            "vocabulary.txt": as_lines(terms),
            "README.txt": render_readme(guarantee, released.documents, columns, name, name),
            REPORT_FILE: render_report(guarantee, summary, released),
        }
        if isinstance(summary, DocumentSummary):
            texts[PROTOTYPES_FILE] = prototypes_csv(summary).decode()
        digests = dict(self._row_digests())
        for file, text in texts.items():
            digests[file] = f"sha256:{sha256(text.encode()).hexdigest()}"
        card = render_card(guarantee, released.documents, arrow_types(schema), name, digests)
        texts[CARD_FILE] = card.decode()
        for file, text in texts.items():
            self._put(file, text.encode())
            digests[file] = f"sha256:{sha256(text.encode()).hexdigest()}"
        files = dict(sorted(digests.items()))
        sealed = replace(guarantee, files=files, template=template_digest())
        # Hadoop's folder of unfinished files stays if a task ends while the job deletes it.
        self._system.delete(self._java_path(self._java_path(self._path, DATA), UNFINISHED), True)
        self._put(GUARANTEE, sealed.as_json().encode())
        return Release(
            path=self._address,
            documents=released.documents,
            guarantee=sealed,
            skipped_rows=0,
            skipped=[],
            terms_without_vector=terms_without_vector,
            notes=list(notes),
            ledger_run=run,
        )

    def count_prototypes(self, general: EntryList, sharpened: EntryList | None) -> list[Any]:
        """Count how often each prototype was released, one array for each list."""
        rows = self._session.read.parquet(self._rows)
        pilot = PILOT if sharpened is not None else "true"
        each = rows.selectExpr(f"{pilot} as is_pilot", f"explode({PROTOTYPES}) as prototype")
        counted = each.groupBy("is_pilot", "prototype").count().collect()
        lists = [(True, general)] + ([] if sharpened is None else [(False, sharpened)])
        found = []
        for is_pilot, entry_list in lists:
            counts = np.zeros(len(entry_list), dtype=np.int64)
            for row in counted:
                if row["is_pilot"] == is_pilot:
                    counts[row["prototype"]] = row["count"]
            found.append(counts)
        return found

    @property
    def _rows(self) -> str:
        return f"{self._address}/{DATA}"

    def _put(self, name: str, content: bytes) -> None:
        path = self._java_path(self._path, name)
        stream = self._system.create(path, True)
        try:
            stream.write(content)
        finally:
            stream.close()
        if self._local:
            self._delete_checksums(path.getParent(), [path.getName()])

    def _delete(self) -> None:
        """Delete the folder, its guarantee first: from then on it is not a release."""
        self._system.delete(self._java_path(self._path, GUARANTEE), False)
        self._system.delete(self._path, True)

    def _delete_checksums(self, folder: Any, names: list[str]) -> None:
        """Delete the checksum files that Hadoop writes on a local disk."""
        for name in names:
            self._system.getRawFileSystem().delete(self._java_path(folder, f".{name}.crc"), False)

    def _count_distinct(self, columns: list[str], guarantee: Guarantee) -> Sparsity:
        """Count the documents by their number of distinct words, from the written rows."""
        from pyspark.sql import functions

        # Spark cannot look inside a vector, so it is read as the struct that it is made of.
        vector = f"{COUNTS} struct<indices: array<int>>"
        schema = f"{TERMS} array<string>" if TERMS in columns else vector
        column = TERMS if TERMS in columns else f"{COUNTS}.indices"
        rows = self._session.read.schema(schema).parquet(self._rows)
        sizes = rows.select(functions.size(column).alias("size")).groupBy("size").count().collect()
        most = min(guarantee.longest_row, guarantee.vocabulary_size)
        distinct = np.zeros(most + 1, dtype=np.int64)
        for row in sizes:
            distinct[row["size"]] = row["count"]
        return Sparsity(distinct)

    def _row_digests(self) -> Iterator[tuple[str, str]]:
        """Return the SHA-256 of each file of rows, computed on the executors."""
        files = self._session.read.format("binaryFile").load(self._rows)
        for row in files.selectExpr("path", "sha2(content, 256) as digest").collect():
            yield f"{DATA}/{unquote(row['path'].rsplit('/', 1)[1])}", f"sha256:{row['digest']}"
