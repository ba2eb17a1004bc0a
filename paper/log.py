"""A log with one line for each finished run, so that an interrupted evaluation can continue."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from syntf.core.errors import SyntfError


class RunLog:
    """A file of finished runs, whose first line names the experiment.

    An incomplete last line, left by a process that was killed, is removed.

    Parameters
    ----------
    path : the file; it is created if it is missing.
    experiment : identifies everything that the runs must share to be compared.
    """

    def __init__(self, path: Path, experiment: str) -> None:
        self._path = path
        self._runs: list[dict[str, Any]] = []
        complete = 0
        if path.exists():
            raw = path.read_bytes()
            complete = raw.rfind(b"\n") + 1
            try:
                first, *rest = map(json.loads, raw[:complete].splitlines() or [b"{}"])
            except ValueError:
                raise SyntfError(f"{path} is not a log of runs: choose another folder") from None
            if complete and first != {"experiment": experiment}:
                raise SyntfError(
                    f"{path.parent} holds runs of another corpus, tagger or version: choose "
                    "another folder with --out, or delete this one"
                )
            self._runs = rest
            os.truncate(path, complete)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not complete:
            self._append({"experiment": experiment})

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._runs)

    def add(self, run: Mapping[str, Any], scores: Iterable[Mapping[str, Any]]) -> None:
        """Append one run: what identifies it, and its scores."""
        line = {**run, "scores": list(scores)}
        self._append(line)
        self._runs.append(line)

    def finished(self, method: str, parameters: Mapping[str, Any]) -> set[int]:
        """Return the numbers of the finished runs of a method with these parameters."""
        wanted = {"method": method, **parameters}
        return {run["run"] for run in self._runs if wanted.items() <= run.items()}

    def _append(self, line: Mapping[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
