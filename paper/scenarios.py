"""The attack scenarios of the paper: the authors among whom an attacker must find an author."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paper.corpus import Corpus

COLUMNS = ("scenario", "authors", "min_train", "min_test", "train", "test")


@dataclass(frozen=True)
class Scenario:
    """The suspected authors and their documents, to learn from and to be tested on.

    Every author has at least `min_train` training and `min_test` test documents.
    """

    name: str
    authors: Sequence[str]
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    min_train: int
    min_test: int

    @property
    def row(self) -> tuple[str | int, ...]:
        """The values of `COLUMNS`: numbers of authors and documents, without names of authors."""
        sizes = (len(self.train), len(self.test))
        return self.name, len(self.authors), self.min_train, self.min_test, *sizes


def find_scenarios(corpus: Corpus, *, sizes: Sequence[int] = (5, 10)) -> list[Scenario]:
    """Find the paper's scenarios in a corpus.

    *Any* scenarios have the authors with the most training documents, of those with at least five
    test documents; ties are broken by the number of test documents. *Multi* scenarios consider only
    authors with at least two labels in the training documents. A scenario that has fewer than two
    authors, or the same ones as a smaller scenario, is left out.
    """
    known = corpus.authors != ""
    train_counts = Counter(corpus.authors[corpus.train & known].tolist())
    test_counts = Counter(corpus.authors[~corpus.train & known].tolist())
    labelled = corpus.train & (corpus.labels != "")
    pairs = zip(corpus.authors[labelled].tolist(), corpus.labels[labelled].tolist(), strict=True)
    label_counts = Counter(author for author, _ in set(pairs))
    any_author = sorted(
        (name for name in train_counts if test_counts[name] >= 5),
        key=lambda name: (-train_counts[name], -test_counts[name], name),
    )
    multi = [name for name in any_author if label_counts[name] > 1]
    scenarios = []
    for kind, ranked in (("any", any_author), ("multi", multi)):
        for size, smaller in zip(sizes, (1, *sizes), strict=False):
            if len(ranked) <= smaller:
                continue
            authors = ranked[:size]
            by_them = np.isin(corpus.authors, authors)
            scenarios.append(
                Scenario(
                    f"top{size}-{kind}",
                    authors,
                    np.flatnonzero(by_them & corpus.train),
                    np.flatnonzero(by_them & ~corpus.train),
                    min(train_counts[author] for author in authors),
                    min(test_counts[author] for author in authors),
                )
            )
    return scenarios


def attacked_documents(scenarios: Iterable[Scenario]) -> NDArray[np.intp]:
    """Return the documents that are part of any scenario, sorted."""
    parts = [part for scenario in scenarios for part in (scenario.train, scenario.test)]
    return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.intp)
