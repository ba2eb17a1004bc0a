"""Anonymise and evaluate, again and again, on all cores: the paper's experiment on any corpus."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from typing import Any

from joblib import Parallel, cpu_count, delayed

from syntf import __version__
from syntf.core.parallel import processes
from syntf.core.progress import Advance, Stages, silent
from syntf.evaluation.attack.attackers import STATIC
from syntf.evaluation.experiment.judge import PAPER, Finding, Judge
from syntf.evaluation.experiment.labelled import Labelled
from syntf.evaluation.experiment.log import Log, fixed
from syntf.evaluation.experiment.paper import Cell
from syntf.evaluation.experiment.scrubbing import scrub
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.prepare import reading
from syntf.pipeline.settings import Settings
from syntf.text.documents import Documents, repeat, term_frequencies

MOST_DRAWS = 1 << 25
"""Words drawn in one pass over the table; more runs take another pass."""

SCRUBBING = {"scrubadub": False, "scrubadub-names": True}
"""Methods that scrub, and whether names are removed too."""


WORDS = ("morphology", "synsets")
"""The parameters that decide which words are read; the others are the mechanism's."""

Run = dict[str, Any]
"""What a line of the log begins with: method, parameters, number, tagger."""

Job = tuple[Run, Callable[..., list[Finding]], tuple[Any, ...]]


@dataclass
class Experiment:
    """What stays the same in all runs: the corpus, who judges it, settings beside the cell's.

    A vocabulary that is fitted is fitted on the training half, as in the paper.
    """

    corpus: Labelled
    judge: Judge
    settings: Settings
    runs: int = 10
    attackers: Sequence[str] = PAPER
    more_attackers: Mapping[Cell, Sequence[str]] = field(default_factory=dict)
    """Those tried on certain cells only."""
    stages: Stages = silent
    _advance: Advance = field(default=lambda steps: None, init=False)

    @property
    def tagger_name(self) -> str:
        return str(getattr(self.judge.tagger, "name", ""))

    @property
    def key(self) -> str:
        """A hash of all that runs must share to be put together."""
        same = fixed(self.settings, Cell._fields)
        parts: list[Any] = [__version__, self.corpus.digest, self.tagger_name, same]
        parts += [self.attackers, [[*cell, *names] for cell, names in self.more_attackers.items()]]
        parts += [[one.name, *one.authors] for one in self.judge.scenarios]
        return sha256(json.dumps(parts, default=str).encode()).hexdigest()

    def run(self, log: Log, cells: Iterable[Cell], scrubbing: Sequence[str] = ()) -> Iterator[None]:
        """Do what the log does not have yet, and tell it of each run; yields after each cell."""
        ordered = sorted(dict.fromkeys(cells), key=_words)
        groups = [list(same) for _, same in groupby(ordered, key=_words)]
        total = 1 + len(scrubbing) + len(groups) + self.runs * len(ordered)
        with (
            self.stages("evaluating", total) as self._advance,
            pool_of_processes() as pool,
        ):
            for method in ("original", *scrubbing):
                self._texts(log, pool, method)
                yield
            for group in groups:
                yield from self._group(log, pool, group)

    def _texts(self, log: Log, pool: Parallel, method: str) -> None:
        run = self._run(method)
        if log.done(run):
            self._advance(1)
            return
        texts, attackers = self.corpus.texts, self.attackers
        if method in SCRUBBING:
            texts = self._scrubbed(pool, names=SCRUBBING[method])
        else:  # learned on these very texts
            attackers = [name for name in attackers if not name.endswith(STATIC)]
        self._judge(log, pool, [(run, self.judge.texts, (texts, attackers))])

    def _scrubbed(self, pool: Parallel, *, names: bool) -> list[str]:
        texts, size = self.corpus.texts, 256
        starts = range(0, len(texts), size)
        parts: dict[int, list[str]] = {}
        with self.stages("scrubbing", len(texts)) as advance:
            jobs = (delayed(_numbered)(i, scrub, texts[i : i + size], names=names) for i in starts)
            for start, part in pool(jobs):
                parts[start] = part
                advance(len(part))
        return [text for start in starts for text in parts[start]]

    def _group(self, log: Log, pool: Parallel, group: Sequence[Cell]) -> Iterator[None]:
        """Cells that read the same words."""
        vectorised = self._run("vectorised", **dict(zip(WORDS, _words(group[0]), strict=True)))
        todo = {cell: self._todo(log, cell) for cell in group}
        known = len(log.done(vectorised))
        self._advance(known + sum(self.runs - len(missing) for missing in todo.values()))
        if known and not any(todo.values()):
            return
        settings = self.settings.changed(**group[0]._asdict())
        seen = self.corpus.seen
        parts = reading(settings, seen, stages=self.stages)
        documents = None
        for cell in group:
            if documents is not None and not todo[cell]:
                continue
            settings = self.settings.changed(**cell._asdict())
            anonymizer = Anonymizer.over(settings, *parts, seen, stages=self.stages)
            if documents is None:
                documents = anonymizer.read(self.corpus.texts, stages=self.stages)
                inputs = anonymizer.vocabulary.inputs
                counts = term_frequencies(documents, len(inputs))
                if not known:
                    given = (counts, inputs, self.attackers)
                    self._judge(log, pool, [(vectorised, self.judge.counts, given)])
            at_once = max(1, MOST_DRAWS // (len(documents) * settings.length))
            for start in range(0, len(todo[cell]), at_once):
                numbers = todo[cell][start : start + at_once]
                self._synthetic(log, pool, cell, numbers, anonymizer, documents)
            yield

    def _synthetic(
        self,
        log: Log,
        pool: Parallel,
        cell: Cell,
        numbers: Sequence[int],
        anonymizer: Anonymizer,
        documents: Documents,
    ) -> None:
        """These runs of a cell: drawn together, judged apart."""
        counts = anonymizer.draw(repeat(documents, len(numbers)), stages=self.stages)
        loss, size = anonymizer.mechanism.loss, len(documents)
        outputs = anonymizer.vocabulary.outputs
        names = (*self.attackers, *self.more_attackers.get(cell, ()))
        jobs = [
            (
                self._run("syntf", **cell._asdict(), loss_per_word=loss, run=number),
                self.judge.counts,
                (counts[i * size : (i + 1) * size], outputs, names, number),
            )
            for i, number in enumerate(numbers)
        ]
        self._judge(log, pool, jobs)

    def _todo(self, log: Log, cell: Cell) -> list[int]:
        done = log.done({"method": "syntf", **cell._asdict()})
        return [number for number in range(self.runs) if number not in done]

    def _run(self, method: str, **given: Any) -> Run:
        return {
            "method": method,
            **Cell()._asdict(),
            "loss_per_word": None,
            "run": 0,
            "tagger": self.tagger_name,
            **given,
        }

    def _judge(self, log: Log, pool: Parallel, jobs: Sequence[Job]) -> None:
        """Do these jobs on all cores; the log hears of each as it ends."""
        for number, found in pool(
            delayed(_numbered)(i, work, *given) for i, (_, work, given) in enumerate(jobs)
        ):
            log.add(jobs[number][0], found)
            self._advance(1)


def pool_of_processes() -> Parallel:
    """All cores. Nothing is handed over in files: private names and counts stay in memory."""
    return processes(cpu_count(), return_as="generator_unordered", max_nbytes=None)


def _numbered(number: int, work: Callable[..., Any], *given: Any, **named: Any) -> tuple[int, Any]:
    return number, work(*given, **named)


def _words(cell: Cell) -> tuple[Any, ...]:
    return tuple(getattr(cell, name) for name in WORDS)
