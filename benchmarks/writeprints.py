"""What WritePrints (Limited) costs: messages of 20 newsgroups a second of processor time.

    python benchmarks/writeprints.py [--data-home DIR] [--messages 2000] [--rounds 3]

Measures `transform` with tags that are ready, then with each tagger that is installed (one must
be), on messages of the test half, headers, footers and quotes stripped, after a fit on as many
of the training half. Shown are the medians, least and most of the rounds; loading is not counted.
"""

import argparse
import statistics
import time
from collections.abc import Iterable, Iterator

from sklearn.datasets import fetch_20newsgroups

from syntf.core.errors import SyntfError
from syntf.evaluation import WritePrintsLimited
from syntf.evaluation.attack.tagging import SMALL, PatternTagger, SpacyTagger


class Ready:
    """A tagger that has all tags beforehand."""

    name = "ready tags"

    def __init__(self, texts: list[str], tagger: PatternTagger | SpacyTagger) -> None:
        self.tags = {text: tagger(text) for text in texts}

    def __call__(self, text: str, /) -> list[str]:
        return self.tags[text]

    def many(self, texts: Iterable[str]) -> Iterator[list[str]]:
        return map(self.tags.__getitem__, texts)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--data-home")
    options.add_argument("--messages", type=int, default=2_000, help="of each half")
    options.add_argument("--rounds", type=int, default=3)
    chosen = options.parse_args()
    train, test = (
        fetch_20newsgroups(
            data_home=chosen.data_home, subset=half, remove=("headers", "footers", "quotes")
        ).data[: chosen.messages]
        for half in ("train", "test")
    )
    installed = []
    for tagger in (PatternTagger(), *map(SpacyTagger, SMALL)):
        try:
            tagger("A public text.")
        except SyntfError:
            continue
        installed.append(tagger)
    ready = Ready([*train, *test], installed[0])
    style = WritePrintsLimited(tagger=ready).fit(train)
    print(f"{len(test):,} messages, {sum(map(len, test)):,} characters, ", end="")
    print(f"{len(style.get_feature_names_out()):,} features\n")
    print(f"{'tagger':38} messages a second: median (least to most)")
    for tagger in (ready, *installed):
        style.tagger_ = tagger
        rates = []
        for _ in range(chosen.rounds):
            start = time.process_time()
            style.transform(test)
            rates.append(len(test) / (time.process_time() - start))
        print(
            f"{tagger.name:38} {statistics.median(rates):,.0f} "
            f"({min(rates):,.0f} to {max(rates):,.0f})"
        )


if __name__ == "__main__":
    main()
