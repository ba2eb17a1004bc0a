"""Score the analyst and the attackers on texts or on counts of words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import precision_recall_fscore_support
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from paper.attackers import ORDERS, reverse, word_attacker, writeprints_attacker
from paper.corpus import Corpus
from paper.scenarios import Scenario, attacked_documents, find_scenarios
from paper.tagging import Tagger

PAPER_ATTACKERS = ("writeprints",)
WORD_ORDER_ATTACKERS = tuple(f"writeprints-{order}" for order in ORDERS[1:])
"""The paper's attacker with words in other orders than the alphabetical one."""

Score = dict[str, Any]
"""The score of one model: the analyst's (task *utility*), or an attacker's in a scenario."""


@dataclass(frozen=True)
class Evaluator:
    """Knows the true labels and authors of a corpus, and scores what others predict.

    It is sent to worker processes, so it does not hold the texts. `tagger` is for WritePrints.
    """

    labels: NDArray[np.str_]
    authors: NDArray[np.str_]
    train: NDArray[np.bool_]
    scenarios: Sequence[Scenario]
    tagger: Tagger

    @classmethod
    def of(cls, corpus: Corpus, tagger: Tagger) -> "Evaluator":
        scenarios = find_scenarios(corpus)
        return cls(corpus.labels, corpus.authors, corpus.train, scenarios, tagger)

    @cached_property
    def attacked(self) -> NDArray[np.intp]:
        """The documents that are part of any scenario."""
        return attacked_documents(self.scenarios)

    def score_texts(self, texts: Sequence[str]) -> list[Score]:
        """Score texts as they are; the analyst counts words with scikit-learn's vectorizer."""
        vectorizer = CountVectorizer()
        vectorizer.fit(text for text, train in zip(texts, self.train, strict=True) if train)
        return [*self._analysts(vectorizer.transform(texts)), *self.attack_texts(texts)]

    def score_counts(
        self,
        counts: csr_matrix,
        terms: Sequence[str],
        attackers: Sequence[str] = PAPER_ATTACKERS,
        seed: int = 0,
    ) -> list[Score]:
        """Score term counts; `seed` is for attackers who put words in a random order."""
        return [*self._analysts(counts), *self.attack_counts(counts, terms, attackers, seed)]

    def attack_texts(
        self, texts: Sequence[str], attackers: Sequence[str] = PAPER_ATTACKERS
    ) -> Iterator[Score]:
        """Score the attackers on texts as they are."""
        attacked = [texts[i] for i in self.attacked.tolist()]
        return self._attacks(lambda _: attacked, attackers)

    def attack_counts(
        self, counts: csr_matrix, terms: Sequence[str], attackers: Sequence[str], seed: int = 0
    ) -> Iterator[Score]:
        """Score the attackers on term counts, from which they build texts."""
        attacked = counts[self.attacked]
        return self._attacks(lambda order: reverse(attacked, terms, order, seed), attackers)

    def _analysts(self, counts: csr_matrix) -> Iterator[Score]:
        """Score the paper's analyst, who weights counts by tf-idf, with each of two classifiers."""
        train, labels = self.train, self.labels
        for name, classifier in (("nb", MultinomialNB(alpha=0.01)), ("svm", LinearSVC(C=1))):
            model = make_pipeline(TfidfTransformer(), classifier)
            predicted = model.fit(counts[train], labels[train]).predict(counts[~train])
            scores = weighted_scores(labels[~train], predicted)
            yield {"task": "utility", "scenario": "", "model": name, "attacker": "", **scores}

    def _attacks(
        self, build_texts: Callable[[str], Sequence[str]], names: Sequence[str]
    ) -> Iterator[Score]:
        row = {document: i for i, document in enumerate(self.attacked.tolist())}
        for name in names:
            kind, _, order = name.partition("-")
            texts = build_texts(order or ORDERS[0])
            attack = word_attacker if kind == "words" else writeprints_attacker(self.tagger, texts)
            for one in self.scenarios:
                train = [texts[row[i]] for i in one.train.tolist()]
                test = [texts[row[i]] for i in one.test.tolist()]
                truth = self.authors[one.test]
                for model, predicted in attack(train, self.authors[one.train], test).items():
                    about = {"scenario": one.name, "model": model, "attacker": name}
                    yield {"task": "attack", **about, **weighted_scores(truth, predicted)}


def weighted_scores(truth: NDArray[Any], predicted: NDArray[Any]) -> dict[str, float]:
    """Return F1, precision and recall: averages over the classes, weighted by their sizes."""
    precision, recall, f1, _ = precision_recall_fscore_support(
        truth, predicted, average="weighted", zero_division=0
    )
    return {"f1": float(f1), "precision": float(precision), "recall": float(recall)}
