"""Draw words with syntf: with the mechanism alone, or as counts of documents."""

from collections.abc import Callable

from suite.work.embedded import zipf
from suite.work.texts import read_texts
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings

DRAWS = {"words": 4_000_000, "paper": 500_000}


def prepare(preset: str, vocabulary: str = "", path: str = "") -> Callable[[], dict[str, float]]:
    """Draw single words; with a `path`, draw for the documents of that file."""
    made = Anonymizer.build(Settings.from_preset(preset, vocabulary=vocabulary or None))
    if path:
        documents = made.read(read_texts(path))

        def once() -> dict[str, float]:
            made.draw(documents)
            return {"amount": len(documents) * made.settings.length}

        return once
    rows = zipf(made.mechanism.shape[0] - 1, DRAWS[preset])

    def alone() -> dict[str, float]:
        made.mechanism.sample(rows)
        return {"amount": len(rows)}

    return alone
