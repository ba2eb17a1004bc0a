"""Which labels survive: how well each label is predicted from texts and from a release."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support

Labels = NDArray[np.str_]

SURVIVES, WEAK = 0.5, 0.2
"""Shares of the distance from chance to the texts that a release must keep."""


class LabelScore(NamedTuple):
    """How well a label is predicted, by F1 and recall.

    chance : the F1 of guessing labels at random, as often as they occur in training.
    chance_recall : the share of training documents that have the label.
    """

    label: str
    test: int
    original_f1: float
    released_f1: float
    chance_f1: float
    original_recall: float
    released_recall: float
    chance_recall: float

    @property
    def kept(self) -> float | None:
        """The share of the distance from chance to the texts; None if the texts show nothing."""
        distance = self.original_f1 - self.chance_f1
        return None if distance <= 0 else (self.released_f1 - self.chance_f1) / distance

    @property
    def verdict(self) -> str:
        """Whether the label survives.

        >>> LabelScore("a", 9, 0.9, 0.6, 0.1, 0.9, 0.6, 0.1).verdict
        'survives'
        """
        if self.kept is None:
            return "not in the texts"
        return "survives" if self.kept >= SURVIVES else "weak" if self.kept >= WEAK else "lost"


def score_labels(
    training: Labels, truth: Labels, original: Labels, released: Sequence[Labels]
) -> list[LabelScore]:
    """Score every label of the test documents, the most frequent first.

    Parameters
    ----------
    training : the labels of the training documents.
    truth : the labels of the test documents.
    original, released : what is predicted from the texts, and from each of several releases.
    """
    names, sizes = np.unique(truth, return_counts=True)

    def by_label(predicted: Labels) -> NDArray[np.float64]:
        scores = precision_recall_fscore_support(truth, predicted, labels=names, zero_division=0)
        return np.array([scores[2], scores[1]])

    before = by_label(original)
    after = np.mean([by_label(predicted) for predicted in released], axis=0)
    rows = []
    for place in np.argsort(-sizes, kind="stable").tolist():
        p, q = sizes[place] / len(truth), float(np.mean(training == names[place]))
        chance = float(2 * p * q / (p + q))
        (f1, recall), (new_f1, new_recall) = before[:, place], after[:, place]
        values = (f1, new_f1, chance, recall, new_recall, q)
        rows.append(LabelScore(str(names[place]), int(sizes[place]), *map(float, values)))
    return rows
