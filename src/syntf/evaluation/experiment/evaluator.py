"""Score analysts and attackers on original texts, on term counts, or on a release."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack
from sklearn.feature_extraction.text import CountVectorizer

from syntf.evaluation.analysts import (
    ANALYSTS,
    Analyst,
    chance_f1,
    predict_all_labels,
    score_predictions,
)
from syntf.evaluation.attack import attackers
from syntf.evaluation.attack.attackers import STATIC, Attacker
from syntf.evaluation.attack.reversal import ORDERS, Order, reverse
from syntf.evaluation.attack.scenarios import AttackScenario, find_scenarios
from syntf.evaluation.attack.tagging import Tagger, choose_tagger
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.experiment.names import ENTRIES, FLOORS, INFORMED, MODELS, TOPIC_FLOOR
from syntf.evaluation.informed import ReleasedEntries
from syntf.vectors.word_vectors import WordVectors

PAPER_ATTACKERS = ("writeprints",)
WORD_ORDER_ATTACKERS = tuple(f"writeprints-{order}" for order in ORDERS[1:])
"""The paper's attacker with words in other orders than the alphabetical one."""

TEXT_ATTACKERS = ("words", "characters", "embeddings")
ALL_ATTACKERS = (
    *PAPER_ATTACKERS,
    *TEXT_ATTACKERS,
    *(name + STATIC for name in TEXT_ATTACKERS),
    *FLOORS,
)
DOCUMENT_ATTACKERS = (*ALL_ATTACKERS, ENTRIES)
"""Attackers on releases of whole documents: one more sees the released entries themselves."""


@dataclass(frozen=True)
class TaskScore:
    """The score of one model in one task: the analyst's, or an attacker's in a scenario."""

    task: str
    scenario: str
    model: str
    attacker: str
    f1: float
    precision: float
    recall: float


