"""Start a standalone Spark cluster on this machine, with the scripts that are part of PySpark.

Each worker has its own loopback address (127.0.0.1, 127.0.0.2, …), because Spark does not start a
second copy of a slow task on the same host.
"""

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

START_TIMEOUT = 120.0
"""Seconds to wait until a master or a worker has started."""

STOP_TIMEOUT = 20.0
"""Seconds to wait until the last process of a worker has ended."""

REGISTERED = "Successfully registered with master"

CGROUPS = Path("/sys/fs/cgroup/cpu")
"""Where the cpu controller of control groups, version 1, is mounted."""

QUOTA_PERIOD = 20_000
"""Microseconds in which a worker may use its share of a core. The kernel then stops it until the
next period begins, so a short period delays its answers to the driver less."""


THREADS = {
    "compiler": ("C1 ", "C2 "),
    "collector": ("GC ", "G1 ", "VM Thread"),
    "network": ("shuffle-", "rpc-", "files-", "block-", "netty-"),
}
"""How the names of the threads of some parts of Java begin. Java's serial collector has no thread
of its own: it runs in the VM thread."""


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

    def part_seconds(self) -> dict[str, float]:
        """Return the processor time of the parts of all executors so far.

        ``java`` is the time of the Java processes. The times of some of its threads follow:
        ``compiler`` compiles Java, ``collector`` frees memory, ``network`` sends and receives
        shuffled rows. ``python`` is the time that Python processes compute, and ``python_kernel``
        the time that the kernel works for them.
        """
        executors = set(self.executors())
        by_pid = {found.pid: found for found in _processes()}
        java = [by_pid[pid] for pid in executors & by_pid.keys()]
        pythons = [by_pid[pid] for pid in _with_children(executors, by_pid) - executors]
        parts = dict.fromkeys(THREADS, 0.0)
        for pid in executors:
            for name, seconds in _threads(pid):
                for part, beginnings in THREADS.items():
                    parts[part] += seconds if name.startswith(beginnings) else 0.0
        return {
            "java": sum(found.user + found.kernel for found in java),
            **parts,
            "python": sum(found.user + found.ended_user for found in pythons),
            "python_kernel": sum(found.kernel + found.ended_kernel for found in pythons),
        }

    def core_seconds(self) -> float:
        """Return the processor time of workers, executors and their Python processes so far."""
        return _seconds_of({worker.pid for worker in self.workers})

    def driver_seconds(self) -> float:
        """Return the processor time of this process, its driver and the master so far."""
        return _seconds_of({os.getpid()}) - self.core_seconds()


def machine_seconds() -> tuple[float, float]:
    """Return the processor time of all programs so far, and the time that the host has taken away.

    The host of a virtual machine gives its cores to other machines, too.
    """
    ticks = [int(value) for value in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    user, nice, system, _idle, _wait, interrupts, soft_interrupts, stolen = ticks[:8]
    used = user + nice + system + interrupts + soft_interrupts
    return used / os.sysconf("SC_CLK_TCK"), stolen / os.sysconf("SC_CLK_TCK")


def _seconds_of(roots: set[int]) -> float:
    """Return the processor time of some processes and of all that they have started."""
    by_pid = {found.pid: found for found in _processes()}
    return sum(sum(by_pid[pid][2:]) for pid in _with_children(roots, by_pid))


def _with_children(roots: set[int], by_pid: Mapping[int, "Process"]) -> set[int]:
    """Return some processes and all that they have started, without those that have ended."""
    ours = set(roots)
    while more := {pid for pid, found in by_pid.items() if found.parent in ours} - ours:
        ours |= more
    return ours & by_pid.keys()


class Process(NamedTuple):
    """A process: its id, its parent, and the processor seconds of it and its ended children."""

    pid: int
    parent: int
    user: float
    kernel: float
    ended_user: float
    ended_kernel: float


@contextmanager
def limited_group(share: float) -> Iterator[Path]:
    """Make a control group whose processes together use at most this share of one core.

    Yields the file that takes the id of a process. Its later children are in the group, too.

    Raises
    ------
    RuntimeError : the kernel has no such groups here, or this user cannot make one.
    """
    remove_left_groups()
    group = CGROUPS / f"syntf-{os.getpid()}-{time.monotonic_ns()}"
    try:
        group.mkdir()
        (group / "cpu.cfs_period_us").write_text(str(QUOTA_PERIOD))
        (group / "cpu.cfs_quota_us").write_text(str(round(share * QUOTA_PERIOD)))
    except OSError as error:
        if group.is_dir():
            group.rmdir()
        raise RuntimeError(
            f"cannot limit a worker to {share:g} of a core ({error}): this needs root, and the cpu "
            f"controller of Linux control groups, version 1, at {CGROUPS}"
        ) from error
    try:
        yield group / "cgroup.procs"
    finally:
        _remove_group(group)


def remove_left_groups() -> None:
    """Delete the control groups of processes that were killed; the kernel keeps those in use."""
    for group in CGROUPS.glob("syntf-*-*"):
        if not Path("/proc", group.name.split("-")[1]).exists():
            with suppress(OSError):
                group.rmdir()


def _remove_group(group: Path) -> None:
    """Delete a control group as soon as its last process has ended."""
    until = time.monotonic() + STOP_TIMEOUT
    while True:
        try:
            return group.rmdir()
        except OSError:
            if time.monotonic() > until:
                raise
        time.sleep(0.1)


@contextmanager
def started(
    folder: Path,
    *,
    workers: int = 2,
    memory: str = "1g",
    pinned: bool = False,
    share: float | None = None,
) -> Iterator[Cluster]:
    """Start a cluster of `workers` workers and stop it at the end of the context.

    Each worker runs one task at a time. If `pinned`, a worker and its child processes stay on one
    core of the machine; otherwise their processes may use all cores. With a `share`, such as 0.5,
    a worker and its child processes together use at most this share of a core
    (:func:`limited_group`). The master and the driver have no such limit.
    """
    from pyspark import __file__ as package

    home = Path(package).parent
    command = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy"]
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    running: list[subprocess.Popen[bytes]] = []
    groups = ExitStack()

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
            group = groups.enter_context(limited_group(share)) if share else None
            start(name, f"127.0.0.{number}", "worker.Worker", *limits, master)
            if group is not None:
                group.write_text(str(running[-1].pid))
            if pinned:
                os.sched_setaffinity(running[-1].pid, {(number - 1) % (os.cpu_count() or 1)})
            _wait(running[-1], folder / f"{name}.log", REGISTERED)
        yield Cluster(master, running[1:], folder)
    finally:
        for process in reversed(running):
            process.terminate()
        for process in running:
            process.wait()
        groups.close()


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


def _threads(pid: int) -> Iterator[tuple[str, float]]:
    """Yield the names and the processor times of the threads of a process."""
    for path in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            name, rest = path.read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:  # the thread has ended
            continue
        yield name, sum(map(int, rest.split()[11:13])) / os.sysconf("SC_CLK_TCK")


def _processes() -> Iterator[Process]:
    """Yield all processes that /proc lists."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended
            continue
        seconds = [int(ticks) / os.sysconf("SC_CLK_TCK") for ticks in fields[11:15]]
        yield Process(int(path.parent.name), int(fields[1]), *seconds)
