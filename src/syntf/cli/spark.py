"""`syntf anonymize --engine spark`: the same, done by a cluster."""

import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from syntf import spark
from syntf.cli import output
from syntf.core.errors import SyntfError
from syntf.core.exact import shown
from syntf.pipeline.settings import Settings
from syntf.spark import inputs as files
from syntf.spark.folders import Written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CUT, PIECE = "spark.sql.files.maxPartitionBytes", "16m"
"""Bytes of a file for a task: less than Spark's own, as a byte of text is much work."""

APART = {
    "ledger": "a ledger charges documents in one place, before any is drawn for",
    "author": "it names authors for a ledger, and a cluster has none",
    "resume": "Spark does lost tasks again by itself, and another run draws anew",
    "seed": "a repeatable release is for tests, which need no cluster",
    "jobs": "a task has one core, and the cluster says how many there are",
    "shuffle": "the rows of a cluster are in files that have no order",
}
"""Options that the engine does not take, and why."""

FIXED = {
    "format": ("parquet", "a cluster writes Parquet"),
    "encoding": ("utf-8", "a cluster reads UTF-8"),
    "device": ("cpu", "syntf bounds --device cuda beforehand leaves the table in the cache"),
    "bad_rows": ("stop", "Spark leaves broken rows out without a word of where they were"),
}
"""Options that have one value."""

REASONS = {
    "JAVA_GATEWAY_EXITED": "see that Java 17 is there, and that --master is an address of Spark's",
    "PATH_NOT_FOUND": "no file or folder at one of the inputs",
    "Py4JJavaError": (
        "see that the cluster is up, --out can be written to and the files are whole; without "
        "--engine spark, syntf names the line of a broken row"
    ),
}
"""What to look at when Spark stops, by what it says."""


def check(given: Mapping[str, Any]) -> None:
    """Refuse what a person asked for and a cluster does not do; `given` is what they said."""
    for name, why in APART.items():
        if given.get(name) is not None and given[name] is not False:  # a seed may be 0
            option = {"seed": "insecure-seed"}.get(name, name)
            raise SyntfError(f"--{option} is not for --engine spark: {why}")
    for name, (only, why) in FIXED.items():
        if given.get(name, only) != only:
            option = name.replace("_", "-")
            raise SyntfError(f"--{option} is {only} with --engine spark: {why}")


def run(
    inputs: Sequence[str],
    out: Path,
    *,
    master: str,
    text: str,
    id: str | None,
    keep: Sequence[str],
    input_format: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    settings: Settings,
) -> None:
    place = address(out)
    spark.check_installed()
    with told(), session(master, quiet=quiet or as_json) as opened:
        frame = files.read(opened, inputs, input_format)
        release = spark.anonymize(
            frame, text=text, keep=keep, id=id, output="arrays", settings=settings
        )
        written = release.write(place, force=force)
        release.close()
    if as_json:
        output.emit(_record(place, written))
    elif not quiet:
        _summarize(place, written)


def address(out: Path) -> str:
    """Where to write: a path as it is, an address with the slashes that a path has lost.

    >>> address(Path("hdfs://host/release")), address(Path("release"))
    ('hdfs://host/release', 'release')
    """
    return re.sub(r"^([a-z][a-z0-9+]+):/(?!/)", r"\1://", str(out))


@contextmanager
def session(master: str, *, quiet: bool) -> Iterator["SparkSession"]:
    """A session on a cluster, ended with the command; the key of the run ends with it."""
    from pyspark.sql import SparkSession

    # Of versions of pandas: what passes between Spark and Python here is Arrow's.
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("syntf")
    watched = not quiet and sys.stderr is not None and sys.stderr.isatty()
    builder = builder.config("spark.ui.showConsoleProgress", str(watched).lower())
    # Spark's log quotes rows that it cannot read.
    opened = builder.config("spark.log.level", "OFF").getOrCreate()
    try:
        if not opened.sparkContext.getConf().contains(CUT):
            opened.conf.set(CUT, PIECE)
        yield opened
    finally:
        opened.stop()


@contextmanager
def told() -> Iterator[None]:
    """What stops Spark, in one line that quotes no text."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        condition = error.getCondition() if isinstance(error, PySparkException) else None
        said = condition or type(error).__name__
        why = REASONS.get(said, "see that the cluster and the files are there and whole")
        raise SyntfError(f"Spark stopped ({said}): {why}") from None


def _record(place: str, written: Written) -> dict[str, Any]:
    """What is told of a release, for programs; the fields of a release on one machine."""
    return {
        "out": place, "documents": written.documents,
        "terms_without_vector": written.dropped, "notes": list(written.notes), "ledger": None,
        "guarantee": written.guarantee.as_dict(),
    }  # fmt: skip


def _summarize(place: str, written: Written) -> None:
    promise = written.guarantee
    output.say(
        f"{written.documents:,} documents, {promise.length} words drawn for each\n"
        f"loss per word {shown(promise.word_losses.tight, 4)}, "
        f"per document {shown(promise.loss_per_document, 2)}"
    )
    for caveat in promise.caveats:
        output.say(f"[yellow]![/] {escape(caveat)}")
    output.say(f"Release written to {escape(place)}", wrap=False)
