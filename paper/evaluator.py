"""Score the analyst and the attackers on texts or on counts of words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
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
    tagger: Tagger = field(repr=False)

    @classmethod
    def of(cls, corpus: Corpus, tagger: Tagger) -> "Evaluator":
        scenarios = find_scenarios(corpus)
        return cls(corpus.labels, corpus.authors, corpus.train, scenarios, tagger)

    @cached_property
    def attacked(self) -> NDArray[np.intp]:
        """The documents that are part of any scenario."""
        return attacked_documents(self.scenarios)

    def score_texts(
        self, texts: Sequence[str], attackers: Sequence[str] = PAPER_ATTACKERS
    ) -> list[Score]:
        """Score texts as they are; the analyst counts words with scikit-learn's vectorizer."""
        attacks = self._attacks(lambda _: [texts[i] for i in self.attacked.tolist()], attackers)
        if not self._has_labels:
            return list(attacks)
        vectorizer = CountVectorizer()
        vectorizer.fit(text for text, train in zip(texts, self.train, strict=True) if train)
        return [*self._analysts(vectorizer.transform(texts)), *attacks]

    def score_counts(
        self,
        counts: csr_matrix,
        terms: Sequence[str],
        attackers: Sequence[str] = PAPER_ATTACKERS,
        seed: int = 0,
    ) -> list[Score]:
        """Score term counts, from which attackers build texts; `seed` is for random orders."""
        attacked = counts[self.attacked]
        attacks = self._attacks(lambda order: reverse(attacked, terms, order, seed), attackers)
        return [*(self._analysts(counts) if self._has_labels else ()), *attacks]

    @property
    def _has_labels(self) -> bool:
        """Whether there is anything for an analyst to learn and to be tested on."""
        known = self.labels != ""
        return len(np.unique(self.labels[known & self.train])) > 1 and any(known & ~self.train)

    def _analysts(self, counts: csr_matrix) -> Iterator[Score]:
        """Score the paper's analyst, who weights counts by tf-idf, with each of two classifiers."""
        known = self.labels != ""
        train, test = known & self.train, known & ~self.train
        for name, classifier in (("nb", MultinomialNB(alpha=0.01)), ("svm", LinearSVC(C=1))):
            model = make_pipeline(TfidfTransformer(), classifier)
            predicted = model.fit(counts[train], self.labels[train]).predict(counts[test])
            scores = weighted_scores(self.labels[test], predicted)
            yield {"task": "utility", "scenario": "", "model": name, "attacker": "", **scores}

    def _attacks(
        self, build_texts: Callable[[str], Sequence[str]], names: Sequence[str]
    ) -> Iterator[Score]:
        row = {document: i for i, document in enumerate(self.attacked.tolist())}
        for name in names if self.scenarios else ():
            kind, _, order = name.partition("-")
            texts = build_texts(order or ORDERS[0])
            attack = word_attacker if kind == "words" else writeprints_attacker(self.tagger, texts)
            for one in self.scenarios:
                train, test = (
                    [texts[row[i]] for i in part.tolist()] for part in (one.train, one.test)
                )
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


def chance_f1(train: NDArray[Any], test: NDArray[Any]) -> float:
    """Return the F1 of guessing each class at random, as often as it occurs in training.

    It follows from the expected numbers: with a share p of the test documents and q of the
    training documents, a class has precision p and recall q.

    >>> chance_f1(np.array(["a", "b"]), np.array(["a", "a", "b", "b"]))
    0.5
    """
    total = 0.0
    for name in np.unique(test):
        p, q = float(np.mean(test == name)), float(np.mean(train == name))
        total += p * 2 * p * q / (p + q)
    return total
