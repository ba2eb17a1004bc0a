"""Compare two Spark workers with one, and estimate the cost of a large corpus.

    python benchmarks/spark.py news.parquet                      # 50 copies, 3 rounds
    python benchmarks/spark.py news.parquet --times 5 --rounds 2 --json build/spark.json
    python benchmarks/spark.py --model build/spark.json          # the tables of docs/scale.md

Starts a cluster on loopback, with each worker pinned to a core, and writes a release of the same
Parquet files with one worker and with two, in turn. The time is that of `anonymize`, which counts
the documents, and of `write`, up to guarantee.json; small runs before it start the executors. Costs
are processor time of all processes of the workers, which is reliable on a busy machine too. The
ratio needs a quiet machine with a core for each worker. The exit code is 1 if
two workers are not --least times as fast as one.
"""

import argparse
import json
import os
import pickle
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

PRICED_DOCUMENTS = 1_000_000_000
"""Number of documents in the estimate."""


def copies(source: Path, folder: Path, times: int) -> Path:
    """Copy a file several times into a new folder; return the folder."""
    folder.mkdir()
    for number in range(times):
        shutil.copy(source, folder / f"part-{number:05}.parquet")
    return folder


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def write(cluster: Any, workers: int, small: Path, large: Path, out: Path) -> dict[str, Any]:
    """Write one release with a number of workers; return seconds, documents and bytes."""
    from pyspark.sql import SparkSession

    from syntf.spark import anonymize

    options = {
        "spark.cores.max": workers, "spark.executor.cores": 1, "spark.executor.memory": "1g",
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.files.maxPartitionBytes": "16m", "spark.log.level": "OFF",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }  # fmt: skip
    builder = SparkSession.builder.master(cluster.master).appName("syntf")
    for name, value in options.items():
        builder = builder.config(name, str(value))
    session = builder.getOrCreate()
    seconds, cores = [], []
    try:
        for number, folder in enumerate([small, small, large]):
            began, before = time.perf_counter(), cluster.core_seconds()
            release = anonymize(session.read.parquet(str(folder)), keep=["topic"], output="arrays")
            written = release.write(f"{out}-{number}")
            seconds.append(time.perf_counter() - began)
            cores.append(cluster.core_seconds() - before)
            table = len(pickle.dumps(release._anonymizer))
            release.close()
    finally:
        session.stop()
    made = Path(f"{out}-2")
    found = {
        "workers": workers, "documents": written.documents, "seconds": seconds[-1],
        "core_seconds": cores[-1], "small_core_seconds": cores[1], "table": table,
        "bytes_out": size(made / "data"), "files": len(list((made / "data").iterdir())),
    }  # fmt: skip
    for number in range(3):
        shutil.rmtree(f"{out}-{number}")
    return found


def measure(source: Path, times: int, rounds: int) -> dict[str, Any]:
    import polars as pl
    import spark_cluster

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    runs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = copies(source, folder / "small", 1)
        large = copies(source, folder / "large", times)
        with spark_cluster.started(folder / "cluster", memory="2g", pinned=True) as cluster:
            for turn in range(rounds):
                for workers in (1, 2) if turn % 2 == 0 else (2, 1):
                    found = write(cluster, workers, small, large, folder / f"out-{turn}")
                    runs.append({"round": turn, **found})
                    print(json.dumps(runs[-1]), flush=True)
        texts = pl.read_parquet(source, columns=["text"])["text"]
        return {
            "times": times, "runs": runs, "documents": len(texts),
            "text_bytes": int(texts.str.len_bytes().sum()), "file_bytes": source.stat().st_size,
        }  # fmt: skip


def ratios(result: dict[str, Any]) -> list[float]:
    """Return for each round how many times faster two workers were than one."""
    seconds = {(run["round"], run["workers"]): run["seconds"] for run in result["runs"]}
    rounds = sorted({turn for turn, _ in seconds})
    return [seconds[turn, 1] / seconds[turn, 2] for turn in rounds]


def model(result: dict[str, Any]) -> str:
    """Return tables of the measured costs and of the estimate for a billion documents."""
    runs = result["runs"]
    each = statistics.median(
        (run["core_seconds"] - run["small_core_seconds"])
        / (run["documents"] * (1 - 1 / result["times"]))
        for run in runs
    )
    fixed = statistics.median(
        run["small_core_seconds"] - each * result["documents"] for run in runs
    )
    text = result["text_bytes"] / result["documents"]
    read = result["file_bytes"] / result["documents"]
    wrote = runs[-1]["bytes_out"] / runs[-1]["documents"]
    hour = 3600 / each
    hours = PRICED_DOCUMENTS / hour
    faster = ratios(result)
    lines = [
        "| measured | |", "|---|---|",
        f"| documents per core-hour | {hour:,.0f} |",
        f"| core time for a document | {each * 1e6:,.0f} µs |",
        f"| a job, whatever its size | {max(0.0, fixed):,.1f} core-seconds |",
        f"| text of a document | {text:,.0f} bytes |",
        f"| read for a document (Parquet) | {read:,.0f} bytes |",
        f"| written for a document (Parquet, arrays) | {wrote:,.0f} bytes |",
        f"| table sent to each executor | {runs[-1]['table'] / 1e6:,.1f} MB |",
        f"| two workers against one, {len(faster)} × {runs[-1]['documents']:,} documents | "
        f"{statistics.median(faster):.2f} × ({min(faster):.2f} … {max(faster):.2f}) |",
        "", f"| {PRICED_DOCUMENTS:,} documents | |", "|---|---|",
        f"| core-hours | {hours:,.0f} |",
        *(f"| hours on {cores} cores | {hours / cores:,.2f} |" for cores in (4, 16, 64)),
        f"| read | {PRICED_DOCUMENTS * read / 1e12:,.2f} TB |",
        f"| written | {PRICED_DOCUMENTS * wrote / 1e12:,.2f} TB |",
        f"| money | {hours:,.0f} × the price of a core-hour |",
    ]  # fmt: skip
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", type=Path, nargs="?", help="Parquet with text and topic")
    parser.add_argument("--times", type=int, default=50, help="number of copies of the file")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--least", type=float, default=1.6)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--model", type=Path, help="print the tables for figures of an earlier run")
    options = parser.parse_args()
    if options.model:
        print(model(json.loads(options.model.read_text())))
        return 0
    if options.source is None or options.times < 2:
        parser.error("name a file, and use --times 2 or more")
    result = measure(options.source, options.times, options.rounds)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    print(model(result))
    return int(statistics.median(ratios(result)) < options.least)


if __name__ == "__main__":
    sys.exit(main())
