"""Read and write the history of runs, and find what became worse since the run before."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from suite.figures import Figure, Spread

NOISE = 0.05
"""A smaller relative change of the median is ignored, however narrow the ranges are."""


@dataclass(frozen=True)
class Run:
    """A line of the history. A figure has median, minimum, maximum and which way is better."""

    date: str
    commit: str
    processor: str
    figures: Mapping[str, tuple[float, float, float, str]]

    @classmethod
    def of(cls, date: str, commit: str, processor: str, figures: Sequence[Figure]) -> "Run":
        values = {}
        for figure in figures:
            middle, least, most = map(_short, figure.spread)
            values[figure.key] = (middle, least, most, str(figure.better))
        return cls(date, commit, processor, values)


@dataclass(frozen=True)
class Change:
    """A figure in two runs. The verdict is `worse` or `better` if their ranges do not overlap."""

    key: str
    before: float
    after: float
    verdict: str

    @property
    def percent(self) -> float:
        return 100 * (self.after / self.before - 1)


def read(path: Path) -> list[Run]:
    """Return all runs, oldest first."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        Run(**{**line, "figures": {key: tuple(v) for key, v in line["figures"].items()}})
        for line in map(json.loads, lines)
    ]


def append(path: Path, run: Run) -> None:
    """Add a run to the history."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(run), ensure_ascii=False) + "\n")


def newest(runs: Sequence[Run]) -> tuple[Run, Run] | None:
    """Return the last run and the run before it on the same processor; None if there is none."""
    if not runs:
        return None
    *earlier, last = runs
    same_processor = [run for run in earlier if run.processor == last.processor]
    return (same_processor[-1], last) if same_processor else None


def changes(before: Run, after: Run) -> list[Change]:
    """Return the change of every figure that both runs have."""
    return [
        Change(key, before.figures[key][0], new[0], _verdict(before.figures[key], new))
        for key, new in after.figures.items()
        if key in before.figures
    ]


def _verdict(old: tuple[float, float, float, str], new: tuple[float, float, float, str]) -> str:
    """Return `worse` or `better` if the ranges do not overlap and the change exceeds the noise."""
    before, after = Spread(*old[:3]), Spread(*new[:3])
    if abs(after.middle - before.middle) <= NOISE * abs(before.middle):
        return ""
    if after.least > before.most:
        return "worse" if new[3] == "less" else "better"
    if after.most < before.least:
        return "better" if new[3] == "less" else "worse"
    return ""


def _short(value: float) -> float:
    """Round to four digits, so that people can read the history."""
    return float(f"{value:.4g}")
