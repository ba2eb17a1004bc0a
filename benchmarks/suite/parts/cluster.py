"""Measure how much faster two Spark workers are than one."""

import shutil
import sys
from importlib.util import find_spec

from suite.figures import Figure, plain
from suite.place import Place
from suite.process import worker
from suite.rows import Results, Row

TITLE = "A cluster: two Spark workers against one"
NOTE = """\
One round of `python benchmarks/spark.py news.parquet --share 0.5 --times 400 --warm 20`: a cluster
on loopback, whose workers may use half of a core each, makes a release of 7,538,400 messages with
one worker and with two. Seconds and processor time are those of two workers; memory is that of the
measuring process. [Spark](spark.md#speed) says where the time goes. With a run of `--times` 100 or
more only."""

COPIES = 400
"""Copies of 20 newsgroups. Starting costs the same for any number, so it counts less with many."""


def groups(place: Place) -> list[list[Row]]:
    if max(place.times) < 100:
        return []
    lacks = [] if shutil.which("java") else ["Java"]
    lacks += [] if find_spec("pyspark") else ["PySpark"]
    missing = f"needs {' and '.join(lacks)}" if lacks else ""
    source = "" if missing else str(place.parquet())
    env = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", **place.env}
    return [
        [
            Row(
                "cluster/two", "two workers of half a core",
                worker("cluster", source, COPIES), "fresh", 1, "documents", env=env,
                missing=missing,
            )
        ]
    ]  # fmt: skip


def figures(found: Results) -> list[Figure]:
    title = "two Spark workers, against one"
    return plain(
        "cluster/two", title, found["cluster/two"],
        of="faster", unit="×", better="more", must=1.9,
    )  # fmt: skip
