"""Compare two Spark workers with one, and estimate the cost of a large corpus.

    python benchmarks/spark.py news.parquet                      # 50 copies, 3 rounds
    python benchmarks/spark.py news.parquet --times 5 --rounds 2 --json build/spark.json
    python benchmarks/spark.py --model build/spark.json          # the tables of docs/scale.md
    python benchmarks/spark.py news.parquet --costs              # processor time, without a cluster
    python benchmarks/spark.py news.parquet --ids --rounds 5     # a job with --id and without
    python benchmarks/spark.py news.parquet --limit              # what the machine's cores allow
    python benchmarks/spark.py news.parquet --share 0.5          # workers of half a core each

Starts a cluster on loopback, with each worker pinned to a core, and writes a release of the same
Parquet files with one worker and with two, in turn. The time is that of `anonymize`, which counts
the documents, and of `write`, up to guarantee.json; two small runs before it start the executors.
Java is slow in a new process, until it has compiled the code that runs often. Each executor pays
for this, so it matters for jobs of a minute. `--warm 10` lets the first run have 10 copies. Two
executors share them, so each has compiled less than the one executor of one worker; with
`--warm-per-worker` each executor gets 10. This is not the figure of a job: it tells how much of the
difference is that start. Costs
are processor time of all processes of the workers, which is reliable on a busy machine too. The
ratio needs a quiet machine with a core for each worker, and one for the driver. On a machine with
two cores, `--share 0.5` lets each worker, with its executor and Python processes, use half of its
core; the other halves are left for the driver and the master. The figure is then that of two
workers of half a core against one of half a core. Spark's event log tells where the time goes: how
long no task ran, because the driver planned or wrote, how long a worker had no task, and how long
Python processes took to start and to work. The exit code is 1 if two workers are not --least times
as fast as one.
"""

import argparse
import json
import os
import pickle
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

PYTHON_TIMES = {
    "time to start Python workers": "python_start",
    "time to run Python workers": "python_run",
}
"""Times that Spark measures for the Python process of a task. Its time to start is also more than
zero for a process that is used again, if it waits for Java to read the first rows. Its time to
initialize a process also counts how long that process had nothing to do, so it is left out."""

PARTS = {
    "python": "of this: Python",
    "python_kernel": "of this: the kernel, for Python",
    "java": "of this: Java",
    "compiler": "of Java: it compiles its code",
    "collector": "of Java: it frees memory",
    "network": "of Java: it sends and receives rows",
}
"""What the parts of the processor time of the workers are."""

WORKER_IMPORTS = "import pyspark.worker, pyarrow, syntf.spark.documents"
"""What the Python process of an executor imports before its first task."""

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


def busy_seconds(intervals: list[tuple[int, int]]) -> float:
    """Return how long at least one of some intervals in milliseconds lasted.

    >>> busy_seconds([(0, 1000), (500, 2000), (3000, 3500)])
    2.5
    """
    total = end = 0
    for start, stop in sorted(intervals):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total / 1000


def task_times(events: Path, began: float) -> dict[str, Any]:
    """Return where the time of all tasks since `began` went, from the event log, in seconds.

    `stages` has the times of the tasks of each stage.
    """
    found = dict.fromkeys(PYTHON_TIMES.values(), 0.0)
    intervals = []
    stages: dict[int, list[float]] = {}
    for path in events.rglob("events_*"):
        for line in path.read_text(encoding="utf-8").splitlines():
            event = json.loads(line) if '"SparkListenerTaskEnd"' in line else {}
            info = event.get("Task Info", {"Launch Time": 0})
            if info["Launch Time"] < began * 1000:
                continue
            intervals.append((info["Launch Time"], info["Finish Time"]))
            stages.setdefault(event["Stage ID"], []).append(
                (info["Finish Time"] - info["Launch Time"]) / 1000
            )
            for measured in info["Accumulables"]:
                if (name := PYTHON_TIMES.get(measured.get("Name", ""))) is not None:
                    found[name] += int(measured["Update"]) / 1000
    tasks = sum(stop - start for start, stop in intervals) / 1000
    return {
        "busy": busy_seconds(intervals), "tasks": tasks, "number": len(intervals), **found,
        "stages": stages,
    }  # fmt: skip


def started_session(cluster: Any, workers: int, events: Path, java: str = "") -> Any:
    """Return a session of the cluster that uses this many workers and logs its events.

    java : options of Java for the executors.
    """
    from pyspark.sql import SparkSession

    options = {
        "spark.cores.max": workers, "spark.executor.cores": 1, "spark.executor.memory": "1g",
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.files.maxPartitionBytes": "16m", "spark.log.level": "OFF",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "spark.eventLog.enabled": "true", "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(), "spark.executor.extraJavaOptions": java,
    }  # fmt: skip
    events.mkdir()
    builder = SparkSession.builder.master(cluster.master).appName("syntf")
    for name, value in options.items():
        builder = builder.config(name, str(value))
    return builder.getOrCreate()


