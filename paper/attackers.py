"""The attackers, who learn from texts by known authors and predict who wrote other texts.

The attackers see texts only. Of a release they see texts that :func:`reverse` builds from its
counts. They learn from the release of the training documents, not from the original texts.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import check_random_state

from paper.tagging import Tagger, tag_all
from paper.writeprints import choose_events, count_events, measure_style

Names = NDArray[Any]
Predictions = dict[str, Names]
"""The predicted authors, by the name of the model."""

Attacker = Callable[[Sequence[str], Names, Sequence[str]], Predictions]
"""Called with training texts, their authors and test texts; predicts authors of the test texts."""

Order = Literal["alphabetical", "frequency", "random"]
ORDERS: tuple[Order, ...] = get_args(Order)


def reverse(
    counts: csr_matrix, terms: Sequence[str], order: str = "alphabetical", seed: int = 0
) -> list[str]:
    """Build a text from each row that repeats every term as often as it was counted.

    This is the paper's *reverse vectorisation*, for attackers who need texts. The order of words is
    lost, so the attacker chooses one. The choice decides much of what WritePrints can measure: in
    sorted texts equal words stand side by side and their n-grams repeat from text to text; in a
    random order nearly every n-gram is new. ``frequency`` puts the terms first that are most
    frequent over all rows; ``random`` shuffles the words of each row, depending on `seed`.

    >>> reverse(csr_matrix([[1, 2]]), ["zebra", "ant"])
    ['ant ant zebra']
    """
    names = np.array(terms, dtype=object)
    ranks = np.argsort(names, kind="stable")
    if order == "frequency":
        total = np.asarray(counts.sum(axis=0)).ravel()
        ranks = ranks[np.argsort(-total[ranks], kind="stable")]
    sorted_counts = counts[:, ranks].tocsr()
    sorted_counts.sort_indices()
    words = np.repeat(names[ranks][sorted_counts.indices], sorted_counts.data)
    ends = np.concatenate([[0], np.cumsum(sorted_counts.data)])[sorted_counts.indptr]
    rows = np.split(words, ends[1:-1])
    if order == "random":
        generator = check_random_state(seed)
        rows = [generator.permutation(row) for row in rows]
    return [" ".join(row) for row in rows]


def writeprints_attacker(tagger: Tagger, texts: Sequence[str]) -> Attacker:
    """Build the paper's attacker: WritePrints (Limited) and the classifiers of Weka.

    All `texts`, for training and for testing, are tagged and measured here, once for all scenarios.
    """
    distinct = list(dict.fromkeys(texts))
    style = dict(
        zip(distinct, map(measure_style, distinct, tag_all(tagger, distinct)), strict=True)
    )

    def attack(train: Sequence[str], authors: Names, test: Sequence[str]) -> Predictions:
        vocabulary, features = choose_events(style[text] for text in train)
        return weka_predictions(
            features, authors, count_events((style[text] for text in test), vocabulary)
        )

    return attack


def word_attacker(train: Sequence[str], authors: Names, test: Sequence[str]) -> Predictions:
    """Predict authors from words, weighted by tf-idf, as the analyst predicts labels."""
    vectorizer = TfidfVectorizer()
    train_rows, test_rows = vectorizer.fit_transform(train), vectorizer.transform(test)
    models = {"nb": MultinomialNB(alpha=0.01), "svm": LinearSVC(C=1)}
    return {
        name: model.fit(train_rows, authors).predict(test_rows) for name, model in models.items()
    }


def weka_predictions(train: csr_matrix, authors: Names, test: csr_matrix) -> Predictions:
    """Predict as Weka's NaiveBayesMultinomial and SMO (linear kernel, C = 1) do.

    This was compared with Weka 3.9.7: every prediction is the same.
    """
    _, counts = np.unique(authors, return_counts=True)
    prior = (counts + 1) / (counts + 1).sum()
    bayes = MultinomialNB(alpha=1, class_prior=prior).fit(train, authors)
    scale = MinMaxScaling(train)
    scaled_train, scaled_test = scale(train), scale(test)
    # All products of rows at once: SVC(kernel="linear") multiplies sparse rows one by one.
    svm = SVC(kernel="precomputed", C=1).fit((scaled_train @ scaled_train.T).toarray(), authors)
    svm_predictions = svm.predict((scaled_test @ scaled_train.T).toarray())
    return {"nb": bayes.predict(test), "svm": svm_predictions}


class MinMaxScaling:
    """Scales each column to 0 … 1 on the training rows, as Weka does.

    Constant columns become 0 and other rows are not clipped. Columns with a zero stay sparse.
    """

    def __init__(self, train: csr_matrix) -> None:
        low = train.min(axis=0).toarray().ravel()
        width = train.max(axis=0).toarray().ravel() - low
        factor = np.divide(1.0, width, out=np.zeros_like(width), where=width > 0)
        self._factor, self._shift = diags(factor), csr_matrix(low * factor)

    def __call__(self, rows: csr_matrix) -> csr_matrix:
        ones = csr_matrix(np.ones((rows.shape[0], 1)))
        return csr_matrix(rows @ self._factor - ones @ self._shift)
