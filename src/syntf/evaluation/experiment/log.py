"""Runs as they end, a line each, so that an interrupted experiment goes on where it was."""

import json
import os
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from syntf.core.errors import SyntfError
from syntf.evaluation.attack.classifiers import Quality
from syntf.evaluation.experiment.judge import Finding
from syntf.evaluation.experiment.results import Score
from syntf.inputs.files import digest
from syntf.pipeline.settings import Settings

FIRST = "experiment"


def fixed(settings: Settings, varied: Container[str]) -> dict[str, str]:
    """What an experiment keeps: the settings but those varied, files by their content."""
    found = {name: value for name, value in vars(settings).items() if name not in varied}
    for name in ("vocabulary", "vectors"):
        if isinstance(value := found.get(name), str | Path) and Path(value).exists():
            found[name] = digest(value)
    return {name: str(value) for name, value in found.items()}


class Log:
    """A file of runs. The first line names the experiment; a line cut short is done again."""

    def __init__(self, path: Path, experiment: str) -> None:
        self._path = path
        self._runs: list[dict[str, Any]] = []
        whole = 0
        if path.exists():
            raw = path.read_bytes()
            whole = raw.rfind(b"\n") + 1
            try:
                lines = [dict(json.loads(line)) for line in raw[:whole].splitlines()]
            except (ValueError, TypeError, RecursionError):
                raise self._damaged() from None
            if lines and lines[0].get(FIRST) != experiment:
                raise SyntfError(
                    f"{path.parent} holds runs of another corpus or other parameters: choose "
                    "another folder, or add --force to start anew"
                )
            self._runs = lines[1:]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            os.ftruncate(file.fileno(), whole)
        if not whole:
            self._append({FIRST: experiment})

    def done(self, cell: Mapping[str, Any]) -> set[int]:
        """The numbers of the runs of this cell that have ended."""
        with self._readable():
            return {run["run"] for run in self._runs if cell.items() <= run.items()}

    def found(self, cell: Mapping[str, Any]) -> Iterator[list[Finding]]:
        """What the runs of this cell have found, one list a run."""
        for run in self._runs:
            if cell.items() <= run.items():
                with self._readable():
                    findings = [_finding(one) for one in run["findings"]]
                yield findings

    def runs(self) -> Iterator[Mapping[str, Any]]:
        """All that was written down, run by run."""
        yield from self._runs

    def add(self, run: Mapping[str, Any], findings: Iterable[Finding]) -> None:
        """Write down one run: its cell and number, and all that was found."""
        line = {**run, "findings": [asdict(finding) for finding in findings]}
        self._append(line)
        self._runs.append(line)

    def scores(self) -> Iterator[Score]:
        for run in self._runs:
            with self._readable():
                rest = {name: value for name, value in run.items() if name != "findings"}
                each = [{**rest, **one, **one["quality"]} for one in run["findings"]]
                scores = [Score(**{k: v for k, v in one.items() if k != "quality"}) for one in each]
            yield from scores

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Lines that another program wrote are refused, whatever is wrong with them."""
        try:
            yield
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._damaged() from None

    def _damaged(self) -> SyntfError:
        return SyntfError(f"{self._path} is not a log of runs: choose another folder")

    def _append(self, line: Mapping[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())


def _finding(stored: Mapping[str, Any]) -> Finding:
    return Finding(**{**stored, "quality": Quality(**stored["quality"])})
