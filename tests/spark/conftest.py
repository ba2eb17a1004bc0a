"""Fixtures: a real cluster on loopback, with a master, workers of one core each and a driver."""

import os
import shutil
import sys
from pathlib import Path

import pytest

WORDS = "cat dog mouse horse cow bird fish car train bus boat road ship plane house garden".split()
SETTINGS = {"vocabulary": WORDS, "length": 30, "loss": 4.0, "morphology": "lower"}
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of Java for processes that live for seconds: plain compilation, one thread to collect."""

LOCAL = {
    "spark.executor.extraJavaOptions": QUICK_START,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.25",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.excludeOnFailure.enabled": "false",
}
"""Start a second copy of every task that is slower than the others."""

NO_COMPRESSION = {
    f"spark.{part}.compress": "false"
    for part in ("eventLog", "broadcast", "shuffle", "shuffle.spill", "rdd")
}
"""So that the test that searches all files finds everything."""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    pytest.importorskip("pyspark", reason="needs PySpark: pip install 'syntf[spark]'")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("needs Java 17: apt-get install openjdk-17-jre-headless")
    import spark_cluster

    with pytest.MonkeyPatch.context() as patch:
        for name in ("SPARK_SUBMIT_OPTS", "SPARK_DAEMON_JAVA_OPTS"):
            patch.setenv(name, QUICK_START)
        with spark_cluster.started(tmp_path_factory.mktemp("spark"), workers=3) as made:
            yield made


@pytest.fixture(scope="session")
def spark(cluster):
    """A session on the cluster, with an event log and second copies of slow tasks."""
    from pyspark.sql import SparkSession

    events, own = cluster.folder / "events", cluster.folder / "local-driver"
    events.mkdir()
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    options = {
        **LOCAL,
        **SPECULATION,
        **NO_COMPRESSION,
        "spark.local.dir": str(own),
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.cores.max": "2",  # the third worker is for the sessions of other processes
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.executorEnv.PYTHONPATH": path,
        "spark.executorEnv.SYNTF_TEST_FOLDER": str(cluster.folder),
    }
    if jars := os.environ.get("SYNTF_DELTA_JARS"):
        options["spark.jars"] = jars
        options["spark.sql.extensions"] = "io.delta.sql.DeltaSparkSessionExtension"
        options["spark.sql.catalog.spark_catalog"] = (
            "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        )
    if jar := os.environ.get("SYNTF_ICEBERG_JAR"):
        options["spark.jars"] = jar
        options["spark.sql.catalog.lake"] = "org.apache.iceberg.spark.SparkCatalog"
        options["spark.sql.catalog.lake.type"] = "hadoop"
        options["spark.sql.catalog.lake.warehouse"] = (cluster.folder / "lake").as_uri()
    builder = SparkSession.builder.master(cluster.master).appName("syntf")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def parameters():
    """Parameters of a small table."""
    return SETTINGS


@pytest.fixture
def frame(spark):
    """Make frames; every fifth text is the same."""

    def make(documents=200, partitions=8):
        rows = [
            (f"n{i}", i % 3, "cat dog" if i % 5 == 0 else f"{WORDS[i % 16]} {WORDS[i % 7]} x{i}")
            for i in range(documents)
        ]
        rdd = spark.sparkContext.parallelize(rows, partitions)
        return spark.createDataFrame(rdd, "name string, topic int, text string")

    return make


def pytest_collection_modifyitems(items):
    """Ignore warnings of PySpark, which leaves sockets open until they are collected.

    PySpark 3.5 also compares versions in a way that Python deprecates.
    """
    here = Path(__file__).parent
    ignored = (
        ":ResourceWarning", ":pytest.PytestUnraisableExceptionWarning",
        "distutils Version classes:DeprecationWarning",
    )  # fmt: skip
    marks = [pytest.mark.filterwarnings(f"ignore:{warning}") for warning in ignored]
    for item in items:
        if here in item.path.parents:
            for mark in marks:
                item.add_marker(mark)
