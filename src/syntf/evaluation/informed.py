"""An analyst who knows how a release of whole documents was made.

Naive Bayes and the SVM see nothing but term counts. This analyst also uses what a release says
about its mechanism: which public entries a document released, where these entries lie, and how
much of the release is noise.

Documents that released one topic each are judged by Bayes' rule. The probability of a label given a
released topic mixes the labels counted for this topic with what the position of the topic suggests;
the mixture is the one that predicts each document best from all others. The noise needs no separate
correction: the counted labels of a released topic contain it, as the documents to judge do. For
documents that released several entries, or words, a linear discriminant of the sum of their vectors
and naive Bayes on the entries themselves are added, with factors found on a fifth of the training
documents.

Scores are F1, so the analyst predicts the labels that make the expected F1 largest. These are not
always the most probable labels: a label that is never the most probable one would have an F1 of 0.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from syntf.pipeline.document import Drawn

Labels = NDArray[Any]
Floats = NDArray[np.float64]

SHRINKAGE = 0.05
"""The share of the mean variance that is added to each direction of a linear discriminant."""
PRIOR_STRENGTHS = (1, 2, 4, 8, 16, 32, 64, 128)
"""How many documents the position of a topic counts like."""
PRIOR_SHARES = (0.3, 0.6, 0.9, 1.0)
"""How much of the prior is the position of the topic; the rest is the share of each label."""
ENTRY_FACTORS = (0.0, 0.15, 0.3, 0.6, 1.0, 2.0, 4.0)
"""How much naive Bayes on entries counts beside the linear discriminant."""
CONFIDENCES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
"""Factors of the summed scores, which are too sure because entries depend on each other."""
DECISION_STEPS = 20
"""Steps that look for the labels with the largest expected F1."""
SMOOTHING = 0.05
"""Occurrences of an average entry that naive Bayes adds to those of each label."""


@dataclass(frozen=True, eq=False)
class ReleasedEntries:
    """The entries that documents released, as an analyst who knows the mechanism sees them.

    entries : documents × entries, how often each document released each entry. Topics of the
        general list come before those of the sharpened list; a word is the same entry in both.
    vectors : documents × dimensions, the sum of the vectors of a document's entries, less the
        mean over all documents that answered from the same list.
    positions : entries × dimensions, the vectors of the entries, less the same mean.
    one_topic : whether every document released one topic.
    """

    entries: csr_matrix
    vectors: Floats
    positions: Floats
    one_topic: bool

    @classmethod
    def of(cls, drawn: Drawn) -> "ReleasedEntries":
        """Collect the released entries of all documents."""
        words = drawn.general.kind == "words"
        blocks, sums, positions, order = [], [], [], []
        first = 0
        for entry_list, places in drawn.parts():
            sets = drawn.entries(entry_list, places)
            vectors = entry_list.vectors.astype(np.float64) / np.sqrt(
                (entry_list.vectors[:1].astype(np.float64) ** 2).sum() or 1.0
            )
            total = vectors[sets].sum(axis=1) / np.sqrt(sets.shape[1])
            mean = total.mean(axis=0) if len(total) else np.zeros(vectors.shape[1])
            columns = entry_list.rows[sets] if words else first + sets
            ends = np.arange(len(places) + 1) * sets.shape[1]
            blocks.append((np.ones(columns.size), columns.ravel(), ends))
            sums.append(total - mean)
            positions.append(vectors - mean)
            order.append(places)
            first += len(entry_list)
        width = max(int(columns.max(initial=-1)) for _, columns, _ in blocks) + 1
        width = width if words else first
        stacked = vstack(
            [csr_matrix(block, shape=(len(block[2]) - 1, width)) for block in blocks]
        ).tocsr()
        stacked.sum_duplicates()
        back = np.argsort(np.concatenate(order), kind="stable")
        several = any(len(block[1]) != len(block[2]) - 1 for block in blocks)
        return cls(
            stacked[back],
            np.concatenate(sums)[back],
            np.zeros((0, 0)) if words else np.concatenate(positions),
            not words and not several,
        )

    def at(self, documents: NDArray[Any]) -> "ReleasedEntries":
        """Return these documents, given by a mask or by their numbers."""
        return ReleasedEntries(
            self.entries[documents], self.vectors[documents], self.positions, self.one_topic
        )

    def predict(self, labels: Labels, train: NDArray[np.bool_]) -> Labels:
        """Predict the labels of the documents that are not for training."""
        names, learnt = np.unique(labels[train], return_inverse=True)
        known, asked = self.at(train), self.at(~train)
        if self.one_topic:
            topics = known.entries.indices
            by_topic = label_probabilities(
                topics, learnt, self.positions, known.vectors, len(names)
            )
            documents = np.bincount(topics, minlength=len(by_topic)).astype(np.float64)
            chosen = labels_for_f1(by_topic, documents)[asked.entries.indices]
        else:
            probabilities = _mixed_probabilities(known, learnt, asked, len(names))
            chosen = labels_for_f1(probabilities, np.ones(len(probabilities)))
        predicted: Labels = names[chosen]
        return predicted


def labels_for_f1(probabilities: Floats, documents: Floats) -> NDArray[np.intp]:
    """Choose a label for each row, so that the expected F1, weighted by class size, is large.

    Parameters
    ----------
    probabilities : rows × labels.
    documents : how many documents each row stands for.

    With n documents of a label, p predicted and t of these correct, its F1 is 2t / (n + p). One
    more document with probability q changes it by about 2 (q − F1/2) / (n + p). Each step gives
    every row the label with the largest change, and the best labels of all steps are returned.

    >>> labels_for_f1(np.array([[0.6, 0.4], [0.9, 0.1]]), np.array([10.0, 10.0])).tolist()
    [1, 0]
    """
    rows, classes = np.arange(len(probabilities)), probabilities.shape[1]
    sizes = documents @ probabilities + 1e-9
    labels: NDArray[np.intp] = probabilities.argmax(axis=1)
    best, largest = labels, -np.inf
    correct, predicted = np.zeros(classes), np.zeros(classes)
    for step in range(DECISION_STEPS):
        found = _sums(labels, probabilities[rows, labels] * documents, classes)
        given = _sums(labels, documents, classes)
        expected = float((sizes * 2 * found / (sizes + given)).sum())
        if expected > largest:
            largest, best = expected, labels
        # Half of the earlier steps is kept, so that labels do not swing to and fro.
        correct = (correct + found) / 2 if step else found
        predicted = (predicted + given) / 2 if step else given
        total = sizes + predicted
        labels = (sizes / total * (probabilities - correct / total)).argmax(axis=1)
    return best


def label_probabilities(
    topics: NDArray[Any],
    labels: NDArray[np.intp],
    positions: Floats,
    vectors: Floats,
    classes: int,
) -> Floats:
    """Return the probability of each label, given that a document released a topic.

    Parameters
    ----------
    topics, labels : the released topic and the label of each training document.
    positions : the vectors of all topics.
    vectors : the vectors of the topics that the training documents released.
    classes : the number of labels.
    """
    counts = np.zeros((len(positions), classes))
    np.add.at(counts, (topics, labels), 1)
    totals = counts.sum(axis=1, keepdims=True)
    suggested = np.exp(discriminant_scores(vectors, labels, positions, classes))
    shares = counts.sum(axis=0) / counts.sum()
    best, found = -np.inf, counts
    for share in PRIOR_SHARES:
        prior = share * suggested + (1 - share) * shares
        for strength in PRIOR_STRENGTHS:
            others = (counts - 1 + strength * prior) / np.maximum(totals - 1 + strength, 1e-12)
            fit = float((counts * np.log(np.maximum(others, 1e-12))).sum())
            if fit > best:
                best, found = fit, (counts + strength * prior) / (totals + strength)
    return found


def discriminant_scores(
    vectors: Floats, labels: NDArray[np.intp], asked: Floats, classes: int
) -> Floats:
    """Return the log-probabilities of labels by a linear discriminant, for each row of `asked`."""
    sizes = np.bincount(labels, minlength=classes)
    means = np.zeros((classes, vectors.shape[1]))
    np.add.at(means, labels, vectors)
    means /= np.maximum(sizes, 1)[:, None]
    centred = vectors - means[labels]
    covariance = centred.T @ centred / len(vectors)
    covariance += (SHRINKAGE * np.trace(covariance) / len(covariance) + 1e-9) * np.eye(
        len(covariance)
    )
    weights = np.linalg.solve(covariance, means.T)
    scores = asked @ weights - (means.T * weights).sum(axis=0) / 2
    scores += np.log(np.maximum(sizes, 0.5) / len(labels))
    scores -= scores.max(axis=1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))


def discriminant_probabilities(
    vectors: Floats, labels: NDArray[np.intp], asked: Floats, classes: int
) -> Floats:
    """Return the probabilities of labels by a linear discriminant, for each row of `asked`."""
    return _probabilities(discriminant_scores(vectors, labels, asked, classes))


def entry_scores(
    entries: csr_matrix, labels: NDArray[np.intp], asked: csr_matrix, classes: int
) -> Floats:
    """Return the log-probabilities of labels by naive Bayes on released entries."""
    documents = np.arange(len(labels))
    member = csr_matrix((np.ones(len(labels)), (labels, documents)), shape=(classes, len(labels)))
    counts = (member @ entries).toarray()
    width = counts.shape[1]
    frequent = (counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5 * width)
    smoothed = counts + SMOOTHING * width * frequent
    shares = smoothed / smoothed.sum(axis=1, keepdims=True)
    prior = np.log(np.maximum(member.sum(axis=1).A1, 0.5) / len(labels))
    return np.asarray(asked @ np.log(shares).T + prior)


def _sums(labels: NDArray[np.intp], values: Floats, classes: int) -> Floats:
    """Add up the values of each label."""
    return np.asarray(np.bincount(labels, values, classes), dtype=np.float64)


def _mixed_probabilities(
    known: ReleasedEntries, labels: NDArray[np.intp], asked: ReleasedEntries, classes: int
) -> Floats:
    """Add the scores of discriminant and naive Bayes, with the best factors on a held-out fifth."""

    def both(
        learn: ReleasedEntries, own: NDArray[np.intp], judge: ReleasedEntries
    ) -> tuple[Floats, Floats]:
        return (
            discriminant_scores(learn.vectors, own, judge.vectors, classes),
            entry_scores(learn.entries, own, judge.entries, classes),
        )

    factor = confidence = 1.0
    held = np.arange(len(labels)) % 5 == 4
    if held.any():
        true = labels[held]
        first, second = both(known.at(~held), labels[~held], known.at(held))
        factor = max(
            ENTRY_FACTORS, key=lambda one: np.mean((first + one * second).argmax(axis=1) == true)
        )
        mixed = first + factor * second

        def fit(confidence: float) -> float:
            chances = _probabilities(confidence * mixed)[np.arange(len(true)), true]
            return float(np.log(np.maximum(chances, 1e-12)).sum())

        confidence = max(CONFIDENCES, key=fit)
    first, second = both(known, labels, asked)
    return _probabilities(confidence * (first + factor * second))


def _probabilities(scores: Floats) -> Floats:
    """Turn logarithms of odds into probabilities that sum to 1 in each row."""
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))
