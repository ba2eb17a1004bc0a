"""A real cluster on loopback: a master, workers of one core each, and a driver."""

import os
import shutil
import sys
from pathlib import Path

import pytest

WORDS = "cat dog mouse horse cow bird fish car train bus boat road ship plane house garden".split()
SETTINGS = {"vocabulary": WORDS, "length": 30, "loss": 4.0, "morphology": "lower"}
LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
HASTY = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.25",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.excludeOnFailure.enabled": "false",
}
"""A second copy of every task that is slower than its neighbours."""

PLAIN = {
    f"spark.{what}.compress": "false"
    for what in ("eventLog", "broadcast", "shuffle", "shuffle.spill", "rdd")
}
"""Nothing that Spark writes is hidden from a search."""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    pytest.importorskip("pyspark", reason="needs PySpark: pip install 'syntf[spark]'")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("needs Java 17: apt-get install openjdk-17-jre-headless")
    import spark_cluster

    with spark_cluster.started(tmp_path_factory.mktemp("spark"), workers=3) as made:
        yield made


@pytest.fixture(scope="session")
def spark(cluster):
    """A session on the cluster, with an event log, and tasks that are tried twice in haste."""
    from pyspark.sql import SparkSession

    events, own = cluster.folder / "events", cluster.folder / "local-driver"
    events.mkdir()
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    options = {
        **LOCAL,
        **HASTY,
        **PLAIN,
        "spark.local.dir": str(own),
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.cores.max": "2",  # the third worker is for a session of another process
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.executorEnv.PYTHONPATH": path,
        "spark.executorEnv.SYNTF_TEST_FOLDER": str(cluster.folder),
    }
    builder = SparkSession.builder.master(cluster.master).appName("syntf")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def parameters():
    """A small table, quick to make."""
    return SETTINGS


@pytest.fixture
def frame(spark):
    """200 documents in eight partitions; every fifth text is the same."""

    def make(documents=200, partitions=8):
        rows = [
            (f"n{i}", i % 3, "cat dog" if i % 5 == 0 else f"{WORDS[i % 16]} {WORDS[i % 7]} x{i}")
            for i in range(documents)
        ]
        rdd = spark.sparkContext.parallelize(rows, partitions)
        return spark.createDataFrame(rdd, "name string, topic int, text string")

    return make


def pytest_collection_modifyitems(items):
    """With PySpark's own faults: it leaves sockets for the collector to close."""
    here = Path(__file__).parent
    marks = [
        pytest.mark.filterwarnings(f"ignore::{kind}")
        for kind in ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning")
    ]
    for item in items:
        if here in item.path.parents:
            for mark in marks:
                item.add_marker(mark)
