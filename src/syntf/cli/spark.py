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
from syntf.pipeline.settings import Settings
from syntf.releases.job import Release
from syntf.spark import inputs as files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPLIT_OPTION, SPLIT_SIZE = "spark.sql.files.maxPartitionBytes", "16m"
"""Bytes of a file per task: less than Spark's default, because texts take long to process."""

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

ADVICE = {
    "JAVA_GATEWAY_EXITED": "check that Java 17 is installed and --master is an address of Spark",
    "PATH_NOT_FOUND": "one of the inputs does not exist",
    "Py4JJavaError": (
        "check that the cluster runs, --out can be written and the files are complete; without "
        "--engine spark, syntf names the line of a broken row"
    ),
}
"""What to check when Spark fails, by the name of its error."""


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
    with plain_errors(), session(master, quiet=quiet) as opened:
        frame = files.read(opened, inputs, text, input_format)
        release = spark.anonymize(
            frame, text=text, output="arrays", settings=settings, **columns_and_ledger
        )
        written = release.write(address(out), force=force)
        release.close()
    return written


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


@contextmanager
def plain_errors() -> Iterator[None]:
    """Replace an error of Spark by one line that does not quote any text."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        condition = error.getCondition() if isinstance(error, PySparkException) else None
        kind = condition or type(error).__name__
        advice = ADVICE.get(kind, "check that the cluster and the files are there and complete")
        plain = SyntfError(f"Spark failed ({kind}): {advice}")
        for note in getattr(error, "__notes__", ()):  # such as a charge to the ledger
            plain.add_note(note)
        raise plain from None
