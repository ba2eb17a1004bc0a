"""Read input files with Spark: CSV, TSV, JSON lines and Parquet, at any address it supports."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from syntf.core.errors import SyntfError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
}  # fmt: skip
COMPRESSIONS = (".gz", ".bz2")
"""Compressions that Spark reads by itself."""


def read(
    session: "SparkSession", inputs: Sequence[str], text: str, format: str | None = None
) -> "DataFrame":
    """Read all inputs as one frame: files, folders or patterns of one format.

    CSV follows RFC 4180: quotes are doubled, and line breaks may stand in quotes; every value is
    text. In JSON lines the column `text` is always read as text, whatever its values look like.
    A broken row ends the run.
    """
    formats = {format or format_of(path) for path in inputs}
    if len(formats) > 1:
        raise SyntfError(f"all inputs must have the same format, not {', '.join(sorted(formats))}")
    (format,) = formats
    reader = session.read.option("mode", "FAILFAST")
    if format == "parquet":
        return reader.parquet(*inputs)
    if format == "jsonl":
        return _read_json(session, list(inputs), text)
    if format not in ("csv", "tsv"):
        raise SyntfError(f"a cluster reads csv, tsv, jsonl and parquet, not {format}")
    # Otherwise Spark skips the columns that are not used, and the errors in them.
    session.conf.set("spark.sql.csv.parser.columnPruning.enabled", "false")
    return reader.csv(
        list(inputs), header=True, multiLine=True, quote='"', escape='"',
        sep="," if format == "csv" else "\t", enforceSchema=False,
    )  # fmt: skip


def _read_json(session: "SparkSession", inputs: list[str], text: str) -> "DataFrame":
    """Read JSON lines. Types are inferred for all columns but the text.

    One text such as ``true`` or ``1.50`` would otherwise decide how all texts are read.
    """
    from pyspark.sql.types import StringType, StructField, StructType

    reader = session.read.option("mode", "FAILFAST").option("lineSep", "\n")
    inferred = reader.json(inputs).schema
    fields = [
        StructField(field.name, StringType()) if field.name == text else field
        for field in inferred.fields
    ]
    return reader.schema(StructType(fields)).json(inputs)


def format_of(path: str) -> str:
    """Return the format of a file or folder from the end of its name.

    >>> format_of("hdfs:///mails/2024.csv.gz"), format_of("s3a://mails/all.parquet/")
    ('csv', 'parquet')
    """
    name = path.rstrip("/").lower()
    for ending in COMPRESSIONS:
        name = name.removesuffix(ending)
    for ending, format in FORMATS.items():
        if name.endswith(ending):
            return format
    raise SyntfError(
        f"{path}: a cluster reads .csv, .tsv, .jsonl and .parquet; for other names pass "
        "--input-format"
    )
