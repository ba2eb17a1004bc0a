"""The files that the benchmarks read, written once per run, and the folders they use."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from suite.process import Worker, worker
from suite.rows import Row, Say

TEN = """text
My cat chased the neighbour's dog across the street.
The graphics card needs a new driver for this screen.
Two hockey players fell on the ice last night.
The government passed another law about guns.
Doctors prescribe this medicine against the disease.
A space shuttle was launched into orbit.
My engine makes a strange noise in the cold.
Keys for encryption must be kept secret.
The church teaches about faith and hope.
For sale: one bicycle in good condition.
"""
WORDS = 30_000
"""Size of the vocabulary with which all programs draw and memory is measured."""

SIZES = (5_000, 10_000, 25_000, 50_000, 100_000)
"""Sizes of the vocabularies whose loss is measured."""


@dataclass(frozen=True)
class Place:
    """Folders and options of one run. `scratch` is deleted afterwards, `kept` is not."""

    scratch: Path
    kept: Path
    say: Say
    data_home: str = ""
    vectors: str = ""
    times: tuple[int, ...] = (1, 10)
    rounds: int = 5
    sizes: tuple[int, ...] = SIZES
    earlier: str = ""

    @property
    def few(self) -> int:
        """Number of rounds for rows that take long or vary little."""
        return min(3, self.rounds)

    @property
    def env(self) -> dict[str, str]:
        return {"SYNTF_CACHE": str(self.kept / "cache")}

    def news(self, times: int = 1) -> Path:
        """Write 20 newsgroups, repeated `times` times, and return the path of the file."""
        path = self.scratch / f"news-{times}.csv"
        if path.exists():
            return path
        self.say(f"writing 20 newsgroups, {times} ×")
        if times == 1:
            self._write("write_news", self.data_home, path)
            return path
        with path.open("wb") as out, self.news().open("rb") as single:
            out.write(header := single.readline())
            for _ in range(times):
                single.seek(len(header))
                shutil.copyfileobj(single, out, 1 << 20)
        return path

    def letters(self, which: str) -> Path:
        """Write 20 newsgroups with other letters, in as many bytes, and return the path."""
        path = self.scratch / f"news-{which}.csv"
        if not path.exists():
            self._write("write_letters", which, self.news(), path)
        return path

    def json_lines(self) -> Path:
        """Write 20 newsgroups as JSON lines, and return the path of the file."""
        path = self.scratch / "news.jsonl"
        if not path.exists():
            self._write("write_news", self.data_home, path)
        return path

    def labelled(self) -> Path:
        """Write 20 newsgroups with topics, authors and their division; return the path."""
        path = self.scratch / "news-labelled.csv"
        if not path.exists():
            self._write("write_news", self.data_home, path, "labelled")
        return path

    def parquet(self) -> Path:
        """Write 20 newsgroups with topics as Parquet; return the path."""
        path = self.scratch / "news.parquet"
        if not path.exists():
            self._write("write_news", self.data_home, path)
        return path

    def ten(self) -> Path:
        path = self.scratch / "ten.csv"
        path.write_text(TEN, encoding="utf-8")
        return path

    def words(self, name: str) -> Path:
        """Return the path of a file that :mod:`suite.work.write_words` writes."""
        if not (self.scratch / name).exists():
            self.say(f"writing {WORDS:,} words and their vectors")
            self._write("write_words", WORDS, self.scratch)
        return self.scratch / name

    def anonymize(
        self, key: str, title: str, path: Path, *options: str | Path, rounds: int = 0
    ) -> Row:
        """Return a row that times `syntf anonymize` as a whole process, with a filled cache.

        All rows write the same folder, so a row that verifies it follows right after.
        """
        out = self.scratch / "release"
        command = [sys.executable, "-m", "syntf", "anonymize", path, *options]
        command += ["--quiet", "--force", "--out", out]
        return Row(
            key, title, list(map(str, command)), "whole", rounds or self.rounds,
            warm=True, env=self.env,
        )  # fmt: skip

    def verify(self, key: str, title: str) -> Row:
        """Return a row that times `syntf verify` of the release of the row before it."""
        command = [
            sys.executable,
            "-m",
            "syntf",
            "verify",
            "--quiet",
            str(self.scratch / "release"),
        ]
        return Row(key, title, command, "whole", self.rounds, warm=True, env=self.env)

    def _write(self, name: str, *arguments: object) -> None:
        Worker(worker(name, *arguments), self.env).end()
