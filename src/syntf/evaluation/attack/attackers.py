"""Attackers: given texts by known authors, who wrote these others?

Each sees texts only, those of a release as :func:`~syntf.evaluation.attack.reversal.reverse` makes
them. An *adaptive* attacker learns from what was released of the training half, as she has the
same release as the analyst; a *static* one learns from the original texts. Two more see no text
at all: whoever knows the topic of each text, and whoever knows the analyst's guess of it. Where
authors keep to their topics that already tells much, and it is the floor under every attack.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from syntf.evaluation.attack.classifiers import weka
from syntf.evaluation.attack.tagging import Tagger, tag_all
from syntf.evaluation.attack.writeprints import WritePrintsLimited
from syntf.text.tokenizer import tokenize
from syntf.vectors.word_vectors import WordVectors

Authors = NDArray[Any]
Guesses = dict[str, Authors]
"""By model."""

Attack = Callable[[Sequence[str], Authors, Sequence[str]], Guesses]
"""From texts to learn from and their authors to guesses for new texts."""

STATIC = "-static"


def writeprints(tagger: Tagger, texts: Sequence[str]) -> Attack:
    """The paper's attacker: WritePrints (Limited), then Weka's classifiers.

    Tags all `texts`, those to learn from and the others, once for all scenarios.
    """
    tags = dict(zip(texts, tag_all(tagger, texts), strict=True))

    def attack(seen: Sequence[str], authors: Authors, new: Sequence[str]) -> Guesses:
        style = WritePrintsLimited(tagger=tags.__getitem__)
        return weka(style.fit_transform(seen), authors, style.transform(new))

    return attack


def words(seen: Sequence[str], authors: Authors, new: Sequence[str]) -> Guesses:
    """Words, weighed by tf-idf: the analyst's own way."""
    return _linear(TfidfVectorizer(), seen, authors, new)


def characters(seen: Sequence[str], authors: Authors, new: Sequence[str]) -> Guesses:
    """Sequences of two to four characters, weighed by tf-idf."""
    found = TfidfVectorizer(analyzer="char", ngram_range=(2, 4), sublinear_tf=True)
    return _linear(found, seen, authors, new)


def embeddings(vectors: WordVectors, texts: Sequence[str]) -> Attack:
    """The mean of a text's word vectors, then logistic regression."""
    means = {text: _mean(vectors, text) for text in texts}

    def attack(seen: Sequence[str], authors: Authors, new: Sequence[str]) -> Guesses:
        model = LogisticRegression(C=10, max_iter=1000)
        model.fit(np.array([means[text] for text in seen]), authors)
        return {"logistic": model.predict(np.array([means[text] for text in new]))}

    return attack


def topics(seen: Sequence[str], authors: Authors, new: Sequence[str]) -> Guesses:
    """The author who wrote most under this label; here the texts are the labels."""
    return _linear(CountVectorizer(analyzer=lambda label: [label]), seen, authors, new)


def _linear(features: Any, seen: Sequence[str], authors: Authors, new: Sequence[str]) -> Guesses:
    known, other = features.fit_transform(seen), features.transform(new)
    models = {"nb": MultinomialNB(alpha=0.01), "svm": LinearSVC(C=1)}
    return {name: model.fit(known, authors).predict(other) for name, model in models.items()}


def _mean(vectors: WordVectors, text: str) -> NDArray[np.float64]:
    rows = [row for word in tokenize(text) if (row := vectors.find(word)) is not None]
    if not rows:
        return np.zeros(vectors.matrix.shape[1])
    found = np.asarray(vectors.matrix[rows], dtype=np.float64)
    mean: NDArray[np.float64] = found.mean(axis=0) / 127
    return mean
