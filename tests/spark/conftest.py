"""One local Spark session for all tests: two cores, tasks that are tried again, no compression."""

import os
import shutil
import sys
from pathlib import Path

import pytest

TOPICS = [
    "the rocket carried a satellite into orbit around the moon",
    "we cooked soup with garlic, onions and fresh bread",
    "the goalkeeper saved a penalty in the football match",
    "",
]
UNCOMPRESSED = ("eventLog", "broadcast", "shuffle", "shuffle.spill", "rdd")
"""What Spark writes to files, so that a search through them finds everything."""


@pytest.fixture(scope="session")
def files_of_spark(tmp_path_factory):
    """The folder of everything that Spark writes by itself."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def spark(files_of_spark):
    pytest.importorskip("pyspark", reason="needs PySpark: install the extra spark")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("needs Java 17: apt-get install openjdk-17-jre-headless")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    options = {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": (files_of_spark / "warehouse").as_uri(),
        "spark.local.dir": str(files_of_spark / "local"),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": files_of_spark.as_uri(),
        **{f"spark.{part}.compress": "false" for part in UNCOMPRESSED},
    }
    builder = SparkSession.builder.master("local[2,3]").appName("syntf")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def frame(spark):
    """Make frames of documents about four topics; the fourth has empty texts."""

    def make(documents, partitions=3):
        rows = [
            (f"n{number}", number % 4, TOPICS[number % 4] and f"{TOPICS[number % 4]} {number}")
            for number in range(documents)
        ]
        made = spark.sparkContext.parallelize(rows, partitions)
        return spark.createDataFrame(made, "name string, topic int, text string")

    return make


def pytest_collection_modifyitems(items):
    """Ignore warnings of PySpark, which leaves sockets open until they are collected."""
    here = Path(__file__).parent
    ignored = (
        ":ResourceWarning", ":pytest.PytestUnraisableExceptionWarning",
        "distutils Version classes:DeprecationWarning",
    )  # fmt: skip
    for item in items:
        if here in item.path.parents:
            for warning in ignored:
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{warning}"))
