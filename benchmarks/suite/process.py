"""Processes under measurement: their time, their processor time, and their peak memory.

Whoever imports this stays small: Linux counts the memory of the process that starts a program
into the peak of the program. So data are loaded by workers, never here.
"""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

Round = dict[str, float]
"""What one round took: seconds, cpu (seconds), peak (MB); amount, where work has one."""

LIMIT = 900.0
"""Seconds after which a worker is taken to hang."""

WORK = Path(__file__).parents[1] / "work.py"


class Unavailable(Exception):
    """Something cannot be measured here; the message says why."""


def worker(name: str, *arguments: object, python: str | Path = sys.executable) -> list[str]:
    """The command of a worker."""
    return [str(python), str(WORK), name, *map(str, arguments)]


def whole(command: Sequence[str], env: Mapping[str, str]) -> Round:
    """A process from start to end."""
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=_with(env)
        )
        used = _end(process)
        seconds = time.perf_counter() - start
        if process.returncode:
            raise Unavailable(f"ended with {process.returncode}: {_last_line(said)}")
    return {"seconds": seconds, **used}


class Worker:
    """A process that prepares once and does a round when it is asked to."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `end`)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
            env=_with(env), text=True,
        )  # fmt: skip
        try:
            self._answer()
        except Unavailable:
            self.end()
            raise

    def round(self) -> Round:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # one that has ended gives no answer, and a reason
            print(file=self._process.stdin, flush=True)
        return self._answer()

    def end(self) -> float:
        """MB that the process took at most."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()
        used = _end(self._process)
        self._said.close()
        return used["peak"]

    def _answer(self) -> Round:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], LIMIT)
        if not ready:
            self._process.kill()
            raise Unavailable(f"no answer within {LIMIT:g} s")
        line = self._process.stdout.readline()
        if not line:
            raise Unavailable(f"ended without an answer: {_last_line(self._said)}")
        answer: Round = json.loads(line)
        if "error" in answer:
            raise Unavailable(str(answer["error"]))
        return answer


def once(command: Sequence[str], env: Mapping[str, str]) -> Round:
    """One round of a worker that was started for it."""
    process = Worker(command, env)
    try:
        found = process.round()
    except BaseException:
        process.end()
        raise
    return {**found, "peak": process.end()}


def _end(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> Round:
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return {"cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024}


def _with(env: Mapping[str, str]) -> dict[str, str]:
    """As installed: with compiled modules, which an installation has and a source tree may not."""
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **env}


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
