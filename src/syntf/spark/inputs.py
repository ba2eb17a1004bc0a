"""Files read by a cluster: CSV, TSV, JSON lines and Parquet, at any address that Spark knows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from syntf.core.errors import SyntfError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KINDS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
PACKED = (".gz", ".bz2")
"""Compressions that Spark opens by itself."""


def read(session: "SparkSession", inputs: Sequence[str], format: str | None = None) -> "DataFrame":
    """One frame with the rows of all inputs: files, folders or patterns of one kind.

    CSV is as RFC 4180 has it: quotes doubled, lines inside quotes; every value is text. A row
    that is broken ends the run.
    """
    kinds = {format or kind(path) for path in inputs}
    if len(kinds) > 1:
        raise SyntfError(f"the inputs are of several kinds: {', '.join(sorted(kinds))}")
    (found,) = kinds
    reader = session.read.option("mode", "FAILFAST")
    if found == "parquet":
        return reader.parquet(*inputs)
    if found == "jsonl":
        return reader.json(list(inputs))
    if found not in ("csv", "tsv"):
        raise SyntfError(f"a cluster reads csv, tsv, jsonl and parquet, not {found}")
    # Or else Spark skips the columns that nobody asks for, and with them what is wrong there.
    session.conf.set("spark.sql.csv.parser.columnPruning.enabled", "false")
    return reader.csv(
        list(inputs), header=True, multiLine=True, quote='"', escape='"',
        sep="," if found == "csv" else "\t", enforceSchema=False,
    )  # fmt: skip


def kind(path: str) -> str:
    """The format of an input, by what its name ends in; of a folder, too.

    >>> kind("hdfs:///mails/2024.csv.gz"), kind("s3a://mails/all.parquet/")
    ('csv', 'parquet')
    """
    name = path.rstrip("/").lower()
    for ending in PACKED:
        name = name.removesuffix(ending)
    for ending, found in KINDS.items():
        if name.endswith(ending):
            return found
    raise SyntfError(
        f"{path}: a cluster reads .csv, .tsv, .jsonl and .parquet; of others, say --input-format"
    )
