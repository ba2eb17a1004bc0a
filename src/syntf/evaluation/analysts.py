"""Analysts, who predict the label of a document from its term counts, and their scores.

An analyst is any callable of the type `Analyst`. Those in `ANALYSTS` know nothing of the mechanism
that made the counts. One that does is built from the anonymizer of a release: see the parameter
`informed_analysts` of :class:`~syntf.evaluation.experiment.experiment.Experiment`.
"""

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import precision_recall_fscore_support
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

Labels = NDArray[Any]


class Analyst(Protocol):
    """Learns labels from the training documents and predicts those of the test documents.

    Analysts are sent to worker processes, so they must be picklable.
    """

    def __call__(self, counts: csr_matrix, labels: Labels, train: NDArray[np.bool_]) -> Labels:
        """Return one label for each row of `counts` that is not a training document."""
        ...


@dataclass(frozen=True)
class TfidfAnalyst:
    """Weights counts by tf-idf and trains a classifier, as the paper's analyst does.

    Parameters
    ----------
    classifier : scikit-learn estimator
        It is cloned before it is trained.
    discount : float, default=0
        Subtracted from every count first, but never below zero. Words that occur once in a
        release are more often noise than words that occur several times.
    """

    classifier: BaseEstimator
    discount: float = 0.0

    def __call__(self, counts: csr_matrix, labels: Labels, train: NDArray[np.bool_]) -> Labels:
        if self.discount:
            counts = counts.astype(np.float64)
            counts.data = np.maximum(counts.data - self.discount, 0)
        model = make_pipeline(TfidfTransformer(), clone(self.classifier))
        # scikit-learn takes labels that are nearly unique for numbers to be estimated.
        warnings.filterwarnings("ignore", "The number of unique classes is greater")
        predicted: Labels = model.fit(counts[train], labels[train]).predict(counts[~train])
        return predicted


ANALYSTS: dict[str, Analyst] = {
    "nb": TfidfAnalyst(MultinomialNB(alpha=0.01)),
    "svm": TfidfAnalyst(LinearSVC(C=1)),
    "nb-discounted": TfidfAnalyst(MultinomialNB(alpha=0.01), discount=0.5),
}


def predict_all_labels(counts: csr_matrix, labels: Labels, train: NDArray[np.bool_]) -> Labels:
    """Predict every label by a naive Bayes model that was not trained on the document itself.

    The training documents are predicted in five parts, each by a model of the other four.
    """
    model = make_pipeline(TfidfTransformer(), MultinomialNB(alpha=0.01))
    known = np.flatnonzero(train & (labels != ""))
    predicted = np.full(len(labels), "", dtype=labels.dtype)
    smallest = np.unique(labels[known], return_counts=True)[1].min()
    folds = StratifiedKFold(5) if smallest >= 5 else KFold(5)
    predicted[known] = cross_val_predict(model, counts[known], labels[known], cv=folds)
    rest = np.setdiff1d(np.arange(len(labels)), known)
    predicted[rest] = model.fit(counts[known], labels[known]).predict(counts[rest])
    return predicted


class Scores(NamedTuple):
    """Averages over the classes, weighted by the size of each class."""

    f1: float
    precision: float
    recall: float


def score_predictions(truth: Labels, predicted: Labels) -> Scores:
    """Compare predictions with the truth."""
    precision, recall, f1, _ = precision_recall_fscore_support(
        truth, predicted, average="weighted", zero_division=0
    )
    return Scores(float(f1), float(precision), float(recall))


def chance_f1(train: Labels, test: Labels) -> float:
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
