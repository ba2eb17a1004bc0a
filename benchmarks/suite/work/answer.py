"""Load `syntf serve` with 200 connections, one text in each request (benchmarks/serve.py)."""

import atexit
import itertools
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import serve
from syntf.ledger.ledger import Ledger

LOAD = ["--connections", "200", "--seconds", "3"]


def prepare(preset: str, with_ledger: str = "") -> Callable[[], dict[str, float]]:
    """Start a service of two processes, which ends with this process."""
    running = ExitStack()
    atexit.register(running.close)
    ledger = None
    if with_ledger:
        folder = running.enter_context(tempfile.TemporaryDirectory())
        ledger = Path(folder, "texts.ledger")
        Ledger.create(ledger, budget=1e9)
    service = running.enter_context(serve.warmed_up(preset, ledger, ["--workers", "2"]))
    numbers = itertools.count()

    def once() -> dict[str, float]:
        found, before = serve.Rounds(), service.busy()
        found.add(service, [*LOAD, *(["--ids", f"round {next(numbers)}"] if ledger else [])])
        if found.errors:
            raise RuntimeError(f"requests failed: {found.errors}")
        (per_second,), (slowest,), (memory,) = found.rate, found.slowest, found.memory
        cpu = service.busy() - before
        return {"cpu": cpu, "peak": memory, "per_second": per_second, "slowest": slowest}

    return once
