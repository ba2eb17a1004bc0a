"""Measure WritePrints (Limited): messages of 20 newsgroups per second of processor time.

    python benchmarks/writeprints.py [--data-home DIR] [--messages 2000] [--rounds 3]

Times `transform` with precomputed tags, then with each installed tagger (at least one is needed).
The messages are from the test half, without headers, footers and quotes, after a fit on as many of
the training half. Prints the median, the least and the largest rate of the rounds, without loading.
"""

import argparse
import statistics
import time
from collections.abc import Iterable, Iterator

from sklearn.datasets import fetch_20newsgroups

from syntf.core.errors import SyntfError
from syntf.evaluation import WritePrintsLimited
from syntf.evaluation.attack.tagging import SMALL_ENGLISH_MODELS, PatternTagger, SpacyTagger


class PrecomputedTagger:
    """A tagger that looks up precomputed tags."""

    name = "precomputed tags"

    def __init__(self, texts: list[str], tagger: PatternTagger | SpacyTagger) -> None:
        self.tags = {text: tagger(text) for text in texts}

    def __call__(self, text: str, /) -> list[str]:
        return self.tags[text]

    def many(self, texts: Iterable[str]) -> Iterator[list[str]]:
        return map(self.tags.__getitem__, texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home")
    parser.add_argument("--messages", type=int, default=2_000, help="messages of each half")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    train, test = (
        fetch_20newsgroups(
            data_home=options.data_home, subset=half, remove=("headers", "footers", "quotes")
        ).data[: options.messages]
        for half in ("train", "test")
    )
    installed = []
    for tagger in (PatternTagger(), *map(SpacyTagger, SMALL_ENGLISH_MODELS)):
        try:
            tagger("A public text.")
        except SyntfError:
            continue
        installed.append(tagger)
    ready = PrecomputedTagger([*train, *test], installed[0])
    style = WritePrintsLimited(tagger=ready).fit(train)
    print(f"{len(test):,} messages, {sum(map(len, test)):,} characters, ", end="")
    print(f"{len(style.get_feature_names_out()):,} features\n")
    print(f"{'tagger':38} messages per second: median (least to most)")
    for tagger in (ready, *installed):
        style.tagger_ = tagger
        rates = []
        for _ in range(options.rounds):
            start = time.process_time()
            style.transform(test)
            rates.append(len(test) / (time.process_time() - start))
        print(
            f"{tagger.name:38} {statistics.median(rates):,.0f} "
            f"({min(rates):,.0f} to {max(rates):,.0f})"
        )


if __name__ == "__main__":
    main()
