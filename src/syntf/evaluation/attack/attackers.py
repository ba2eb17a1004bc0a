"""Attackers, who learn from texts by known authors and predict who wrote other texts.

Attackers see texts only; of a release they see the texts that
:func:`~syntf.evaluation.attack.reversal.reverse` builds from its counts. An *adaptive* attacker
learns from the release of the training documents, a *static* attacker from the original texts.
Two more attackers see no text at all: one knows the topic of each document, the other knows the
topic that the analyst predicts. Where authors keep to their topics, this already reveals much of
who wrote what. It is the topic floor, with which all other attacks are compared.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import SVC, LinearSVC

from syntf.evaluation.attack.tagging import Tagger, tag_all
from syntf.evaluation.attack.writeprints import MeasuredStyles, measure_style
from syntf.text.tokenizer import tokenize
from syntf.vectors.word_vectors import WordVectors

Authors = NDArray[Any]
Predictions = dict[str, Authors]
"""The predicted authors, by the name of the model."""

Attacker = Callable[[Sequence[str], Authors, Sequence[str]], Predictions]
"""Called with training texts, their authors and test texts; predicts authors of the test texts."""

STATIC = "-static"
"""The suffix of the names of attackers who learn from the original texts."""


def writeprints_attacker(tagger: Tagger, texts: Sequence[str]) -> Attacker:
    """Build the paper's attacker: WritePrints (Limited) and the classifiers of Weka.

    All `texts`, for training and for testing, are tagged and measured here, once for all scenarios.
    """
    styles = MeasuredStyles(map(measure_style, texts, tag_all(tagger, texts)))
    row_of = {text: row for row, text in enumerate(texts)}

    def attack(train: Sequence[str], authors: Authors, test: Sequence[str]) -> Predictions:
        train_rows, test_rows = (
            np.array([row_of[text] for text in part]) for part in (train, test)
        )
        kept = styles.choose_columns(train_rows)
        train_features, test_features = (
            styles.features(rows, kept) for rows in (train_rows, test_rows)
        )
        return weka_predictions(train_features, authors, test_features)

    return attack


def word_attacker(train: Sequence[str], authors: Authors, test: Sequence[str]) -> Predictions:
    """Predict authors from words, weighted by tf-idf, as the analyst predicts labels."""
    return _linear_predictions(TfidfVectorizer(), train, authors, test)


def character_attacker(train: Sequence[str], authors: Authors, test: Sequence[str]) -> Predictions:
    """Predict authors from sequences of two to four characters, weighted by tf-idf."""
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(2, 4), sublinear_tf=True)
    return _linear_predictions(vectorizer, train, authors, test)


def label_attacker(train: Sequence[str], authors: Authors, test: Sequence[str]) -> Predictions:
    """Predict the author who wrote most under a label; the "texts" are the labels themselves."""
    vectorizer = CountVectorizer(analyzer=lambda label: [label])
    return _linear_predictions(vectorizer, train, authors, test)


def embedding_attacker(vectors: WordVectors, texts: Sequence[str]) -> Attacker:
    """Build an attacker who applies logistic regression to the mean word vector of each text."""
    means = {text: _mean_vector(vectors, text) for text in texts}

    def attack(train: Sequence[str], authors: Authors, test: Sequence[str]) -> Predictions:
        model = LogisticRegression(C=10, max_iter=1000)
        model.fit(np.array([means[text] for text in train]), authors)
        return {"logistic": model.predict(np.array([means[text] for text in test]))}

    return attack


def weka_predictions(train: csr_matrix, authors: Authors, test: csr_matrix) -> Predictions:
    """Predict as Weka's NaiveBayesMultinomial and SMO (linear kernel, C = 1) do."""
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


def _linear_predictions(
    vectorizer: Any, train: Sequence[str], authors: Authors, test: Sequence[str]
) -> Predictions:
    train_rows, test_rows = vectorizer.fit_transform(train), vectorizer.transform(test)
    models = {"nb": MultinomialNB(alpha=0.01), "svm": LinearSVC(C=1)}
    return {
        name: model.fit(train_rows, authors).predict(test_rows) for name, model in models.items()
    }


def _mean_vector(vectors: WordVectors, text: str) -> NDArray[np.float64]:
    rows = [row for word in tokenize(text) if (row := vectors.find(word)) is not None]
    if not rows:
        return np.zeros(vectors.matrix.shape[1])
    mean: NDArray[np.float64] = np.asarray(vectors.matrix[rows], dtype=np.float64).mean(axis=0)
    return mean / 127
