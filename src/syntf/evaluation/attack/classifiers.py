"""The paper's classifiers: the analyst's are scikit-learn's, the attacker's are Weka's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import precision_recall_fscore_support
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

LESS = "-less"


@dataclass(frozen=True)
class Quality:
    """How well predictions agree with the truth: averages over classes, weighted by their size."""

    f1: float
    precision: float
    recall: float


def analyst(
    counts: csr_matrix,
    labels: NDArray[Any],
    train: NDArray[np.bool_],
    names: Sequence[str] = ("nb", "svm"),
) -> dict[str, Any]:
    """Predictions for the test documents from term counts, by model: tf → tf-idf → classifier.

    A name that ends in ``-less`` is of a model that takes half a word from every count before:
    words that came once are noise more often than others.
    """
    found = {}
    for name in names:
        model = {"nb": MultinomialNB(alpha=0.01), "svm": LinearSVC(C=1)}[name.removesuffix(LESS)]
        given = discounted(counts) if name.endswith(LESS) else counts
        way = make_pipeline(TfidfTransformer(), model).fit(given[train], labels[train])
        found[name] = way.predict(given[~train])
    return found


def discounted(counts: csr_matrix) -> csr_matrix:
    """Every count less ½, but never below 0."""
    less = counts.astype(np.float64)
    less.data = np.maximum(less.data - 0.5, 0)
    return less


def guesses(counts: csr_matrix, labels: NDArray[Any], train: NDArray[np.bool_]) -> NDArray[Any]:
    """The analyst's guess of every label, by naive Bayes that has not seen the document.

    The training half is guessed in five parts, each by what the other four teach.
    """
    model = make_pipeline(TfidfTransformer(), MultinomialNB(alpha=0.01))
    known = np.flatnonzero(train & (labels != ""))
    found = np.full(len(labels), "", dtype=labels.dtype)
    smallest = np.unique(labels[known], return_counts=True)[1].min()
    folds = StratifiedKFold(5) if smallest >= 5 else KFold(5)
    found[known] = cross_val_predict(model, counts[known], labels[known], cv=folds)
    rest = np.setdiff1d(np.arange(len(labels)), known)
    found[rest] = model.fit(counts[known], labels[known]).predict(counts[rest])
    return found


def weka(seen: csr_matrix, authors: NDArray[Any], new: csr_matrix) -> dict[str, Any]:
    """Predictions of Weka's NaiveBayesMultinomial and SMO (linear, C = 1) for `new` rows."""
    _, counts = np.unique(authors, return_counts=True)
    prior = (counts + 1) / (counts + 1).sum()
    bayes = MultinomialNB(alpha=1, class_prior=prior).fit(seen, authors)
    scaled = MinMax(seen)
    svm = SVC(kernel="linear", C=1).fit(scaled(seen), authors)
    return {"nb": bayes.predict(new), "svm": svm.predict(scaled(new))}


class MinMax:
    """Columns scaled to 0 … 1 on the rows given, as Weka does; constant ones become 0.

    Other rows are not clipped. Columns that are 0 somewhere stay sparse.
    """

    def __init__(self, rows: csr_matrix) -> None:
        low = rows.min(axis=0).toarray().ravel()
        width = rows.max(axis=0).toarray().ravel() - low
        factor = np.divide(1.0, width, out=np.zeros_like(width), where=width > 0)
        self._factor, self._shift = diags(factor), csr_matrix(low * factor)

    def __call__(self, rows: csr_matrix) -> csr_matrix:
        ones = csr_matrix(np.ones((rows.shape[0], 1)))
        return csr_matrix(rows @ self._factor - ones @ self._shift)


def measured(truth: NDArray[Any], predicted: Mapping[str, Any]) -> dict[str, Quality]:
    """The scores of each model's predictions."""
    scores = {}
    for model, guesses in predicted.items():
        precision, recall, f1, _ = precision_recall_fscore_support(
            truth, guesses, average="weighted", zero_division=0
        )
        scores[model] = Quality(float(f1), float(precision), float(recall))
    return scores
