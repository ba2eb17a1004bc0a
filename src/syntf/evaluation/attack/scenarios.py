"""Attack scenarios: the authors among whom an attacker must find the author of a text."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntf.evaluation.experiment.corpus import LabelledCorpus

SIZES = (5, 10)


@dataclass(frozen=True)
class AttackScenario:
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
    def sizes(self) -> dict[str, str | int]:
        """The numbers of authors and documents, without the names of the authors."""
        return {
            "scenario": self.name,
            "authors": len(self.authors),
            "min_train": self.min_train,
            "min_test": self.min_test,
            "train": len(self.train),
            "test": len(self.test),
        }


def find_scenarios(
    corpus: LabelledCorpus, *, sizes: Sequence[int] = SIZES, min_test: int = 5
) -> tuple[list[AttackScenario], list[str]]:
    """Find the paper's scenarios in a corpus.

    *Any* scenarios have the authors with the most training documents, of those with at least
    `min_test` test documents; ties are broken by the number of test documents. *Multi* scenarios
    consider only authors with at least two labels in the training documents.

    Returns
    -------
    scenarios : list of AttackScenario
    notices : list of str
        A sentence for each scenario that has fewer authors or cannot be formed.
    """
    known = corpus.authors != ""
    train_counts = Counter(corpus.authors[corpus.train & known].tolist())
    test_counts = Counter(corpus.authors[~corpus.train & known].tolist())
    labels: dict[str, set[str]] = {}
    for author, label in zip(
        corpus.authors[corpus.train].tolist(), corpus.labels[corpus.train].tolist(), strict=True
    ):
        labels.setdefault(author, set()).add(label)
    candidates = [name for name in train_counts if test_counts[name] >= min_test]
    candidates.sort(key=lambda name: (-train_counts[name], -test_counts[name], name))
    with_two_labels = [name for name in candidates if len(labels[name] - {""}) > 1]

    scenarios: list[AttackScenario] = []
    notices: list[str] = []
    for kind, ranked in (("any", candidates), ("multi", with_two_labels)):
        previous_size = 0
        condition = f"authors with {min_test} test texts" + " and two labels" * (kind == "multi")
        for size in sizes:
            name, authors = f"top{size}-{kind}", ranked[:size]
            if len(authors) < 2 or len(authors) == previous_size:
                notices.append(f"{name} cannot be formed: there are {len(authors)} {condition}")
                continue
            if len(authors) < size:
                notices.append(f"{name} has {len(authors)} authors: there are no more {condition}")
            previous_size = len(authors)
            by_them = np.isin(corpus.authors, authors)
            scenarios.append(
                AttackScenario(
                    name,
                    authors,
                    np.flatnonzero(by_them & corpus.train),
                    np.flatnonzero(by_them & ~corpus.train),
                    min(train_counts[author] for author in authors),
                    min(test_counts[author] for author in authors),
                )
            )
    return scenarios, notices
