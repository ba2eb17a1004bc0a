"""Measure a corpus: integer sums, and exact Gaussian noise on each of their coordinates.

A corpus is measured up to four times:

1. *size*: the number of documents.
2. *labels*, if no public list says which labels exist: how many documents each label has. A label
   exists if its noisy count reaches a threshold.
3. *first*: counts, directions and the triangle (:mod:`syntf.corpus.sums`).
4. *words*, where documents are many: on columns that follow from the first sum.

*Guarantee.* Each measurement adds discrete Gaussian noise of variance σ² to all coordinates of a
sum to which a document adds a vector of squared length at most Δ². So it is Δ²/2σ²-zCDP for a
document added or removed, and all together are ρ-zCDP with the sum ρ of these. Which measurement
comes next, and on which columns, depends on public settings and on earlier noisy sums alone
(adaptive composition). ρ-zCDP implies (ε, δ) (:mod:`syntf.privacy.zcdp`). A person with up to m
documents changes a sum by m times as much, so ρ is m² times as large; noise is chosen for that.

*Theorem (labels).* Let T be the threshold and D′ be D with one more person. If no label that only
this person has reaches T, everything is computed from D′ as if such labels were not there, and ρ
is as above. There are at most m such labels, each with at most m documents, and each reaches T with
a probability of at most Pr[noise ≥ T − m]. So with T so large that m · Pr[noise ≥ T − m] ≤ δ′,
all measurements are (ε, δ + δ′)-differentially private. ∎
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, erfc, sqrt

import numpy as np

from syntf.core import checks, entropy
from syntf.corpus.documents import Cells, Documents
from syntf.corpus.model import fit
from syntf.corpus.noisy import FIRST, LABELS, SIZE, WORDS, Measurement, NoisySums
from syntf.corpus.public import PublicWords
from syntf.corpus.sums import FIRST_LENGTH, WORDS_LENGTH, Integers, first_sum, words_sum
from syntf.mechanism.gaussian import DiscreteGaussian
from syntf.privacy import zcdp

MOST_LABELS = 5_000

FEWEST_TOPICS, MOST_TOPICS, PER_TOPIC = 20, 60, 40
"""Without labels there are 20 to 60 topics: one for each 40 σ of documents."""

WORDS_FROM = 70
"""Words are measured if there are this many σ of documents for each label."""

SIZE_SHARE, LABELS_SHARE, WORDS_SHARE = Fraction(1, 100), Fraction(1, 4), Fraction(278, 1000)
"""The shares of ρ that measurements get; the first sum gets what is left."""

_FINE = 10**6  # variances are found for this squared length, so that rounding hardly matters


@dataclass(frozen=True)
class Budget:
    """What a corpus may lose: ε and δ of a document, or of a person with several documents.

    selects_labels : whether labels exist by their noisy counts; half of δ pays for the threshold.
    """

    epsilon: float
    delta: float
    documents_per_person: int = 1
    selects_labels: bool = False

    @property
    def noise_delta(self) -> float:
        """The part of δ that the noise may use."""
        return self.delta / 2 if self.selects_labels else self.delta

    @cached_property
    def variance(self) -> Fraction:
        """The variance that the whole budget allows, for a document of length 1."""
        length = self.documents_per_person**2 * _FINE
        return Fraction(zcdp.variance_for(self.epsilon, self.noise_delta, length), _FINE)

    def measurement(self, name: str, squared_length: int, share: Fraction) -> Measurement:
        """Return a measurement that uses this share of ρ, or less."""
        return Measurement(name, squared_length, ceil(self.variance * squared_length / share))

    def threshold(self, measurement: Measurement) -> int:
        """Return the noisy count from which a label exists.

        The tail of a discrete Gaussian is bounded by that of a continuous one: Pr[noise ≥ t] ≤
        Pr[N ≥ t − 1] (Canonne, Kamath and Steinke, Proposition 25).
        """
        most, sigma = self.documents_per_person, sqrt(measurement.variance)
        left = (self.delta - self.noise_delta) / most * (1 - 1e-9)  # more than the error of erfc
        above = 1
        while erfc((above - 1) / sigma / sqrt(2)) / 2 > left:
            above += 1
        return most + above


def measure(
    documents: Documents,
    public: PublicWords,
    budget: Budget,
    *,
    labels: Sequence[str] | None = None,
    meanings: Sequence[str] | None = None,
    source: entropy.Source = entropy.system,
) -> NoisySums:
    """Measure a corpus. Each call spends the whole budget.

    Parameters
    ----------
    labels : a public list of labels; documents with other labels are counted in the size alone.
        Without it, labels are selected if the budget says so. Public topics take the place of
        labels if it does not, or if no label is frequent enough.
    meanings : a text for each label of the list that says what it means.
    """
    if labels is not None:
        checks.count("the number of labels", len(labels), MOST_LABELS)
    taken = Fraction(0)
    measurements: list[Measurement] = []

    def noisy(name: str, exact: Integers, squared_length: int, share: Fraction) -> Integers:
        """Add noise to all coordinates: the only place where a number of the corpus is released."""
        nonlocal taken
        taken += share
        how = budget.measurement(name, squared_length, share)
        measurements.append(how)
        return exact + DiscreteGaussian(how.variance).sample(len(exact), source)

    label_counts = documents.label_counts()
    size = noisy(SIZE, np.array([label_counts.sum()]), 1, SIZE_SHARE)
    counts = np.zeros(0, dtype=np.int64)
    if labels is None and budget.selects_labels:
        known = sorted(documents.labels)
        exact = label_counts[[documents.labels[name] for name in known]]
        found = noisy(LABELS, exact, 1, LABELS_SHARE)
        frequent = np.flatnonzero(found >= budget.threshold(measurements[-1]))
        frequent = np.sort(frequent[np.argsort(-found[frequent], kind="stable")][:MOST_LABELS])
        labels, counts = [known[place] for place in frequent.tolist()], found[frequent]

    documents_per_sigma = size[0] / sqrt(budget.variance)
    if labels:
        cells, names = of_labels(documents, labels), tuple(labels)
    else:
        topics = int(np.clip(documents_per_sigma / PER_TOPIC, FEWEST_TOPICS, MOST_TOPICS))
        cells, names = of_topics(topics, public), public.topics(topics)[0]

    has_words = documents_per_sigma >= WORDS_FROM * len(names)
    share = 1 - taken - (WORDS_SHARE if has_words else 0)
    exact = first_sum(documents.blocks(cells), len(names), documents.dimensions)
    first = noisy(FIRST, exact, FIRST_LENGTH, share)
    sums = NoisySums(
        labels=names,
        meanings=tuple(meanings or ("",) * len(names)),
        is_by_topic=not labels,
        size=size,
        counts=counts,
        first=first,
        columns=np.zeros(0, dtype=np.int32),
        words=np.zeros(0, dtype=np.int64),
        measurements=tuple(measurements),
    )
    if not has_words:
        return sums
    columns = fit(sums, public).columns
    exact = words_sum(documents.blocks(cells), len(names), columns)
    words = noisy(WORDS, exact, WORDS_LENGTH, 1 - taken)
    return replace(sums, columns=columns, words=words, measurements=tuple(measurements))


def of_labels(documents: Documents, labels: Sequence[str]) -> Cells:
    """Return what finds the place of a document's label in a list; −1 if it is not there."""
    places = {label: place for place, label in enumerate(labels)}
    numbers = np.array([places.get(label, -1) for label in documents.labels], dtype=np.int64)
    return lambda codes, encoded: numbers[codes]


def of_topics(count: int, public: PublicWords) -> Cells:
    """Return what finds the nearest public topic of a document."""
    topics = public.topic_list(count)
    return lambda codes, encoded: topics.targets(encoded)[:, 0]
