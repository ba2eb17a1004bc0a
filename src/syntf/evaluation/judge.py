"""Analyst and attackers, told the truth about a corpus: they score any stage of its texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

from syntf.evaluation.attackers import Order, attacker_name, reverse
from syntf.evaluation.classifiers import Quality, analyst, measured, weka
from syntf.evaluation.corpus import Labelled
from syntf.evaluation.scenarios import Scenario
from syntf.evaluation.tagging import Tagger, tag_all
from syntf.evaluation.writeprints import WritePrintsLimited


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
    """Knows labels, halves and suspects, and no text."""

    labels: NDArray[np.str_]
    train: NDArray[np.bool_]
    authors: NDArray[np.str_]
    scenarios: Sequence[Scenario]
    tagger: Tagger | None = None
    """Needed where there are scenarios."""

    @classmethod
    def of(cls, corpus: Labelled, scenarios: Sequence[Scenario], tagger: Tagger | None) -> "Judge":
        return cls(corpus.labels, corpus.train, corpus.authors, scenarios, tagger)

    @cached_property
    def suspects(self) -> NDArray[np.intp]:
        """The documents that some scenario is about."""
        parts = [part for one in self.scenarios for part in (one.train, one.test)]
        return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.intp)

    def texts(self, texts: Sequence[str]) -> list[Finding]:
        """Scores on texts as they are; the analyst counts words as scikit-learn does."""
        if not self.scenarios and self.unlabelled:
            return []
        seen = [text for text, train in zip(texts, self.train, strict=True) if train]
        counts = CountVectorizer().fit(seen).transform(texts) if not self.unlabelled else None
        suspects = [texts[i] for i in self.suspects]
        return [*self._utility(counts), *self._attacks(suspects, attacker_name("alphabetical"))]

    def counts(
        self,
        counts: csr_matrix,
        terms: Sequence[str],
        orders: Sequence[Order] = ("alphabetical",),
        seed: int = 0,
    ) -> list[Finding]:
        """Scores on term counts; the attacker makes texts of them, in each of these orders."""
        found = list(self._utility(counts))
        for order in orders:
            texts = reverse(counts[self.suspects], terms, order, seed)
            found += self._attacks(texts, attacker_name(order))
        return found

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
        scores = measured(labels[~train], analyst(counts[known], labels, train))
        for model, score in scores.items():
            yield Finding("utility", "", model, "", score)

    def _attacks(self, texts: Sequence[str], attacker: str) -> Iterator[Finding]:
        """`texts` are those of the suspects."""
        if self.tagger is None:
            return
        tags = dict(zip(texts, tag_all(self.tagger, texts), strict=True))
        place: dict[Any, int] = {document: i for i, document in enumerate(self.suspects.tolist())}
        for scenario in self.scenarios:
            seen, new = (
                [texts[place[i]] for i in part.tolist()] for part in (scenario.train, scenario.test)
            )
            style = WritePrintsLimited(tagger=tags.__getitem__)
            features = style.fit_transform(seen)
            predicted = weka(features, self.authors[scenario.train], style.transform(new))
            scores = measured(self.authors[scenario.test], predicted)
            for model, score in scores.items():
                yield Finding("attack", scenario.name, model, attacker, score)
