"""Measure candidates on the training documents, each once: the log remembers the scores.

The training documents are divided again, into documents to learn from and documents to compare
candidates on. The test documents are not used for any number here.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import shuffle

from syntf.core.errors import SyntfError
from syntf.core.progress import Stages, silent
from syntf.evaluation.analysts import ANALYSTS, score_predictions
from syntf.evaluation.attack.scenarios import find_scenarios
from syntf.evaluation.experiment.corpus import LabelledCorpus, validation_split
from syntf.evaluation.experiment.evaluator import TEXT_ATTACKERS, Evaluator, TaskScore
from syntf.evaluation.experiment.names import FLOORS, TOPIC_FLOOR
from syntf.evaluation.experiment.run_log import RunLog, experiment_key, fixed_settings
from syntf.evaluation.tuning.outcome import Case, Trial
from syntf.evaluation.tuning.search import Candidate, SearchSpace
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.prepare import load_words, rate_words
from syntf.pipeline.settings import Settings
from syntf.text.documents import Documents, first_documents, repeat

DOCUMENTS = (1_000, 2_000, 4_000, 12_000, 36_000)
"""Documents in each round: the first of a large corpus, or a small corpus several times."""

MAX_DIFFERENT_DOCUMENTS = 12_000
"""Different documents used in the search; more would not improve the comparison."""

MAX_REPETITIONS = 16
"""How often a small corpus is drawn for at most; its smallness is the larger error then."""

FINAL = "final"
"""Stands in the log in place of the number of a round."""

MeanScores = Mapping[tuple[str, str, str, str], float]
"""Mean F1 by task, scenario, model and attacker."""


@dataclass
class Trials:
    """Measures candidates on a corpus and logs each measurement.

    prepared : words and their ratings for each size of the vocabulary, which the trials of several
        columns share.
    """

    case: Case
    settings: Settings
    min_test: int = 5
    stages: Stages = silent
    prepared: dict[int, Any] = field(default_factory=dict, repr=False)
    log: RunLog = field(init=False, repr=False)
    _documents: list[tuple[Sequence[str], Documents]] = field(
        default_factory=list, init=False, repr=False
    )

    @cached_property
    def validation(self) -> LabelledCorpus:
        """The training documents, shuffled so that the first ones resemble the whole."""
        part = validation_split(self.case.corpus)
        order = shuffle(np.arange(len(part)), random_state=0)
        return part.select(order, part.train[order])

    @cached_property
    def evaluator(self) -> Evaluator:
        scenarios, _ = find_scenarios(self.validation, min_test=self.min_test)
        return Evaluator.for_corpus(self.validation, scenarios)

    @cached_property
    def scenario(self) -> str:
        """The scenario in which attacks are compared: that with the most authors of any kind."""
        names = (one.name for one in reversed(self.evaluator.scenarios) if "any" in one.name)
        return next(names, "")

    @property
    def key(self) -> str:
        """A hash of everything that trials in one log must share."""
        fixed = fixed_settings(self.settings, (*Candidate._fields, "epsilon"))
        return experiment_key(self.case.corpus.digest, self.min_test, fixed)

    @cached_property
    def space(self) -> SearchSpace:
        """The values that can be searched with this vocabulary."""
        full = SearchSpace()
        outputs = len(load_words(replace(self.settings, max_size=None))[2].outputs)
        sizes = [*(size for size in full.sizes if size < outputs), outputs]
        neighbours = [k for k in full.neighbours if k <= sizes[0]]
        return replace(full, sizes=sizes, neighbours=neighbours)

    @property
    def _column(self) -> dict[str, str]:
        """What tells the entries of this column in a log from those of others."""
        return {"columns": self.case.name} if self.case.name else {}

    def measure(self, candidate: Candidate, number: int) -> float:
        """Return the share of naive Bayes' F1 that a candidate keeps in a round."""
        size, repetitions = self._round_size(number)
        about = {**self._column, **candidate._asdict(), "round": number}
        if not self.log.finished(about):
            anonymizer, documents = self._prepare(candidate)
            counts = anonymizer.draw(repeat(first_documents(documents, size), repetitions))
            parts = (counts[i * size : (i + 1) * size] for i in range(repetitions))
            self.log.add({**about, "run": 0}, [self._bayes_score(part) for part in parts])
        (scores,) = self.log.scores_of(about)
        return fmean(score.f1 for score in scores) / self._original_f1(size)

    def confirm(self, candidate: Candidate, runs: int) -> Trial:
        """Measure a finalist on all documents with both models; attack `runs` of its runs.

        There are never fewer runs than in the last round, and none of them is shared with it.
        """
        about = {**self._column, **candidate._asdict(), "round": FINAL}
        total = range(max(runs, self._round_size(-1)[1]))
        for run in sorted({*total} - self.log.finished(about)):
            anonymizer, documents = self._prepare(candidate)
            counts = anonymizer.draw(documents)
            attackers = TEXT_ATTACKERS if run < runs else ()
            outputs = anonymizer.vocabulary.outputs
            scores = self.evaluator.score_counts(counts, outputs, attackers, run)
            self.log.add({**about, "run": run}, scores)
        means = _mean_scores(score for run in self.log.scores_of(about) for score in run)
        original = _mean_scores(self.original_scores)
        kept = {
            model: f1 / original["utility", "", model, ""]
            for (task, _, model, _), f1 in means.items()
            if task == "utility"
        }
        attack = _strongest_attack(means, self.scenario)
        return Trial(candidate._asdict(), candidate.document_loss, kept, kept["nb"], attack)

    @cached_property
    def original_scores(self) -> list[TaskScore]:
        """All scores on the original texts."""
        documents = {"documents": len(self.validation), "round": FINAL}
        about = {**self._column, "method": "original", **documents}
        if not self.log.finished(about):
            texts, attackers = self.validation.texts, (*TEXT_ATTACKERS, TOPIC_FLOOR)
            self.log.add({**about, "run": 0}, self.evaluator.score_texts(texts, attackers))
        (scores,) = self.log.scores_of(about)
        return scores

    @property
    def reference_attacks(self) -> dict[str, float]:
        """F1 of the strongest attacker on the texts, and of one who knows only their topics."""
        means = _mean_scores(self.original_scores)
        floors = (
            f1
            for (_, scenario, _, attacker), f1 in means.items()
            if (scenario, attacker) == (self.scenario, TOPIC_FLOOR)
        )
        levels = {
            "original": _strongest_attack(means, self.scenario),
            TOPIC_FLOOR: max(floors, default=None),
        }
        return {name: f1 for name, f1 in levels.items() if f1 is not None}

    def _round_size(self, number: int) -> tuple[int, int]:
        """Return the documents of a round, and how often they are drawn for."""
        size = min(DOCUMENTS[number], MAX_DIFFERENT_DOCUMENTS, len(self.validation))
        return size, min(MAX_REPETITIONS, max(1, DOCUMENTS[number] // size))

    def _original_f1(self, size: int) -> float:
        about = {**self._column, "method": "original", "documents": size, "round": 0}
        if not self.log.finished(about):
            texts, train = self.validation.texts[:size], self.validation.train[:size]
            training = [text for text, learn in zip(texts, train, strict=True) if learn]
            counts = CountVectorizer().fit(training).transform(texts)
            self.log.add({**about, "run": 0}, [self._bayes_score(counts)])
        ((score,),) = self.log.scores_of(about)
        if not score.f1:
            raise SyntfError(
                "the analyst predicts no label correctly even from the texts, so there is no "
                "utility to keep: check the column named with --label"
            )
        return score.f1

    def _bayes_score(self, counts: csr_matrix) -> TaskScore:
        """Score naive Bayes alone, which takes a fraction of the time of all models."""
        size = counts.shape[0]
        labels, train = self.validation.labels[:size], self.validation.train[:size]
        predicted = ANALYSTS["nb"](counts, labels, train)
        return TaskScore("utility", "", "nb", "", *score_predictions(labels[~train], predicted))

    def _prepare(self, candidate: Candidate) -> tuple[Anonymizer, Documents]:
        """Return what draws for a candidate; words are read and rated once for each size."""
        settings = self.settings.changed(**candidate._asdict())
        if candidate.max_size not in self.prepared:
            parts = load_words(settings, (), stages=self.stages)
            self.prepared[candidate.max_size] = parts, rate_words(settings, *parts[1:])
        parts, rating = self.prepared[candidate.max_size]
        anonymizer = Anonymizer.from_parts(settings, *parts, rating=rating, stages=self.stages)
        inputs = anonymizer.vocabulary.inputs
        for known, documents in self._documents:
            if known == inputs:
                return anonymizer, documents
        documents = anonymizer.read(self.validation.texts, stages=self.stages)
        self._documents.append((inputs, documents))
        return anonymizer, documents


def _mean_scores(scores: Iterable[TaskScore]) -> MeanScores:
    groups = defaultdict(list)
    for score in scores:
        groups[score.task, score.scenario, score.model, score.attacker].append(score.f1)
    return {key: fmean(group) for key, group in groups.items()}


def _strongest_attack(means: MeanScores, scenario: str) -> float | None:
    attacks = (
        f1
        for (task, where, _, attacker), f1 in means.items()
        if task == "attack" and where == scenario and attacker not in FLOORS
    )
    return max(attacks, default=None)