def write(cluster: Any, workers: int, folders: list[Path], out: Path, java: str) -> dict[str, Any]:
    """Write releases with a number of workers; return seconds, documents and bytes of the last.

    folders : inputs of a run that starts the executors, of a small one, and of the measured one.
    """
    from spark_cluster import machine_seconds

    from syntf.spark import anonymize

    events = Path(f"{out}-events-{workers}")
    session = started_session(cluster, workers, events, java)
    seconds, cores, driver = [], [], []
    try:
        for number, folder in enumerate(folders):
            clock = time.time()
            began, before = time.perf_counter(), cluster.core_seconds()
            driver_before, parts_before = cluster.driver_seconds(), cluster.part_seconds()
            machine_before, stolen_before = machine_seconds()
            release = anonymize(session.read.parquet(str(folder)), keep=["topic"], output="arrays")
            written = release.write(f"{out}-{number}")
            seconds.append(time.perf_counter() - began)
            cores.append(cluster.core_seconds() - before)
            driver.append(cluster.driver_seconds() - driver_before)
            parts = {
                name: spent - parts_before[name] for name, spent in cluster.part_seconds().items()
            }
            machine, stolen = machine_seconds()
            table = len(pickle.dumps(release._anonymizer))
            release.close()
    finally:
        session.stop()
    made = Path(f"{out}-2")
    found = {
        "workers": workers, "documents": written.documents, "seconds": seconds[-1],
        "core_seconds": cores[-1], "small_core_seconds": cores[1], "table": table,
        "driver_seconds": driver[-1], "parts": parts,
        "other_seconds": machine - machine_before - cores[-1] - driver[-1],
        "stolen_seconds": stolen - stolen_before,
        "bytes_out": size(made / "data"), "files": len(list((made / "data").iterdir())),
        **task_times(events, clock),
    }  # fmt: skip
    for number in range(3):
        shutil.rmtree(f"{out}-{number}")
    return found


def measure(
    source: Path,
    times: int,
    rounds: int,
    share: float | None,
    warm: int,
    java: str,
    *,
    per_worker: bool = False,
) -> dict[str, Any]:
    """Write releases with one worker and with two; return the figures of all runs.

    per_worker : let the run that starts executors have `warm` copies for each of them, so that
        all executors have drawn for equally many documents before.
    """
    import polars as pl
    import spark_cluster

    runs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = copies(source, folder / "small", 1), copies(source, folder / "large", times)
        first = {
            workers: copies(
                source, folder / f"warm-{workers}", warm * (workers if per_worker else 1)
            )
            for workers in (1, 2)
        }
        with spark_cluster.started(
            folder / "cluster", memory="2g", pinned=True, share=share
        ) as cluster:
            for turn in range(rounds):
                for workers in (1, 2) if turn % 2 == 0 else (2, 1):
                    inputs = [first[workers], small, large]
                    found = write(cluster, workers, inputs, folder / f"out-{turn}", java)
                    runs.append({"round": turn, **found})
                    print(json.dumps(runs[-1]), flush=True)
        texts = pl.read_parquet(source, columns=["text"])["text"]
        return {
            "times": times, "share": share or 1, "warm": warm, "per_worker": per_worker,
            "runs": runs,
            "documents": len(texts),
            "text_bytes": int(texts.str.len_bytes().sum()), "file_bytes": source.stat().st_size,
        }  # fmt: skip


