"""Rewrite texts of ten words with pypantera, whose package is installed under the name `src`."""

from collections.abc import Callable
from importlib import import_module

from suite.work.spell import read_words, spell

HOMES = {
    "SanText": "SamplingPerturbationMechanism.santext",
    "CusText": "SamplingPerturbationMechanism.custext",
    "TEM": "SamplingPerturbationMechanism.tem",
    "CMP": "EmbeddingPerturbationMechanism.cmp",
}
DEFAULTS = {"k": 10, "distance": "euclidean", "beta": 0.001}  # the defaults of its command


def prepare(
    mechanism: str, epsilon: str, vectors: str, words: str
) -> Callable[[], dict[str, float]]:
    kind = getattr(import_module(f"src.{HOMES[mechanism]}"), mechanism)
    made = kind({"embPath": vectors, "epsilon": float(epsilon), **DEFAULTS})
    noisy = getattr(made, "noisyEmb", list)
    return spell(read_words(words), lambda some: made.processText(noisy(list(some))), batch=10)
