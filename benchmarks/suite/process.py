"""Run processes and measure their time, their processor time and their peak memory.

Linux counts the memory of the parent into the peak memory of a process. So the measuring process
must stay small: workers load the data, and modules that import this one load nothing large.
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
"""Measurements of one round: seconds, cpu (seconds), peak (MB), and perhaps amount."""

LIMIT = 1800.0
"""Seconds after which a worker that does not answer is stopped."""

WORK = Path(__file__).parents[1] / "work.py"


class Unavailable(Exception):
    """Raised if something cannot be measured; the message says why."""


def worker(name: str, *arguments: object, python: str | Path = sys.executable) -> list[str]:
    """Return the command that starts a worker."""
    return [str(python), str(WORK), name, *map(str, arguments)]


def whole(command: Sequence[str], env: Mapping[str, str]) -> Round:
    """Run a process from start to end and measure it."""
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=_with(env)
        )
        used = _end(process)
        seconds = time.perf_counter() - start
        if process.returncode:
            raise Unavailable(f"ended with {process.returncode}: {_last_line(output)}")
    return {"seconds": seconds, **used}


class Worker:
    """A process that prepares a benchmark once and then runs rounds on request."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `end`)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._output,
            env=_with(env), text=True,
        )  # fmt: skip
        try:
            self._answer()
        except Unavailable:
            self.end()
            raise

    def round(self) -> Round:
        """Run one round and return its measurements."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # a process that has ended: `_answer` gives the reason
            print(file=self._process.stdin, flush=True)
        return self._answer()

    def end(self) -> float:
        """Stop the process and return its peak memory in MB."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()
        used = _end(self._process)
        self._output.close()
        return used["peak"]

    def _answer(self) -> Round:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], LIMIT)
        if not ready:
            self._process.kill()
            raise Unavailable(f"no answer within {LIMIT:g} s")
        line = self._process.stdout.readline()
        if not line:
            raise Unavailable(f"ended without an answer: {_last_line(self._output)}")
        answer: Round = json.loads(line)
        if "error" in answer:
            raise Unavailable(str(answer["error"]))
        return answer


def once(command: Sequence[str], env: Mapping[str, str]) -> Round:
    """Start a worker, run one round and stop it."""
    process = Worker(command, env)
    try:
        result = process.round()
    except BaseException:
        process.end()
        raise
    return {"peak": process.end(), **result}


def _end(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> Round:
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return {"cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024}


def _with(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment, with bytecode files allowed, as in an installation."""
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **env}


def _last_line(output: IO[bytes]) -> str:
    output.seek(0)
    lines = output.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing")
