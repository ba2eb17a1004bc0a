"""Fit the paper's vocabulary on the training half, then measure its loss.

Results that are fitted on texts are never cached, so every round does the whole work.
"""

from collections.abc import Callable

from syntf.evaluation.experiment.newsgroups import newsgroups
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.vectors.word_vectors import WordVectors


def prepare(data_home: str, vectors: str) -> Callable[[], dict[str, float]]:
    texts = newsgroups(data_home or None).training_texts
    table = WordVectors.read(vectors) if vectors else WordVectors.embedded()
    settings = Settings.from_preset("paper", fit_vocabulary=True, vectors=table)

    def once() -> dict[str, float]:
        made = Anonymizer.build(settings, texts)
        return {"loss": made.mechanism.loss, "terms": len(made.vocabulary.outputs)}

    return once
