"""A client of Spark Connect, run as a process of its own: start a server, draw, print results."""

import json
import sys
import warnings
from pathlib import Path

from syntf.core.errors import SyntfError
from syntf.spark import anonymize, frames, guarantee_of

PARTS = ("eventLog", "broadcast", "shuffle", "shuffle.spill", "rdd")
"""What is written without compression, so that a test can search all files."""


def session(folder):
    """Start a Connect server in this process's Java, and connect to it through its port."""
    from pyspark.sql import SparkSession  # imported here: this file is also searched for tests

    options = {
        **{f"spark.{part}.compress": "false" for part in PARTS},
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "OFF",
        "spark.local.dir": str(folder / "local"),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
    }
    builder = SparkSession.builder.remote("local[1]")
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def refusal(call):
    """Return the message with which a call is refused."""
    try:
        call()
    except SyntfError as error:
        return str(error)
    return "accepted"


def main(folder, key, settings):
    from pyspark.sql import functions

    spark = session(folder)
    rows = [(f"n{i}", i % 3, "cat dog" if i % 5 == 0 else f"cow x{i}") for i in range(1100)]
    frame = spark.createDataFrame(rows, "name string, topic int, text string")
    few = frame.where("name < 'n14'").repartition(2)
    frames.fresh_key = lambda: key
    release = anonymize(few, id="name", keep=["topic"], output="arrays", **settings)
    data = release.data
    found = {
        "texts": {row["name"]: row["text"] for row in few.collect()},
        "draws": {row["name"]: [row["terms"], row["counts"]] for row in data.collect()},
        "columns": data.columns,
        "documents": release.documents,
        "loss": guarantee_of(data).loss_per_document,
        "key in plan": key.hex() in data._explain_string(extended=True),
    }
    vectors = anonymize(few, id="name", **settings).data.collect()
    found["vectors"] = {row["name"]: row["counts"].toArray().tolist() for row in vectors}
    changing = few.withColumn(
        "text", functions.when(functions.rand() < 0.5, "cat").otherwise("dog")
    )
    once = anonymize(changing, id="name", **settings).data
    looks = [sorted(map(str, look.collect())) for look in (once, once, once.repartition(3))]
    found["evaluations agree"] = looks[0] == looks[1] == looks[2]
    whole = anonymize(frame, id="name", output="arrays", document_loss=8)
    drawn = whole.data.collect()
    found["pilot"] = [
        sum(row["pilot"] for row in drawn),
        len(drawn),
        whole.guarantee.document.pilot,
    ]
    found["refused"] = [
        refusal(lambda: anonymize(few, **settings)),
        refusal(lambda: anonymize(few, id="name", ledger=folder / "ledger", **settings)),
        refusal(lambda: release.write(str(folder / "out"))),
    ]
    try:
        anonymize(few, id="topic", **settings).data.count()
    except Exception as error:
        found["repeated id"] = str(error)
    release.close()
    spark.stop()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]), bytes.fromhex(sys.argv[2]), json.loads(sys.argv[3]))
