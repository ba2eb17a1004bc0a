"""Count words with scikit-learn: one call, with the texts in memory."""

from collections.abc import Callable

from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from suite.work.texts import read_texts


def prepare(which: str, path: str) -> Callable[[], None]:
    texts = read_texts(path)
    call = CountVectorizer().fit_transform if which == "count" else HashingVectorizer().transform

    def once() -> None:
        call(texts)

    return once
