"""Measure a corpus: integer sums, and exact Gaussian noise on each of their coordinates.

First the number of documents (*size*); then, if no public list says which labels exist, how many
documents each *label* has; then the *first* sum; and, where documents are many, the sum of *words*
on columns that follow from the first one.

*Guarantee.* Discrete Gaussian noise of variance σ² on a sum to which a document adds a vector of
squared length at most Δ² is Δ²/2σ²-zCDP for a document added or removed. What is measured next
depends on public settings and on earlier noisy sums alone, so ρ of all measurements is the sum of
theirs (adaptive composition), and it implies (ε, δ) (:mod:`syntf.privacy.zcdp`). A person with up
to m documents changes a sum by m times as much: ρ is m² times as large, and noise is chosen for it.

*Theorem (labels).* Labels exist if their noisy count reaches T. Let D′ be D with one more person.
If no label that only this person has reaches T, D′ is measured as if it did not have them, with ρ
as above. These labels are at most m, with at most m documents each, so that each reaches T with a
probability of at most Pr[noise ≥ T − m]. If m · Pr[noise ≥ T − m] ≤ δ′, all measurements are
(ε, δ + δ′)-differentially private. ∎
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np

from syntf.core import checks, entropy
from syntf.corpus.documents import Documents
from syntf.corpus.model import fit
from syntf.corpus.noisy import FIRST, LABELS, SIZE, WORDS, Measurement, NoisySums
from syntf.corpus.public import PublicWords
from syntf.corpus.sums import FIRST_LENGTH, WORDS_LENGTH, Block, Integers, first_sum, words_sum
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

    def threshold(self, measurement: Measurement) -> int:
        """Return the noisy count from which a label exists.

        The tail of a discrete Gaussian is bounded by that of a continuous one: Pr[noise ≥ t] ≤
        Pr[N ≥ t − 1] (Canonne, Kamath and Steinke, Proposition 25). One more is added for rounding.
        """
        most, sigma = self.documents_per_person, sqrt(measurement.variance)
        left = (self.delta - self.noise_delta) / most
        return most + 2 + ceil(-sigma * NormalDist().inv_cdf(left))


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
    measurements: list[Measurement] = []

    def noisy(name: str, exact: Integers, squared_length: int, share: Fraction) -> Integers:
        """Add noise to all coordinates: the only place where numbers of the corpus are released."""
        variance = ceil(budget.variance * squared_length / share)
        measurements.append(Measurement(name, squared_length, variance))
        return exact + DiscreteGaussian(variance).sample(len(exact), source)

    left = 1 - SIZE_SHARE
    label_counts = documents.label_counts()
    size = noisy(SIZE, np.array([label_counts.sum()]), 1, SIZE_SHARE)
    counts = np.zeros(0, dtype=np.int64)
    if labels is None and budget.selects_labels:
        left -= LABELS_SHARE
        known = sorted(documents.labels)
        exact = label_counts[[documents.labels[name] for name in known]]
        found = noisy(LABELS, exact, 1, LABELS_SHARE)
        frequent = np.flatnonzero(found >= budget.threshold(measurements[-1]))
        frequent = np.sort(frequent[np.argsort(-found[frequent], kind="stable")][:MOST_LABELS])
        labels, counts = [known[place] for place in frequent.tolist()], found[frequent]

    sigmas = size[0] / sqrt(budget.variance)
    topics = None
    names = tuple(labels or ())
    if not names:
        few = int(np.clip(sigmas / PER_TOPIC, FEWEST_TOPICS, MOST_TOPICS))
        topics, names = public.topics(few)
    places = {label: place for place, label in enumerate(names)}
    numbers = np.array([places.get(label, -1) for label in documents.labels], dtype=np.int64)

    def blocks() -> Iterator[Block]:
        """Return all documents with the number of their label or topic."""
        if topics is None:
            return documents.blocks(lambda codes, encoded: numbers[codes])
        return documents.blocks(lambda codes, encoded: topics.targets(encoded)[:, 0])

    has_words = sigmas >= WORDS_FROM * len(names)
    share = left - WORDS_SHARE if has_words else left
    exact = first_sum(blocks(), len(names), documents.dimensions)
    sums = NoisySums(
        labels=names,
        meanings=tuple(meanings or ("",) * len(names)),
        is_by_topic=topics is not None,
        size=size,
        counts=counts,
        first=noisy(FIRST, exact, FIRST_LENGTH, share),
        columns=np.zeros(0, dtype=np.int32),
        words=np.zeros(0, dtype=np.int64),
        measurements=tuple(measurements),
    )
    if has_words:
        columns = fit(sums, public).columns
        exact = words_sum(blocks(), len(names), columns)
        words = noisy(WORDS, exact, WORDS_LENGTH, WORDS_SHARE)
        sums = replace(sums, columns=columns, words=words, measurements=tuple(measurements))
    return sums
