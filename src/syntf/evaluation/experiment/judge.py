"""Analyst and attackers, told the truth about a corpus: they score any stage of its texts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

from syntf.evaluation.attack import attackers
from syntf.evaluation.attack.attackers import STATIC, Attack
from syntf.evaluation.attack.classifiers import Quality, analyst, guesses, measured
from syntf.evaluation.attack.reversal import ORDERS, Order, reverse
from syntf.evaluation.attack.scenarios import Scenario
from syntf.evaluation.attack.tagging import Tagger
from syntf.evaluation.experiment.labelled import Labelled
from syntf.evaluation.experiment.paper import FLOORS
from syntf.vectors.word_vectors import WordVectors

PAPER = ("writeprints",)
"""The paper's attacker; others may follow, in any order of their names."""

IN_ORDERS = tuple(f"writeprints-{order}" for order in ORDERS[1:])
"""The same with words in an order other than the alphabetical."""

STRONGER = ("words", "characters", "embeddings")
EVERY = (*PAPER, *STRONGER, *(name + STATIC for name in STRONGER), *FLOORS)


@dataclass(frozen=True)
class Finding:
    """One score: of a task, of an attacker in a scenario, by a model."""

    task: str
    scenario: str
    model: str
    attacker: str
    quality: Quality


@dataclass(frozen=True)
class Judge:
    """Knows labels, halves and suspects, and of texts only those of the suspects."""

    labels: NDArray[np.str_]
    train: NDArray[np.bool_]
    authors: NDArray[np.str_]
    scenarios: Sequence[Scenario]
    originals: Sequence[str]
    tagger: Tagger | None = None
    """For WritePrints."""
    models: Sequence[str] = ("nb", "svm")
    """The analyst's."""

    @classmethod
    def of(cls, corpus: Labelled, scenarios: Sequence[Scenario], tagger: Tagger | None) -> "Judge":
        originals = [corpus.texts[i] for i in _suspects(scenarios).tolist()]
        return cls(corpus.labels, corpus.train, corpus.authors, scenarios, originals, tagger)

    @cached_property
    def suspects(self) -> NDArray[np.intp]:
        """The documents that some scenario is about."""
        return _suspects(self.scenarios)

    def texts(self, texts: Sequence[str], names: Sequence[str] = PAPER) -> list[Finding]:
        """Scores on texts as they are; the analyst counts words as scikit-learn does."""
        counts = None
        if not self.unlabelled:
            seen = [text for text, train in zip(texts, self.train, strict=True) if train]
            counts = CountVectorizer().fit(seen).transform(texts)
        mine = [texts[i] for i in self.suspects]
        plain = [name for name in names if name not in IN_ORDERS]
        return [*self._utility(counts), *self._attacks(lambda order: mine, counts, plain)]

    def counts(
        self,
        counts: csr_matrix,
        terms: Sequence[str],
        names: Sequence[str] = PAPER,
        seed: int = 0,
    ) -> list[Finding]:
        """Scores on term counts, which the attackers make texts of."""

        def texts(order: Order) -> list[str]:
            return reverse(counts[self.suspects], terms, order, seed)

        return [*self._utility(counts), *self._attacks(texts, counts, names)]

    @cached_property
    def unlabelled(self) -> str:
        """Why topics cannot be measured; empty if they can."""
        for train, half in ((True, "training"), (False, "test")):
            found = set(self.labels[self.train == train].tolist()) - {""}
            if len(found) < 1 + train:
                return f"the analyst's task needs labels: there are {len(found)} in the {half} half"
        return ""

    def _utility(self, counts: csr_matrix | None) -> Iterator[Finding]:
        if counts is None or self.unlabelled:
            return
        known = self.labels != ""
        labels, train = self.labels[known], self.train[known]
        scores = measured(labels[~train], analyst(counts[known], labels, train, self.models))
        for model, score in scores.items():
            yield Finding("utility", "", model, "", score)

    def _attacks(
        self,
        texts: Callable[[Order], Sequence[str]],
        counts: csr_matrix | None,
        names: Sequence[str],
    ) -> Iterator[Finding]:
        place = {document: i for i, document in enumerate(self.suspects.tolist())}
        for name in names if self.scenarios else ():
            if name in FLOORS:
                shown = self._topics(name, counts)
                if shown is None:
                    continue
                attack: Attack = attackers.topics
                learned = shown
            else:
                kind = name.removesuffix(STATIC)
                plain, _, order = kind.partition("-")
                shown = texts(order or ORDERS[0])  # type: ignore[arg-type]
                learned = self.originals if name.endswith(STATIC) else shown
                attack = self._attack(plain, [*shown, *learned])
            for scenario in self.scenarios:
                seen = [learned[place[i]] for i in scenario.train.tolist()]
                new = [shown[place[i]] for i in scenario.test.tolist()]
                guessed = attack(seen, self.authors[scenario.train], new)
                for model, score in measured(self.authors[scenario.test], guessed).items():
                    yield Finding("attack", scenario.name, model, name, score)

    def _attack(self, kind: str, texts: Sequence[str]) -> Attack:
        if kind == "writeprints":
            assert self.tagger is not None, "WritePrints needs a tagger"  # nosec B101
            return attackers.writeprints(self.tagger, list(dict.fromkeys(texts)))
        if kind == "embeddings":
            return attackers.embeddings(WordVectors.embedded(), texts)
        found: Attack = {"words": attackers.words, "characters": attackers.characters}[kind]
        return found

    def _topics(self, name: str, counts: csr_matrix | None) -> Sequence[str] | None:
        """What is known of the suspects' topics: the truth, or what the analyst tells."""
        if self.unlabelled:
            return None
        labels: NDArray[Any] = self.labels
        if name != FLOORS[0]:
            labels = guesses(counts, self.labels, self.train)
        return [str(label) for label in labels[self.suspects]]


def _suspects(scenarios: Sequence[Scenario]) -> NDArray[np.intp]:
    parts = [part for one in scenarios for part in (one.train, one.test)]
    return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.intp)
