"""Analysts learn labels from rows, and attackers learn authors: the same models, see `MODELS`.

An attacker is *adaptive*: she learns from released rows whose authors she knows.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer
from sklearn.svm import LinearSVC

from syntf.evaluate.corpus import UNKNOWN, Corpus, Numbers
from syntf.evaluate.measures import AUTHORS, LABEL, TOPICS, Measure
from syntf.evaluate.release import Release, Vectors

SUSPECTS = 10  # authors among whom an attacker looks for the right one, at most
FEWEST_TESTED = 5  # documents of a suspect to be tested on, at least

WORD_VECTORS = "word vectors"
MODELS: dict[str, Callable[[Any], Sequence[Any]]] = {
    "naive Bayes": lambda _: [TfidfTransformer(), MultinomialNB(alpha=0.01)],
    "linear SVM": lambda _: [TfidfTransformer(), LinearSVC(dual=True, random_state=0)],
    WORD_VECTORS: lambda vectors: [
        TfidfTransformer(sublinear_tf=True),
        FunctionTransformer(lambda rows: rows @ vectors, accept_sparse=True),
        Normalizer(),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    ],
}
"""The models of analysts and attackers: functions of the public vectors of the words, which the
last one needs. It looks at the direction of a row's words."""


def scores(
    learn: csr_matrix, names: Numbers, test: csr_matrix, truth: Numbers,
    vectors: Vectors | None = None,
) -> dict[str, float]:  # fmt: skip
    """Return the F1 of each model: the mean over the names, weighted by their documents."""
    found = {}
    for name, build in MODELS.items():
        if name == WORD_VECTORS and vectors is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names with a single row, and of many steps
            model = make_pipeline(*build(vectors)).fit(learn, names)
            if name == WORD_VECTORS:
                predicted = model.classes_[names_for_f1(model.predict_proba(test))]
            else:
                predicted = model.predict(test)
        found[name] = float(f1_score(truth, predicted, average="weighted", zero_division=0))
    return found


def names_for_f1(probabilities: NDArray[np.float64]) -> NDArray[np.intp]:
    """Choose a name for each row, so that the expected F1 is large.

    A name that is never the most probable one would have an F1 of 0. With n documents of a name, p
    predicted and t of these correct, its F1 is 2t / (n + p). One more row of probability q changes
    it by about 2 (q − F1/2) / (n + p). Each step gives every row the name with the largest change.

    >>> names_for_f1(np.array([[0.6, 0.4]] * 10 + [[0.9, 0.1]] * 10)).tolist()[::10]
    [1, 0]
    """
    sizes, width = probabilities.sum(axis=0), probabilities.shape[1]
    chosen = best = probabilities.argmax(axis=1)
    largest, before = 0.0, np.zeros((2, width))
    for step in range(20):
        sure = np.bincount(chosen, probabilities[np.arange(len(chosen)), chosen], width)
        now = np.array([sure, np.bincount(chosen, minlength=width)])
        expected = float((2 * sizes * sure / (sizes + now[1])).sum())
        if expected > largest:
            largest, best = expected, chosen
        # Half of the earlier steps is kept, so that names do not swing to and fro.
        before = (before + now) / 2 if step else now
        total = sizes + before[1]
        chosen = (sizes / total * (probabilities - before[0] / total)).argmax(axis=1)
    return np.asarray(best)


def chance(learned: Numbers, tested: Numbers) -> float:
    """Return the F1 of the better guess: the largest class, or each as often as one learns it.

    With a share p of what is tested and q of what is learned, a class that is guessed as often as
    one learns it has the precision p and the recall q.

    >>> chance(np.array([0, 1]), np.array([0, 0, 1, 1])), chance(np.array([0]), np.array([0]))
    (0.5, 1.0)
    """
    p, q = _counts(tested, learned) / [[len(tested)], [len(learned)]]
    largest = p[q.argmax()]
    by_share = 2 * p * p * q / np.maximum(p + q, 1e-12)
    return float(max(by_share.sum(), 2 * largest * largest / (1 + largest)))


def _counts(*parts: Numbers) -> NDArray[np.int64]:
    """Count how often each number occurs in each of several parts."""
    width = 1 + max(int(part.max(initial=0)) for part in parts)
    return np.array([np.bincount(part[part != UNKNOWN], minlength=width) for part in parts])


def topics(corpus: Corpus, release: Release) -> list[Measure]:
    """Measure how well an analyst who learned from rows predicts the labels of other documents."""
    tested = corpus.labels[~corpus.train]
    learn, test = release.labels != UNKNOWN, tested != UNKNOWN
    if not test.any() or len(np.unique(release.labels[learn])) < 2:
        return []
    names, truth = release.labels[learn], tested[test]
    found = scores(release.learn[learn], names, release.test[test], truth, release.vectors)
    kinds = len(np.unique(names))
    return [Measure.strongest(TOPICS, found, chance=chance(names, truth), among=kinds)]


def suspects(learned: Numbers, tested: Numbers) -> Numbers:
    """Choose the authors with the most rows to learn from, of those with enough to be tested on.

    Of equals, those with more documents to be tested on come first.
    """
    rows, documents = _counts(learned, tested)
    order = np.lexsort((-documents, -rows))
    order = order[(rows[order] > 1) & (documents[order] >= FEWEST_TESTED)]
    return np.asarray(order[:SUSPECTS])


def authors(corpus: Corpus, release: Release) -> list[Measure]:
    """Measure how well an attacker who learned from rows of known authors names other authors."""
    tested = corpus.authors[~corpus.train]
    names = suspects(release.authors, tested)
    if len(names) < 2:
        return []
    learn, test = np.isin(release.authors, names), np.isin(tested, names)
    known, truth = release.authors[learn], tested[test]
    found = scores(release.learn[learn], known, release.test[test], truth, release.vectors)
    references = {}
    if corpus.has_labels:
        labels = release.labels[learn], corpus.labels[~corpus.train][test]
        width = 2 + max(int(part.max()) for part in labels)
        shown = [_indicator(part - UNKNOWN, width) for part in labels]
        references[LABEL] = max(scores(shown[0], known, shown[1], truth).values())
    guess, among = chance(known, truth), len(names)
    return [Measure.strongest(AUTHORS, found, chance=guess, references=references, among=among)]


def _indicator(values: Numbers, width: int) -> csr_matrix:
    """Return a row for each value, with a single 1 in the column of this number."""
    ends = np.arange(len(values) + 1)
    return csr_matrix((np.ones(len(values)), values, ends), shape=(len(values), width))
