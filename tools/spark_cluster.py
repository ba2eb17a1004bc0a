"""Start a standalone Spark cluster on this machine, with the scripts that are part of PySpark.

Each worker has its own loopback address (127.0.0.1, 127.0.0.2, …), because Spark does not start a
second copy of a slow task on the same host.
"""

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

START_TIMEOUT = 120.0
"""Seconds to wait until a master or a worker has started."""

REGISTERED = "Successfully registered with master"


@dataclass(frozen=True)
class Cluster:
    """A running cluster: the master's address, the workers, and the folder of their files."""

    master: str
    workers: Sequence["subprocess.Popen[bytes]"]
    folder: Path

    def executors(self) -> list[int]:
        """List the process ids of the executors."""
        parents = {worker.pid for worker in self.workers}
        children = [found.pid for found in _processes() if found.parent in parents]
        return [pid for pid in children if b"ExecutorBackend" in _command(pid)]

    def core_seconds(self) -> float:
        """Return the processor time of workers, executors and their Python processes so far."""
        return _seconds_of({worker.pid for worker in self.workers})

    def driver_seconds(self) -> float:
        """Return the processor time of this process, its driver and the master so far."""
        return _seconds_of({os.getpid()}) - self.core_seconds()


def _seconds_of(roots: set[int]) -> float:
    """Return the processor time of some processes and of all that they have started."""
    by_pid = {found.pid: found for found in _processes()}
    ours = set(roots)
    while more := {pid for pid, found in by_pid.items() if found.parent in ours} - ours:
        ours |= more
    return sum(by_pid[pid].seconds for pid in ours & by_pid.keys())


class Process(NamedTuple):
    """A process: its id, its parent, and the processor seconds of it and its ended children."""

    pid: int
    parent: int
    seconds: float


@contextmanager
def started(
    folder: Path, *, workers: int = 2, memory: str = "1g", pinned: bool = False
) -> Iterator[Cluster]:
    """Start a cluster of `workers` workers and stop it at the end of the context.

    Each worker runs one task at a time. If `pinned`, a worker and its child processes stay on one
    core of the machine; otherwise their processes may use all cores.
    """
    from pyspark import __file__ as package

    home = Path(package).parent
    command = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy"]
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    running: list[subprocess.Popen[bytes]] = []

    def start(name: str, host: str, *arguments: str) -> None:
        local = folder / f"local-{name}"
        local.mkdir(parents=True)
        environment = {
            **os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": host,
            "SPARK_LOCAL_DIRS": str(local), "SPARK_DAEMON_MEMORY": "256m",
        }  # fmt: skip
        kind = f"{command[1]}.{arguments[0]}"
        arguments_of_process = [
            command[0],
            kind,
            "--host",
            host,
            "--webui-port",
            "0",
            *arguments[1:],
        ]
        running.append(_begin(arguments_of_process, environment, folder / f"{name}.log"))

    try:
        start("master", "127.0.0.1", "master.Master", "--port", str(port))
        _wait(running[0], folder / "master.log", "I have been elected leader")
        for number in range(1, workers + 1):
            name = f"worker-{number}"
            place = str(folder / name)
            limits = ("--cores", "1", "--memory", memory, "--work-dir", place, "--port", "0")
            start(name, f"127.0.0.{number}", "worker.Worker", *limits, master)
            if pinned:
                os.sched_setaffinity(running[-1].pid, {(number - 1) % (os.cpu_count() or 1)})
            _wait(running[-1], folder / f"{name}.log", REGISTERED)
        yield Cluster(master, running[1:], folder)
    finally:
        for process in reversed(running):
            process.terminate()
        for process in running:
            process.wait()


def free_port() -> int:
    """Return a port on which no program listens at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def _begin(
    command: Sequence[str], environment: Mapping[str, str], log: Path
) -> "subprocess.Popen[bytes]":
    with log.open("wb") as file:
        return subprocess.Popen(command, env=environment, stdout=file, stderr=file)


def _wait(process: "subprocess.Popen[bytes]", log: Path, line: str) -> None:
    until = time.monotonic() + START_TIMEOUT
    while line not in log.read_text(encoding="utf-8", errors="replace"):
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(
                f"{log.name} never printed {line!r}: {log.read_text(errors='replace')[-2000:]}"
            )
        time.sleep(0.1)


def _command(pid: int) -> bytes:
    """Return the command line of a process; empty bytes if the process has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _processes() -> Iterator[Process]:
    """Yield all processes that /proc lists."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended
            continue
        ticks = sum(map(int, fields[11:15]))
        yield Process(int(path.parent.name), int(fields[1]), ticks / os.sysconf("SC_CLK_TCK"))