@dataclass(frozen=True)
class Evaluator:
    """Knows the true labels and authors of a corpus, and scores what others predict.

    Of the texts it holds only those by the authors in the scenarios, since it is sent to worker
    processes. `tagger` is for WritePrints; `analysts` are those that are scored.
    """

    labels: NDArray[np.str_]
    train: NDArray[np.bool_]
    authors: NDArray[np.str_]
    scenarios: Sequence[AttackScenario]
    original_texts: Sequence[str]
    tagger: Tagger | None = None
    analysts: Mapping[str, Analyst] = field(
        default_factory=lambda: {name: ANALYSTS[name] for name in MODELS}
    )

    @classmethod
    def for_corpus(
        cls,
        corpus: LabelledCorpus,
        scenarios: Sequence[AttackScenario] = (),
        tagger: Tagger | None = None,
    ) -> "Evaluator":
        texts = [corpus.texts[i] for i in _attacked_documents(scenarios).tolist()]
        return cls(corpus.labels, corpus.train, corpus.authors, scenarios, texts, tagger)

    @classmethod
    def prepare(
        cls, corpus: LabelledCorpus, tagger: str | None = None, *, min_test: int = 5
    ) -> tuple["Evaluator", list[str]]:
        """Find the scenarios of a corpus and choose a tagger by its name, if there are any.

        Also returns notices about scenarios that have fewer authors or cannot be formed.
        """
        scenarios, notices = find_scenarios(corpus, min_test=min_test)
        chosen = choose_tagger(tagger) if scenarios else None
        return cls.for_corpus(corpus, scenarios, chosen), notices

    @cached_property
    def attacked(self) -> NDArray[np.intp]:
        """The documents that are part of any scenario."""
        return _attacked_documents(self.scenarios)

    @cached_property
    def why_no_labels(self) -> str:
        """Why the analyst cannot be scored; empty if it can."""
        for train, part in ((True, "training"), (False, "test")):
            known = set(self.labels[self.train == train].tolist()) - {""}
            if len(known) < 1 + train:
                return (
                    "the analyst's task needs two labels in the training texts and one in the "
                    f"test texts: there are {len(known)} in the {part} texts"
                )
        return ""

    def score_texts(
        self, texts: Sequence[str], attackers: Sequence[str] = PAPER_ATTACKERS
    ) -> list[TaskScore]:
        """Score texts as they are; the analyst counts words with scikit-learn's vectorizer."""
        counts = None
        if not self.why_no_labels:
            counts = _count_words(texts, self.train)
        attacked = [texts[i] for i in self.attacked]
        names = [name for name in attackers if name not in WORD_ORDER_ATTACKERS]
        attacks = self._score_attacks(lambda _: attacked, counts, names)
        return [*self._score_analysts(counts), *attacks]

    def score_counts(
        self,
        counts: csr_matrix,
        terms: Sequence[str],
        attackers: Sequence[str] = PAPER_ATTACKERS,
        seed: int = 0,
        released: ReleasedEntries | None = None,
    ) -> list[TaskScore]:
        """Score term counts, from which attackers build texts; `seed` is for random orders.

        With the entries that whole documents released, an analyst and an attacker who know the
        mechanism are scored too.
        """

        def texts(order: Order) -> list[str]:
            return reverse(counts[self.attacked], terms, order, seed)

        return [
            *self._score_analysts(counts, released),
            *self._score_attacks(texts, counts, attackers, released),
        ]

    def score_chance(self) -> Iterator[tuple[str, str, float]]:
        """Yield each task, its scenario, and the F1 of random guesses in it."""
        if not self.why_no_labels:
            known = self.labels != ""
            train, test = (self.labels[known & part] for part in (self.train, ~self.train))
            yield "utility", "", chance_f1(train, test)
        for scenario in self.scenarios:
            train, test = (self.authors[part] for part in (scenario.train, scenario.test))
            yield "attack", scenario.name, chance_f1(train, test)

    def _score_analysts(
        self, counts: csr_matrix | None, released: ReleasedEntries | None = None
    ) -> Iterator[TaskScore]:
        if counts is None or self.why_no_labels:
            return
        known = self.labels != ""
        labels, train = self.labels[known], self.train[known]
        predictions = {
            name: analyst(counts[known], labels, train) for name, analyst in self.analysts.items()
        }
        if released is not None:
            predictions[INFORMED] = released.at(known).predict(labels, train)
        for name, predicted in predictions.items():
            yield TaskScore("utility", "", name, "", *score_predictions(labels[~train], predicted))

    def _score_attacks(
        self,
        build_texts: Callable[[Order], Sequence[str]],
        counts: csr_matrix | None,
        names: Sequence[str],
        released: ReleasedEntries | None = None,
    ) -> Iterator[TaskScore]:
        if ENTRIES in names and released is not None:
            yield from self._score_entries(released)
        names = [name for name in names if name != ENTRIES]
        row = {document: i for i, document in enumerate(self.attacked.tolist())}
        for name in names if self.scenarios else ():
            if name in FLOORS:
                if self.why_no_labels:
                    continue
                test_texts = train_texts = self._topics(name, counts)
                attacker: Attacker = attackers.label_attacker
            else:
                kind, _, order = name.removesuffix(STATIC).partition("-")
                test_texts = build_texts(order or ORDERS[0])  # type: ignore[arg-type]
                train_texts = self.original_texts if name.endswith(STATIC) else test_texts
                attacker = self._attacker(kind, [*test_texts, *train_texts])
            for scenario in self.scenarios:
                train = [train_texts[row[i]] for i in scenario.train.tolist()]
                test = [test_texts[row[i]] for i in scenario.test.tolist()]
                truth = self.authors[scenario.test]
                for model, predicted in attacker(train, self.authors[scenario.train], test).items():
                    scores = score_predictions(truth, predicted)
                    yield TaskScore("attack", scenario.name, model, name, *scores)

    def _score_entries(self, released: ReleasedEntries) -> Iterator[TaskScore]:
        """Score the attacker who learns authors from the released entries of the scenario."""
        for scenario in self.scenarios:
            documents = np.concatenate([scenario.train, scenario.test])
            learn = np.arange(len(documents)) < len(scenario.train)
            predicted = released.at(documents).predict(self.authors[documents], learn)
            scores = score_predictions(self.authors[scenario.test], predicted)
            yield TaskScore("attack", scenario.name, INFORMED, ENTRIES, *scores)

    def _attacker(self, kind: str, texts: Sequence[str]) -> Attacker:
        if kind == "writeprints":
            assert self.tagger is not None, "WritePrints needs a tagger"  # nosec B101
            return attackers.writeprints_attacker(self.tagger, list(dict.fromkeys(texts)))
        if kind == "embeddings":
            return attackers.embedding_attacker(WordVectors.embedded(), texts)
        return {"words": attackers.word_attacker, "characters": attackers.character_attacker}[kind]

    def _topics(self, name: str, counts: csr_matrix | None) -> Sequence[str]:
        """Return the true or the predicted topics of the attacked documents."""
        labels: NDArray[Any] = self.labels
        if name != TOPIC_FLOOR:
            labels = predict_all_labels(counts, self.labels, self.train)
        return [str(label) for label in labels[self.attacked]]


def _count_words(texts: Sequence[str], train: NDArray[np.bool_]) -> csr_matrix:
    """Count the words of the training texts in all texts; each text is read once."""
    vectorizer, rows = CountVectorizer(), [np.flatnonzero(train), np.flatnonzero(~train)]
    seen, new = ([texts[i] for i in part.tolist()] for part in rows)
    counts = [vectorizer.fit_transform(seen), vectorizer.transform(new)]
    return vstack(counts, format="csr")[np.argsort(np.concatenate(rows))].sorted_indices()


def _attacked_documents(scenarios: Sequence[AttackScenario]) -> NDArray[np.intp]:
    parts = [part for scenario in scenarios for part in (scenario.train, scenario.test)]
    return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.intp)
