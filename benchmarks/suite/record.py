"""The record of a run: written to a JSON file and read from it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from suite.figures import Figure
from suite.history import Run
from suite.rows import Measured

OF_EACH_RUN = ("date", "commit", "load")
"""Fields that differ between combined runs."""


@dataclass(frozen=True)
class Section:
    """One part of the suite with its rows and figures."""

    name: str
    title: str
    note: str
    rows: Sequence[Measured]
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Record:
    """One run: where and when it took place, and its measurements."""

    about: dict[str, Any]
    sections: Sequence[Section]

    @property
    def figures(self) -> list[Figure]:
        return [figure for section in self.sections for figure in section.figures]

    @property
    def run(self) -> Run:
        """The line of this run in the history."""
        about = self.about
        return Run.of(about["date"], about["commit"], about["processor"], self.figures)

    def write(self, folder: Path) -> Path:
        """Write a file that is named by date and commit; return its path."""
        folder.mkdir(parents=True, exist_ok=True)
        when = self.about["date"].replace(" ", "T").replace(":", "")
        path = folder / f"{when}-{self.about['commit'].rstrip('+')}.json"
        path.write_text(json.dumps(asdict(self), ensure_ascii=False, indent=1), encoding="utf-8")
        return path

    @classmethod
    def read(cls, path: Path) -> "Record":
        raw = json.loads(path.read_text(encoding="utf-8"))
        sections = [
            Section(
                part["name"],
                part["title"],
                part["note"],
                [Measured(**row) for row in part["rows"]],
                [Figure(**figure) for figure in part["figures"]],
            )
            for part in raw["sections"]
        ]
        return cls(raw["about"], sections)


def merged(records: Sequence[Record]) -> Record:
    """Combine runs of different parts. If a part was measured twice, the later one counts."""
    sections = {section.name: section for record in records for section in record.sections}
    of = {section.name: record.about for record in records for section in record.sections}
    runs = {name: {key: of[name].get(key) for key in OF_EACH_RUN} for name in sections}
    return Record({**records[-1].about, "runs": runs}, list(sections.values()))
