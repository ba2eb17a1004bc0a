"""Figures of earlier runs, a line each, and what became worse from one to the next."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from suite.figures import Figure, Spread

NOISE = 0.05
"""A change of the median by less is none, however narrow the ranges are."""


@dataclass(frozen=True)
class Run:
    """A line of the history; `figures` are median, least and most, and which way is better."""

    date: str
    commit: str
    processor: str
    figures: Mapping[str, tuple[float, float, float, str]]

    @classmethod
    def of(cls, date: str, commit: str, processor: str, figures: Sequence[Figure]) -> "Run":
        found = {}
        for figure in figures:
            middle, least, most = map(_short, figure.spread)
            found[figure.key] = (middle, least, most, str(figure.better))
        return cls(date, commit, processor, found)


@dataclass(frozen=True)
class Change:
    """A figure in two runs; `worse` or `better` if the ranges do not meet."""

    key: str
    before: float
    after: float
    verdict: str

    @property
    def percent(self) -> float:
        return 100 * (self.after / self.before - 1)


def read(path: Path) -> list[Run]:
    """All runs, the oldest first."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        Run(**{**line, "figures": {key: tuple(v) for key, v in line["figures"].items()}})
        for line in map(json.loads, lines)
    ]


def append(path: Path, run: Run) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(run), ensure_ascii=False) + "\n")


def newest(runs: Sequence[Run]) -> tuple[Run, Run] | None:
    """The last run and the one before it on the same processor: others compare badly."""
    if not runs:
        return None
    *earlier, last = runs
    alike = [run for run in earlier if run.processor == last.processor]
    return (alike[-1], last) if alike else None


def changes(before: Run, after: Run) -> list[Change]:
    """Every figure that both runs have."""
    return [
        Change(key, before.figures[key][0], new[0], _verdict(before.figures[key], new))
        for key, new in after.figures.items()
        if key in before.figures
    ]


def _verdict(old: tuple[float, float, float, str], new: tuple[float, float, float, str]) -> str:
    """Beyond the spread: the whole range lies on one side of the other, by more than noise."""
    before, after = Spread(*old[:3]), Spread(*new[:3])
    if abs(after.middle - before.middle) <= NOISE * abs(before.middle):
        return ""
    if after.least > before.most:
        return "worse" if new[3] == "less" else "better"
    if after.most < before.least:
        return "better" if new[3] == "less" else "worse"
    return ""


def _short(value: float) -> float:
    """Four digits: the history is read by people too."""
    return float(f"{value:.4g}")
