"""Attack scenarios: among which authors the attacker must find the one who wrote a text."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntf.evaluation.experiment import tables
from syntf.evaluation.experiment.labelled import Labelled

SIZES = (5, 10)


@dataclass(frozen=True)
class Scenario:
    """Suspects, and the documents by them: the attacker learns from some, is tested on others."""

    name: str
    authors: Sequence[str]
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    min_train: int
    min_test: int

    @property
    def row(self) -> tables.Scenario:
        """Its numbers, without names."""
        return tables.Scenario(
            scenario=self.name,
            authors=len(self.authors),
            min_train=self.min_train,
            min_test=self.min_test,
            train=len(self.train),
            test=len(self.test),
        )


def scenarios(
    corpus: Labelled, *, sizes: Sequence[int] = SIZES, min_test: int = 5
) -> tuple[list[Scenario], list[str]]:
    """The paper's scenarios, as far as the corpus has them, and a line on each that it lacks.

    *Any*: the authors with the most documents to learn from, then to test on, of those with
    `min_test` or more. *Multi*: the same of authors with two labels or more in the training half.
    """
    known = corpus.authors != ""
    learned = Counter(corpus.authors[corpus.train & known].tolist())
    tested = Counter(corpus.authors[~corpus.train & known].tolist())
    labels: dict[str, set[str]] = {}
    for author, label in zip(
        corpus.authors[corpus.train].tolist(), corpus.labels[corpus.train].tolist(), strict=True
    ):
        labels.setdefault(author, set()).add(label)
    able = [name for name in learned if tested[name] >= min_test]
    able.sort(key=lambda name: (-learned[name], -tested[name], name))
    several = [name for name in able if len(labels[name] - {""}) > 1]

    found: list[Scenario] = []
    notices: list[str] = []
    for kind, ranked in (("any", able), ("multi", several)):
        smaller = 0
        for size in sizes:
            name, chosen = f"top{size}-{kind}", ranked[:size]
            what = f"authors with {min_test} test texts" + " and two labels" * (kind == "multi")
            if len(chosen) < 2 or len(chosen) == smaller:
                notices.append(f"{name} cannot be formed: there are {len(chosen)} {what}")
                continue
            if len(chosen) < size:
                notices.append(f"{name} has {len(chosen)} authors: there are no more {what}")
            smaller = len(chosen)
            theirs = np.isin(corpus.authors, chosen)
            found.append(
                Scenario(
                    name,
                    chosen,
                    np.flatnonzero(theirs & corpus.train),
                    np.flatnonzero(theirs & ~corpus.train),
                    min(learned[author] for author in chosen),
                    min(tested[author] for author in chosen),
                )
            )
    order = [f"top{size}-{kind}" for kind in ("any", "multi") for size in sizes]
    return sorted(found, key=lambda one: order.index(one.name)), notices
