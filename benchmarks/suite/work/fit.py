"""The paper's setting: a vocabulary fitted on the training half, then its loss measured."""

import os
import tempfile
from collections.abc import Callable

from syntf import presets
from syntf.anonymizer import Anonymizer
from syntf.evaluation.newsgroups import newsgroups
from syntf.vectors import WordVectors


def prepare(step: str, data_home: str, vectors: str) -> Callable[[], dict[str, float]]:
    """`step` is ``first``, with nothing remembered, or ``again``."""
    texts = newsgroups(data_home or None).seen
    table = WordVectors.read(vectors) if vectors else WordVectors.embedded()
    settings = presets.settings("paper", fit_vocabulary=True, vectors=table)

    def once() -> dict[str, float]:
        made = Anonymizer.build(settings, texts)
        return {"loss": made.mechanism.loss, "terms": len(made.vocabulary.outputs)}

    if step == "again":
        once()
        return once

    def first() -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["SYNTF_CACHE"] = folder
            return once()

    return first