def ids(source: Path, rounds: int) -> str:
    """Return a table of the time of a job that identifies documents by a column, and without."""
    import polars as pl
    import spark_cluster

    from syntf.spark import anonymize

    took: dict[str | None, list[tuple[float, float]]] = {None: [], "id": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = pl.read_parquet(source).with_row_index("id")
        texts.write_parquet(folder / "texts.parquet")
        with spark_cluster.started(folder / "cluster", memory="2g", pinned=True) as cluster:
            session = started_session(cluster, 2, folder / "events")
            try:
                for turn in range(-1, rounds):  # the first turn starts the executors
                    for id in took:
                        began, before = time.perf_counter(), cluster.core_seconds()
                        frame = session.read.parquet(str(folder / "texts.parquet"))
                        with anonymize(frame, id=id, output="arrays") as release:
                            release.write(f"{folder}/out-{turn}-{id}")
                        seconds = time.perf_counter() - began
                        if turn >= 0:
                            took[id].append((seconds, cluster.core_seconds() - before))
            finally:
                session.stop()
    lines = [
        f"| {len(texts):,} documents | without an id | with an id | ratio |",
        "|---|---|---|---|",
    ]
    for number, what in enumerate(("seconds", "processor time of the workers, seconds")):
        without, given = ([each[number] for each in took[id]] for id in took)
        times = [a / b for a, b in zip(given, without, strict=True)]
        lines.append(
            f"| {what} | {statistics.median(without):.1f} | {statistics.median(given):.1f} | "
            f"{statistics.median(times):.2f} × ({min(times):.2f} … {max(times):.2f}) |"
        )
    return "\n".join(lines)


ALONE = """
import sys, time
import polars as pl
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings
from syntf.core.parallel import at_most
texts = pl.read_parquet(sys.argv[1], columns=["text"])["text"].fill_null("").to_list()
anonymizer = DocumentAnonymizer.build(Settings.from_preset())
mechanism = anonymizer.mechanism(len(texts))
with at_most(1):
    mechanism.release(anonymizer.read(texts[:1000]))
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.perf_counter()
    for _ in range(5):
        mechanism.release(anonymizer.read(texts))
    print(time.perf_counter() - began)
"""
"""Reads texts and draws for them on one core, without Spark."""


def limit(source: Path, rounds: int) -> str:
    """Return how much faster two processes that share nothing are than one, each on its core.

    This is what the machine allows: cores share caches, memory and, in a virtual machine, often
    the arithmetic units. No cluster on the same cores can be faster.
    """

    def run(cores: list[int]) -> float:
        """Return the seconds of the slowest of some processes that begin together."""
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
        running = [
            subprocess.Popen(
                ["taskset", "--cpu-list", str(core), sys.executable, "-c", ALONE, str(source)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
            )
            for core in cores
        ]  # fmt: skip
        for process in running:
            assert process.stdout is not None
            process.stdout.readline()
        for process in running:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        return max(float(process.communicate()[0]) for process in running)

    first, second = sorted(os.sched_getaffinity(0))[:2]
    times = [2 * run([first]) / run([first, second]) for _ in range(rounds)]
    return (
        f"two processes without Spark against one: {statistics.median(times):.2f} × "
        f"({min(times):.2f} … {max(times):.2f}), {rounds} rounds"
    )


def costs(source: Path) -> str:
    """Return a table of the processor time of one Python process of an executor."""
    import numpy as np
    import polars as pl
    import pyarrow as pa

    from syntf.pipeline.document import DocumentAnonymizer
    from syntf.pipeline.settings import Settings
    from syntf.spark.documents import DocumentDrawing, DocumentTable, NumberDrawing, PilotDrawing
    from syntf.spark.random_bytes import pilot_numbers
    from syntf.spark.sessions import Embedded

    def seconds(work: Callable[[], object]) -> float:
        """Return the least processor time of three tries."""
        tries = []
        for _ in range(3):
            before = time.process_time()
            work()
            tries.append(time.process_time() - before)
        return min(tries)

    def imported() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", WORKER_IMPORTS], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    texts = pl.read_parquet(source, columns=["text"])["text"][:20_000]
    names = [f"n{number}" for number in range(len(texts))]
    columns = {"text": texts.to_arrow().cast(pa.string()), "name": pa.array(names)}
    table = pa.table(columns)
    anonymizer = DocumentAnonymizer.build(Settings.from_preset())
    mechanism = anonymizer.mechanism(len(texts))
    sent = Embedded(DocumentTable(anonymizer, mechanism))
    key, pickled = bytes(32), pickle.dumps(sent)
    pilot, every = mechanism.plan.pilot, np.sort(pilot_numbers(key, [n.encode() for n in names]))
    work: dict[str, Callable[[Any], Any]] = {
        "with an id: numbers for the pilot": NumberDrawing(key),
        f"with a ledger: find and draw for the pilot ({pilot:,})": PilotDrawing(
            sent, key, every[:pilot], None, None
        ),
        "draw for all": DocumentDrawing(sent, key, [], "arrays"),
    }
    list(work["draw for all"](table.to_batches(1000)[:1]))
    lines = [
        "| processor time of a Python process | |", "|---|---|",
        f"| start it and import syntf | {min(imported() for _ in range(3)):.2f} s |",
        f"| load the table of {len(pickled) / 1e6:.1f} MB | "
        f"{seconds(lambda: pickle.loads(pickled)) * 1e3:.0f} ms |",  # noqa: S301
    ]  # fmt: skip
    for rows in (10_000, 2_000, 500):
        batches = table.combine_chunks().to_batches(rows)
        for name, function in work.items():
            if rows < 10_000 and name != "draw for all":
                continue
            each = seconds(lambda f=function, b=batches: list(f(b))) / len(texts)
            lines.append(f"| {name}, batches of {rows:,} rows | {each * 1e6:.1f} µs a document |")
    return "\n".join(lines)


def ratios(result: dict[str, Any]) -> list[float]:
    """Return for each round how many times faster two workers were than one."""
    seconds = {(run["round"], run["workers"]): run["seconds"] for run in result["runs"]}
    rounds = sorted({turn for turn, _ in seconds})
    return [seconds[turn, 1] / seconds[turn, 2] for turn in rounds]


def shares(runs: list[dict[str, Any]]) -> list[str]:
    """Return a table of where the time went, by the number of workers; medians of all rounds."""

    def median(workers: int, share: Any) -> float:
        return statistics.median(share(run) for run in runs if run["workers"] == workers)

    parts = PARTS if all("parts" in run for run in runs) else {}  # older files lack them
    rows = {
        "the whole job": lambda run: run["seconds"],
        "no task runs: the driver plans, sharpens the list, writes": lambda run: (
            run["seconds"] - run["busy"]
        ),
        "some worker has no task": lambda run: run["busy"] - run["tasks"] / run["workers"],
        "all tasks together": lambda run: run["tasks"],
        "of these: Python processes start, or wait for their first rows": lambda run: run[
            "python_start"
        ],
        "of these: Python reads texts, draws and returns rows": lambda run: run["python_run"],
        "processor time of the workers": lambda run: run["core_seconds"],
        **{name: lambda run, part=part: run["parts"][part] for part, name in parts.items()},
        "processor time of the driver and the master": lambda run: run["driver_seconds"],
        "processor time of other programs": lambda run: run["other_seconds"],
        "processor time that the host took away": lambda run: run["stolen_seconds"],
    }
    lines = ["| seconds | one worker | two workers |", "|---|---|---|"]
    for name, share in rows.items():
        lines.append(f"| {name} | {median(1, share):,.1f} | {median(2, share):,.1f} |")
    return lines


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
    share = result["share"]
    worker = "one" if share == 1 else f"one, each with {share:g} of a core"
    lines = [
        "| measured | |", "|---|---|",
        f"| documents per core-hour | {hour:,.0f} |",
        f"| core time for a document | {each * 1e6:,.0f} µs |",
        f"| a job, whatever its size | {max(0.0, fixed):,.1f} core-seconds |",
        f"| text of a document | {text:,.0f} bytes |",
        f"| read for a document (Parquet) | {read:,.0f} bytes |",
        f"| written for a document (Parquet, arrays) | {wrote:,.0f} bytes |",
        f"| table sent to each executor | {runs[-1]['table'] / 1e6:,.1f} MB |",
        f"| two workers against {worker}, {len(faster)} × {runs[-1]['documents']:,} documents | "
        f"{statistics.median(faster):.2f} × ({min(faster):.2f} … {max(faster):.2f}) |",
        "", *shares(runs),
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
    parser.add_argument(
        "--share", type=float, help="share of its core that each worker may use (default: all)"
    )
    parser.add_argument(
        "--warm", type=int, default=1, help="copies of the file in the run that starts executors"
    )
    parser.add_argument(
        "--warm-per-worker", action="store_true", help="let --warm count the copies for each worker"
    )
    parser.add_argument("--java", default="", help="options of Java for the executors")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--model", type=Path, help="print the tables for figures of an earlier run")
    parser.add_argument("--costs", action="store_true", help="measure one Python process only")
    parser.add_argument("--ids", action="store_true", help="compare a job with --id and without")
    parser.add_argument("--limit", action="store_true", help="compare two processes with one")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # stop the cluster first
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if options.costs and options.source:
        print(costs(options.source))
        return 0
    if options.ids and options.source:
        print(ids(options.source, options.rounds))
        return 0
    if options.limit and options.source:
        print(limit(options.source, options.rounds))
        return 0
    if options.model:
        print(model(json.loads(options.model.read_text())))
        return 0
    if options.source is None or options.times < 2:
        parser.error("name a file, and use --times 2 or more")
    if options.share is not None and not 0.05 <= options.share <= 1:
        parser.error("--share is a part of a core, from 0.05 to 1")
    result = measure(
        options.source, options.times, options.rounds, options.share, options.warm, options.java,
        per_worker=options.warm_per_worker,
    )  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    print(model(result))
    return int(statistics.median(ratios(result)) < options.least)


if __name__ == "__main__":
    sys.exit(main())
