"""Measure `syntf serve` with 200 connections and one text in each request.

    python benchmarks/serve.py                        # both units, without and with a ledger
    python benchmarks/serve.py --workers 1 --rounds 3 --seconds 2
    python benchmarks/serve.py --folder /mnt/disk     # where the ledger is

Starts a service on loopback for each line and loads it from another process (benchmarks/load.py)
in several short rounds. Prints the median and the range of the rounds: requests per second,
response times, and the processor time per request of the service and of the load generator, which
hardly depend on what else the machine does. The exit code is 1 if a request failed or if memory
grew.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from syntf.ledger.ledger import Ledger

GROWTH = 24.0
"""Megabytes by which the memory of a process may vary because of buffers of current requests."""

LOAD = Path(__file__).with_name("load.py")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Service:
    """A service in processes of its own."""

    process: subprocess.Popen[str]
    url: str

    def processes(self) -> list[int]:
        """Return the numbers of the first process and of its workers."""
        number = self.process.pid
        workers = Path(f"/proc/{number}/task/{number}/children").read_text().split()
        return [number, *map(int, workers)]

    def busy(self) -> float:
        """Return the processor time so far, in seconds."""
        ticks = 0
        for number in self.processes():
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / TICKS

    def memory(self) -> float:
        """Return the memory of all processes in megabytes; what they share counts once."""
        kilobytes = 0
        for number in self.processes():
            lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
            kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        return kilobytes / 1000


@contextmanager
def service(options: list[str]) -> Iterator[Service]:
    """Start a service and stop it at the end."""
    command = [sys.executable, "-m", "syntf", "serve", "--port", "0", "--rate", "1e9", "--quiet"]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield Service(process, line.split()[2].rstrip(";"))
        finally:
            process.terminate()


@dataclass
class Rounds:
    """What the rounds of one service gave."""

    rate: list[float] = field(default_factory=list)
    middle: list[float] = field(default_factory=list)
    slowest: list[float] = field(default_factory=list)
    service: list[float] = field(default_factory=list)
    client: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)

    def add(self, running: Service, load: list[str]) -> None:
        """Load a service once."""
        before = running.busy()
        done = subprocess.run(
            [sys.executable, str(LOAD), running.url, *load],
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        found = json.loads(done.stdout)
        requests = found["requests"]
        self.rate.append(requests / found["seconds"])
        self.middle.append(found["milliseconds"][0])
        self.slowest.append(found["milliseconds"][2])
        self.service.append(1000 * (running.busy() - before) / requests)
        self.client.append(1000 * found["client_seconds"] / requests)
        self.memory.append(running.memory())
        for kind, count in found["errors"].items():
            self.errors[kind] = self.errors.get(kind, 0) + count

    def line(self) -> str:
        """Return the figures as one line of a table."""
        return " | ".join(
            [
                spread(self.rate, "{:,.0f}"),
                spread(self.middle, "{:.0f}"),
                spread(self.slowest, "{:.0f}"),
                spread(self.service, "{:.2f}"),
                spread(self.client, "{:.3f}"),
                f"{self.memory[0]:.0f}, {self.memory[-1]:.0f}",
            ]
        )

    def failed(self, processes: int) -> bool:
        """Return whether a request failed, or memory grew after the first round."""
        grown = self.memory[-1] - self.memory[min(1, len(self.memory) - 1)]
        return bool(self.errors) or grown > GROWTH * processes


def spread(values: list[float], form: str) -> str:
    """Return the median of the values, and the least and the largest in brackets."""
    least, most = form.format(min(values)), form.format(max(values))
    return f"{form.format(median(values))} ({least}–{most})"


@contextmanager
def warmed_up(preset: str, ledger: Path | None, options: list[str]) -> Iterator[Service]:
    """Start a service and let it answer for half a second."""
    start = ["--preset", preset, *([] if ledger is None else ["--ledger", str(ledger)])]
    load = ["--seconds", "0.5", "--connections", "20"]
    load += [] if ledger is None else ["--ids", "warm"]
    with service([*start, *options]) as running:
        command = [sys.executable, str(LOAD), running.url, *load]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        yield running


def measure(options: argparse.Namespace, preset: str, ledger: Path | None) -> Rounds:
    """Start a service and load it in rounds."""
    load = ["--connections", str(options.connections), "--seconds", str(options.seconds)]
    load += ["--gzip"] if options.gzip else []
    found = Rounds()
    workers = ["--workers", str(options.workers)]
    with warmed_up(preset, ledger, [*workers, *options.options]) as running:
        for number in range(options.rounds):
            names = [] if ledger is None else ["--ids", f"round {number}"]
            found.add(running, [*load, *names])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--gzip", action="store_true", help="ask for compressed answers")
    parser.add_argument("--presets", nargs="+", default=["document", "words"])
    parser.add_argument("--ledgers", nargs="+", default=["without", "with"])
    parser.add_argument("--folder", type=Path, help="folder of the ledgers")
    parser.add_argument("--options", nargs=argparse.REMAINDER, default=[], help="of syntf serve")
    options = parser.parse_args()
    print(f"{options.connections} connections, {options.workers} workers, {os.cpu_count()} cores, "
          f"{options.rounds} rounds of {options.seconds:g} s; median (range)")  # fmt: skip
    print("unit | ledger | requests/s | ms at 50 % | ms at 99 % | service ms/request | "
          "client ms/request | MB first, last | load before, after")  # fmt: skip
    failed = False
    for preset in options.presets:
        for kind in options.ledgers:
            before = os.getloadavg()[0]
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                path = Path(folder, "texts.ledger") if kind == "with" else None
                if path is not None:
                    Ledger.create(path, budget=1e9)
                found = measure(options, preset, path)
                if path is not None:
                    Ledger(path).verify()
            after = os.getloadavg()[0]
            print(f"{preset} | {kind} | {found.line()} | {before:.1f}, {after:.1f}", flush=True)
            if found.errors:
                print(f"errors: {found.errors}")
            failed |= found.failed(options.workers + 1)
    sys.exit(failed)


if __name__ == "__main__":
    main()
