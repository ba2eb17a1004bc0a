"""Candidates tried on the training half alone, each once and for all: the log remembers.

The half is divided again, into documents to learn from and documents to compare candidates on.
The test half is no part of any number here.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from statistics import fmean
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import shuffle

from syntf import __version__
from syntf.core.errors import SyntfError
from syntf.core.progress import Advance, Stages, silent
from syntf.evaluation.attack.classifiers import analyst, measured
from syntf.evaluation.attack.scenarios import scenarios
from syntf.evaluation.experiment.judge import STRONGER, Finding, Judge
from syntf.evaluation.experiment.labelled import Labelled, validation
from syntf.evaluation.experiment.log import Log, fixed
from syntf.evaluation.experiment.paper import FLOORS
from syntf.evaluation.tuning.search import RUNGS, Candidate, Space
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.prepare import rated, reading
from syntf.pipeline.settings import Settings
from syntf.text.documents import Documents, first_documents, repeat

DOCUMENTS = (1_000, 2_000, 4_000, 12_000, 36_000)
"""Documents a rung: the first of a large corpus, or a small corpus several times."""
MOST_DOCUMENTS = 12_000
"""Different ones, in the search: enough to compare by."""
MOST_RUNS = 16
"""Of a small corpus: its own smallness is the larger error then."""

Read = tuple[Sequence[str], Documents]
"""Inputs, and what texts are over them."""

FINAL = "final"
"""In the log, in place of a rung."""


@dataclass(frozen=True)
class Trial:
    """What became of a finalist: means over its runs.

    `utility` is the share of the original F1 that the analyst keeps, by model, and `attack` the
    F1 of the strongest attacker who sees texts; None without authors.
    """

    candidate: Candidate
    utility: dict[str, float]
    attack: float | None


@dataclass
class Trials:
    """Measures candidates on a corpus, and writes each measurement down."""

    corpus: Labelled
    settings: Settings
    min_test: int = 5
    stages: Stages = silent
    advance: Advance = lambda steps: None
    _built: dict[int, Any] = field(default_factory=dict, init=False, repr=False)
    _read: list[Read] = field(default_factory=list, init=False, repr=False)
    log: Log = field(init=False, repr=False)
    tried: dict[Candidate, float] = field(default_factory=dict, init=False, repr=False)
    """Scores on the last rung but one."""

    @cached_property
    def part(self) -> Labelled:
        """The training half, in an order whose beginning is like the whole."""
        half = validation(self.corpus)
        order = shuffle(np.arange(len(half)), random_state=0)
        texts = [half.texts[i] for i in order.tolist()]
        return Labelled(texts, half.labels[order], half.authors[order], half.train[order])

    @cached_property
    def judge(self) -> Judge:
        """Knows the suspects, if the part has any."""
        return Judge.of(self.part, scenarios(self.part, min_test=self.min_test)[0], None)

    @cached_property
    def scenario(self) -> str:
        """The one that attacks are compared in: the most suspects, whatever they write about."""
        return next((one.name for one in reversed(self.judge.scenarios) if "any" in one.name), "")

    @property
    def key(self) -> str:
        """A hash of all that trials must share to be compared."""
        same = fixed(self.settings, (*Candidate._fields, "epsilon"))
        parts = [__version__, self.corpus.digest, self.min_test, same]
        return sha256(json.dumps(parts, default=str).encode()).hexdigest()

    @cached_property
    def space(self) -> Space:
        """What can be searched with this vocabulary."""
        every = Space()
        outputs = len(reading(replace(self.settings, max_size=None))[2].outputs)
        sizes = [*(size for size in every.sizes if size < outputs), outputs]
        neighbours = [k for k in every.neighbours if k <= sizes[0]]
        return replace(every, sizes=sizes, neighbours=neighbours)

    def utility(self, candidate: Candidate, rung: int) -> float:
        """The share of naive Bayes' F1 that a candidate keeps, on the documents of a rung."""
        size, runs = self._amount(rung)
        cell = {**candidate._asdict(), "rung": rung}
        if not self.log.done(cell):
            anonymizer, documents = self._prepared(candidate)
            counts = anonymizer.draw(repeat(first_documents(documents, size), runs))
            parts = (counts[i * size : (i + 1) * size] for i in range(runs))
            self.log.add({**cell, "run": 0}, [one for part in parts for one in self._bayes(part)])
        self.advance(1)
        (found,) = self.log.found(cell)
        kept = fmean(one.quality.f1 for one in found) / self._original(size)
        if rung == RUNGS - 2:
            self.tried[candidate] = kept
        return kept

    def confirm(self, candidate: Candidate, runs: int) -> Trial:
        """A finalist on all documents, by both models; in `runs` of its runs it is attacked too.

        Never fewer runs than the last rung has, and none of those.
        """
        cell = {**candidate._asdict(), "rung": FINAL}
        every = range(max(runs, self._amount(-1)[1]))
        for run in sorted({*every} - self.log.done(cell)):
            anonymizer, documents = self._prepared(candidate)
            counts = anonymizer.draw(documents)
            names = STRONGER if run < runs else ()
            found = self.judge.counts(counts, anonymizer.vocabulary.outputs, names, run)
            self.log.add({**cell, "run": run}, found)
        self.advance(1)
        scores = _means(one for run in self.log.found(cell) for one in run)
        original = _means(self.original)
        utility = {
            model: score / original["utility", "", model, ""]
            for (task, _, model, _), score in scores.items()
            if task == "utility"
        }
        return Trial(candidate, utility, _strongest(scores, self.scenario))

    @cached_property
    def original(self) -> list[Finding]:
        """All scores on the texts as they are."""
        cell = {"method": "original", "documents": len(self.part), "rung": FINAL}
        if not self.log.done(cell):
            found = self.judge.texts(self.part.texts, (*STRONGER, FLOORS[0]))
            self.log.add({**cell, "run": 0}, found)
        (found,) = self.log.found(cell)
        return found

    @property
    def levels(self) -> dict[str, float]:
        """F1 of the strongest attacker on the texts, and of who knows their topics alone."""
        scores = _means(self.original)
        found = {"original": _strongest(scores, self.scenario), FLOORS[0]: max(
            (score for (_, scenario, _, name), score in scores.items()
             if (scenario, name) == (self.scenario, FLOORS[0])), default=None,
        )}  # fmt: skip
        return {name: score for name, score in found.items() if score is not None}

    def _amount(self, rung: int) -> tuple[int, int]:
        """The documents of a rung, and how often they are drawn for."""
        size = min(DOCUMENTS[rung], MOST_DOCUMENTS, len(self.part))
        return size, min(MOST_RUNS, max(1, DOCUMENTS[rung] // size))

    def _original(self, size: int) -> float:
        cell = {"method": "original", "documents": size, "rung": 0}
        if not self.log.done(cell):
            texts, train = self.part.texts[:size], self.part.train[:size]
            seen = [text for text, learn in zip(texts, train, strict=True) if learn]
            counts = CountVectorizer().fit(seen).transform(texts)
            self.log.add({**cell, "run": 0}, self._bayes(counts))
        ((found,),) = self.log.found(cell)
        if not found.quality.f1:
            raise SyntfError("the analyst tells no label even from the texts: nothing to keep")
        return found.quality.f1

    def _bayes(self, counts: csr_matrix) -> list[Finding]:
        """Naive Bayes alone, which takes a fraction of the time."""
        size = counts.shape[0]
        labels, train = self.part.labels[:size], self.part.train[:size]
        scores = measured(labels[~train], analyst(counts, labels, train, ["nb"]))
        return [Finding("utility", "", model, "", score) for model, score in scores.items()]

    def _prepared(self, candidate: Candidate) -> tuple[Anonymizer, Documents]:
        """Ready to draw; what reads and rates words is made once for each size."""
        settings = self.settings.changed(**candidate._asdict())
        if candidate.max_size not in self._built:
            parts = reading(settings, (), stages=self.stages)
            self._built[candidate.max_size] = parts, rated(settings, *parts[1:])
        parts, rating = self._built[candidate.max_size]
        anonymizer = Anonymizer.over(settings, *parts, rating=rating, stages=self.stages)
        inputs = anonymizer.vocabulary.inputs
        for known, documents in self._read:
            if known == inputs:
                return anonymizer, documents
        self._read.append((inputs, anonymizer.read(self.part.texts, stages=self.stages)))
        return anonymizer, self._read[-1][1]


def _means(findings: Iterable[Finding]) -> dict[tuple[str, str, str, str], float]:
    scores = defaultdict(list)
    for one in findings:
        scores[one.task, one.scenario, one.model, one.attacker].append(one.quality.f1)
    return {key: fmean(each) for key, each in scores.items()}


def _strongest(scores: dict[tuple[str, str, str, str], float], scenario: str) -> float | None:
    return max(
        (score for (task, where, _, attacker), score in scores.items()
         if task == "attack" and where == scenario and attacker not in FLOORS),
        default=None,
    )  # fmt: skip
