"""A log with one line per finished run, so that an interrupted experiment can continue."""

import json
import os
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from syntf import __version__
from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.evaluator import TaskScore
from syntf.evaluation.experiment.results import RunScore
from syntf.inputs.files import digest
from syntf.pipeline.settings import Settings

EXPERIMENT = "experiment"
SCORES = "scores"


def experiment_key(*parts: Any) -> str:
    """Return a hash of everything that runs must share to be compared, and of the version."""
    return sha256(json.dumps([__version__, *parts], default=str).encode()).hexdigest()


def fixed_settings(settings: Settings, varied: Container[str]) -> dict[str, str]:
    """Return the settings that an experiment does not vary; files are named by their content."""
    fixed = {name: value for name, value in vars(settings).items() if name not in varied}
    for name in ("vocabulary", "vectors", "codebook"):
        if isinstance(value := fixed.get(name), str | Path) and Path(value).exists():
            fixed[name] = digest(value)
    return {name: str(value) for name, value in fixed.items()}


@contextmanager
def resumable() -> Iterator[None]:
    """Add to the message of any error inside that the same command continues the work."""
    try:
        yield
    except BaseException as error:
        error.add_note("finished runs are kept: run the same command again to continue")
        raise


class RunLog:
    """A file of finished runs, whose first line names the experiment.

    A last line that is incomplete, because a process was killed, is removed.
    """

    def __init__(self, path: Path, experiment: str) -> None:
        self._path = path
        self._runs: list[dict[str, Any]] = []
        complete = 0
        if path.exists():
            raw = path.read_bytes()
            complete = raw.rfind(b"\n") + 1
            try:
                lines = [dict(json.loads(line)) for line in raw[:complete].splitlines()]
            except (ValueError, TypeError, RecursionError):
                raise self._damaged() from None
            if lines and lines[0].get(EXPERIMENT) != experiment:
                raise SyntfError(
                    f"{path.parent} holds runs of another corpus, other parameters or another "
                    "version: choose another folder, or add --force to start again"
                )
            self._runs = lines[1:]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            os.ftruncate(file.fileno(), complete)
        if not complete:
            self._append({EXPERIMENT: experiment})

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._runs)

    def add(self, run: Mapping[str, Any], scores: Iterable[TaskScore]) -> None:
        """Append one run: what identifies it, and its scores."""
        line = {**run, SCORES: [asdict(score) for score in scores]}
        self._append(line)
        self._runs.append(line)

    def finished(self, wanted: Mapping[str, Any]) -> set[int]:
        """Return the numbers of the finished runs that have these values."""
        with self._checked():
            return {run["run"] for run in self._runs if wanted.items() <= run.items()}

    def scores_of(self, wanted: Mapping[str, Any]) -> Iterator[list[TaskScore]]:
        """Yield the scores of each run that has these values."""
        for run in self._runs:
            if wanted.items() <= run.items():
                with self._checked():
                    scores = [TaskScore(**score) for score in run[SCORES]]
                yield scores

    def run_scores(self) -> Iterator[RunScore]:
        """Yield every score of every run."""
        for run in self._runs:
            with self._checked():
                about = {name: value for name, value in run.items() if name != SCORES}
                scores = [RunScore(**{**about, **score}) for score in run[SCORES]]
            yield from scores

    @contextmanager
    def _checked(self) -> Iterator[None]:
        """Refuse lines that another program wrote, whatever is wrong with them."""
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
