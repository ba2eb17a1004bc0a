"""`syntf anonymize --engine spark`: make the release on a Spark cluster."""

import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntf import spark
from syntf.core.errors import SyntfError
from syntf.inputs import columns
from syntf.inputs.corpus import SIZE, Corpus
from syntf.pipeline.settings import Settings
from syntf.releases.job import Release
from syntf.spark import inputs as files
from syntf.spark.errors import check_master, plain_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPLIT_OPTION, SPLIT_SIZE = "spark.sql.files.maxPartitionBytes", "16m"
"""Bytes of a file per task: less than Spark's default, because texts take long to process."""

FILES_LOOKED_AT = 20
"""How many files are looked at before a session is started."""

UNSUPPORTED = {
    "resume": "Spark repeats lost tasks by itself; a new run draws again",
    "seed": "repeatable releases are for tests, which need no cluster",
    "jobs": "a task has one core; the cluster decides how many tasks run",
    "delimiter": "a cluster reads fields separated by commas (.csv) or tabs (.tsv)",
    "sheet": "a cluster reads no Excel files",
    "query": "a cluster reads files; give it a table of the database as Parquet",
    "shuffle": "the rows of a cluster are always in a random order",
    "author_loss": "a cluster does not choose documents of an author; use one machine",
}
"""Options that cannot be used with this engine, and why."""

FIXED = {
    "format": ("parquet", "a cluster writes Parquet"),
    "encoding": ("utf-8", "a cluster reads UTF-8"),
    "device": ("cpu", "run syntf bounds --device cuda first to put the table into the cache"),
    "undecodable": ("replace", "Spark replaces bytes that are not UTF-8"),
    "bad_rows": ("stop", "Spark cannot say where the broken rows were"),
}
"""Options that have only one possible value, and why."""


def check(options: Mapping[str, Any]) -> None:
    """Raise a SyntfError for an option, chosen by the user, that this engine does not support."""
    for name, reason in UNSUPPORTED.items():
        if options.get(name) is not None and options[name] is not False:  # a seed may be 0
            option = {"seed": "insecure-seed"}.get(name, name.replace("_", "-"))
            raise SyntfError(f"--{option} cannot be used with --engine spark: {reason}")
    for name, (only, reason) in FIXED.items():
        if options.get(name, only) != only:
            option = name.replace("_", "-")
            raise SyntfError(f"--{option} must be {only} with --engine spark: {reason}")
    for name in options:
        if name not in UNSUPPORTED and name not in FIXED:
            raise SyntfError(f"--{name.replace('_', '-')} cannot be used with --engine spark")


def run(
    inputs: Sequence[str],
    out: Path,
    *,
    master: str,
    text: str,
    input_format: str | None,
    force: bool,
    quiet: bool,
    settings: Settings,
    **columns_and_ledger: Any,
) -> Release:
    """Make a release on the cluster."""
    spark.check_installed()
    check_master(master)
    named = [columns_and_ledger.get("id"), columns_and_ledger.get("author")]
    wanted = [text, *filter(None, named), *columns_and_ledger.get("keep", ())]
    check_local_files(inputs, wanted, input_format, local=master.startswith("local"))
    with plain_errors(), session(master, quiet=quiet) as opened:
        frame = files.read(opened, inputs, text, input_format)
        release = spark.anonymize(
            frame, text=text, output="arrays", settings=settings, **columns_and_ledger
        )
        written = release.write(address(out), force=force)
        release.close()
    return written


def check_local_files(
    inputs: Sequence[str], wanted: Sequence[str], format: str | None, *, local: bool
) -> None:
    """Look at the first rows of files on this machine, before a session is started.

    A file that has no rows or no wanted column is refused with the message of one machine. Folders,
    patterns, addresses and broken rows are left to Spark. If the work is not `local`, a path may be
    one of a shared file system, so a file that is not on this machine is left to Spark too.
    """
    for path in inputs[:FILES_LOOKED_AT]:
        file = Path(path)
        if "://" in path or set(path) & set("*?[]{}") or file.is_dir():
            continue
        if not local and not file.exists():
            continue
        kind = format or files.format_of(path)
        if kind not in files.FORMATS.values():
            continue  # refused when it is read
        delimiter = {"csv": ",", "tsv": "\t"}.get(kind)
        first = Corpus(
            [path], format=format, bad_rows="skip", max_bad_rows=1.0, delimiter=delimiter
        )
        for rows in first:
            # Later lines of JSON may have further columns.
            if kind != "jsonl" or (file.suffix not in files.COMPRESSIONS and first.size < SIZE):
                columns.require(wanted, rows.columns)
            break
        first.close()


def address(out: Path) -> str:
    """Return the address to write to, with the slashes that a path has lost.

    >>> address(Path("hdfs://host/release")), address(Path("release"))
    ('hdfs://host/release', 'release')
    """
    return re.sub(r"^([a-z][a-z0-9+]+):/(?!/)", r"\1://", str(out))


@contextmanager
def session(master: str, *, quiet: bool) -> Iterator["SparkSession"]:
    """Open a Spark session and stop it at the end; the key of the run is lost with it."""
    from pyspark.sql import SparkSession

    # PySpark warns about the version of pandas, but here it exchanges Arrow data only.
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("syntf")
    show_progress = not quiet and sys.stderr is not None and sys.stderr.isatty()
    builder = builder.config("spark.ui.showConsoleProgress", str(show_progress).lower())
    # Spark's log quotes rows that it cannot read.
    opened = builder.config("spark.log.level", "OFF").getOrCreate()
    try:
        if not opened.sparkContext.getConf().contains(SPLIT_OPTION):
            opened.conf.set(SPLIT_OPTION, SPLIT_SIZE)
        yield opened
    finally:
        opened.stop()
