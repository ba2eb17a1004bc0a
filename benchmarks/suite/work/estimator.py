"""Fit and transform texts with the estimator, in any version of syntf."""

from collections.abc import Callable

from suite.work.texts import read_texts
from syntf import SynTF


def prepare(preset: str, path: str) -> Callable[[], None]:
    texts = read_texts(path)

    def once() -> None:
        SynTF(preset=preset).fit_transform(texts)

    return once
