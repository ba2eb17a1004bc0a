"""A model of a corpus, from noisy sums and public knowledge alone: postprocessing.

Each label has a normal distribution of directions: its own mean, and a covariance that all labels
share. Class means are shrunk by the noise that is known to be in them, towards where the name of
the label points; the covariance is cleaned of its noise. Where words were measured, words have odds
for each label.

Floating point finds the model, and it is stored as integers. So it may come out a little different
on another machine, but rows that are sampled from the integers are the same everywhere.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.sparse import csr_matrix

from syntf.corpus.noisy import FIRST, LABELS, WORDS, NoisySums
from syntf.corpus.public import PublicWords
from syntf.corpus.sums import (
    COUNT,
    DIAGONAL,
    DIRECTION,
    OFF_DIAGONAL,
    RARITY,
    SIDE,
    WORDS_SIDE,
    Integers,
    word_parts,
    word_rarity,
)
from syntf.topics.integers import LENGTH

COLUMNS = 8_000
MOST_CELLS = 20_000_000

SCALE = 1 << 20
"""What 1 is among the integers of means, the factor, scores and offsets."""
ODDS_SCALE = 1 << 10
"""What 1 is among the integers of the logarithms of odds."""

NAME_SHARE, NAME_VARIANCE = 0.5, 0.25
"""Before anything is measured: the share of means that names explain, and its variance."""
REGULAR, REGULAR_MOST = 1.0, 2.0
"""The covariance is made rounder by so much of the edge of its noise, at most so much of itself."""
PRIOR = 0.5
"""The power of the frequencies of labels in scores."""
STANDS_OUT = 2.0
"""A sum of words counts if it is so many standard deviations of its noise from what is expected."""
WORDS_WEIGHT = 3.0
"""The weight of words in scores."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Model:
    """A model as integers.

    weights : how many documents each label has, about.
    means : the mean direction of each label.
    factor : a symmetric matrix; its square is the covariance.
    discriminants, offsets : a direction has the score direction · discriminant + offset.
    columns : the words of a release, as rows of the word vectors.
    odds : the logarithms of the odds of words for labels; no row if words were not measured.
    """

    weights: Integers
    means: Integers
    factor: Integers
    discriminants: Integers
    offsets: Integers
    columns: NDArray[np.int32]
    odds: NDArray[np.int16]

    def scores(self, encoded: NDArray[np.integer], counts: csr_matrix) -> Floats:
        """Return how well real documents fit each label.

        encoded, counts : their vectors, and their counts of the words of the word vectors.
        """
        found = encoded @ (self.discriminants.T / SCALE / LENGTH) + self.offsets / SCALE
        if len(self.odds):
            words = word_parts(counts[:, self.columns], word_rarity(self.columns)) / WORDS_SIDE
            found += words @ (self.odds.T * (WORDS_WEIGHT / ODDS_SCALE))
        return np.asarray(found)


def fit(sums: NoisySums, public: PublicWords) -> Model:
    """Find the model of noisy sums."""
    found = _Fit(sums, public)
    columns = sums.columns if len(sums.columns) else _columns(found, public)
    odds = np.zeros((0, len(columns)))
    if len(sums.words):
        odds = _word_odds(sums, found.shares, columns, public)
    return Model(
        weights=np.maximum(np.rint(found.counts), 1).astype(np.int64),
        means=_integers(found.means, SCALE),
        factor=_integers((found.axes * np.sqrt(found.spread)) @ found.axes.T, SCALE),
        discriminants=_integers(found.discriminants, SCALE),
        offsets=_integers(found.offsets, SCALE),
        columns=columns.astype(np.int32),
        odds=np.clip(np.rint(odds * ODDS_SCALE), -32767, 32767).astype(np.int16),
    )


def _integers(numbers: Floats, scale: int) -> Integers:
    return np.rint(numbers * scale).astype(np.int64)


class _Fit:
    """The steps of a fit, one after another, with lengths of documents as 1."""

    def __init__(self, sums: NoisySums, public: PublicWords) -> None:
        labels = len(sums.labels)
        names = sums.directions(public) / LENGTH
        d = names.shape[1]
        sigma = sums.sigma(FIRST)
        first = sums.first.astype(float)
        counts = first[:labels] / COUNT
        totals = first[labels : labels * (1 + d)].reshape(labels, d) / (DIRECTION * SIDE)
        count_noise, total_noise = sigma / COUNT, sigma / (DIRECTION * SIDE)
        moments = np.zeros((d, d))
        moments[np.triu_indices(d)] = first[labels * (1 + d) :]
        moments /= np.where(np.eye(d, dtype=bool), 2 * DIAGONAL, OFF_DIAGONAL) * SIDE**2
        moments += moments.T
        moment_noise = sigma / (OFF_DIAGONAL * SIDE**2)

        # The trace counts documents; counts of labels are shrunk to equality by their noise.
        n = max(np.trace(moments), 2.0 * labels)
        if len(sums.counts):
            noise = sums.sigma(LABELS)
            weight = count_noise**2 / (count_noise**2 + noise**2)
            counts = weight * sums.counts + (1 - weight) * counts
            count_noise = count_noise * noise / np.hypot(count_noise, noise)
        spread = max(counts.var() - count_noise**2, 0)
        counts = n / labels + (counts - counts.mean()) * spread / (spread + count_noise**2)
        counts = np.maximum(counts, 0.1 * n / labels)
        self.counts = counts = counts * n / counts.sum()
        self.shares = shares = counts / n

        overall = totals.sum(axis=0) / n
        noise = total_noise**2 * labels / n**2
        signal = max((overall**2).mean() - noise, 0)
        overall = overall * signal / (signal + noise)
        apart = totals / counts[:, None] - overall
        variance = (total_noise / counts[:, None]) ** 2
        tau = moment_noise / n
        by_name = _by_names(names, shares, apart, variance)

        # Wiener filter of what is left, in the axes of all documents.
        spread, axes = cleaned(moments / n - np.outer(overall, overall), tau, 1e-5)
        spread = 0.5 * spread + 0.5 * spread.mean()
        rest = (apart - by_name) @ axes
        scale = (shares[:, None] ** 2 * (rest**2 - variance)).sum()
        scale = max(scale / ((shares**2).sum() * spread.sum()), 0.01)
        rest *= scale * spread / (scale * spread + variance)
        self.means = means = overall + by_name + rest @ axes.T

        spread, self.axes = cleaned(moments / n - (means.T * shares) @ means, tau, 0)
        edge = 2 * np.sqrt(d) * tau
        more = min(REGULAR * edge, REGULAR_MOST * max(spread.sum(), 0.2) / d)
        self.spread = np.maximum(spread + more, 1e-3)
        self.discriminants = means @ ((self.axes / self.spread) @ self.axes.T)
        lengths = np.einsum("ij,ij->i", self.discriminants, means)
        self.offsets = -0.5 * lengths + PRIOR * np.log(shares)


def _by_names(names: Floats, shares: Floats, apart: Floats, variance: Floats) -> Floats:
    """Return the part of class means that the names of labels explain."""
    known = names - shares @ names
    size = (shares[:, None] * known**2).sum()
    if not size > 0:
        return np.zeros_like(names)
    known = known / np.sqrt(size)
    found = (shares[:, None] * apart * known).sum()
    noise = (shares[:, None] ** 2 * variance * known**2).sum()
    share = (found / noise + NAME_SHARE / NAME_VARIANCE) / (1 / noise + 1 / NAME_VARIANCE)
    return np.asarray(max(share, 0) * known)


def cleaned(matrix: Floats, tau: float, floor: float) -> tuple[Floats, Floats]:
    """Return eigenvalues without noise, and eigenvectors, of a symmetric matrix with noise.

    The noise is normal with the standard deviation tau off the diagonal, and √2 times as much on
    it. Eigenvalues are shrunk by the rotationally invariant estimator for additive noise (Bun,
    Allez, Bouchaud and Potters, 2016), and made monotone.
    """
    values, axes = np.linalg.eigh((matrix + matrix.T) / 2)
    d = len(values)
    width = max(2 * tau, 1e-9)
    apart = values[:, None] - values
    hilbert = (apart / (apart**2 + width**2)).mean(axis=1)
    shrunk = isotonic_regression(values - 2 * tau**2 * d * hilbert).x
    return np.maximum(shrunk, floor), axes


def tilts(vectors: NDArray[np.integer], discriminants: Floats) -> Floats:
    """Return what words say about labels, by the model: words × labels, with unit spread."""
    found = vectors @ (discriminants - discriminants.mean(axis=0)).T
    return np.asarray(found / max(found.std(), 1e-9))


def _columns(found: _Fit, public: PublicWords) -> NDArray[np.int32]:
    """Return the words that some label of the model makes likely."""
    tilt = tilts(public.vectors, found.discriminants)
    near = 18 * (public.vectors @ found.means.T) / LENGTH + 0.35 * tilt
    likely = np.exp(near - near.max(axis=0)) * public.frequency[:, None]
    best = (likely / likely.sum(axis=0)).max(axis=1)
    count = min(COLUMNS, MOST_CELLS // len(found.counts))
    return public.rows[np.sort(np.argsort(-best, kind="stable")[:count])]


def _word_odds(
    sums: NoisySums, shares: Floats, columns: NDArray[np.int32], public: PublicWords
) -> Floats:
    """Return the log odds of words for labels; sums that do not stand out of the noise say 0."""
    sigma = sums.sigma(WORDS) / WORDS_SIDE
    words = sums.words.reshape(len(shares), len(columns)) / WORDS_SIDE
    usual = public.frequency[np.searchsorted(public.rows, columns)] * word_rarity(columns) / RARITY
    usual *= max(words.sum(), 1) / usual.sum()
    total = words.sum(axis=0)
    trust = (total - usual) ** 2
    trust /= trust + 2 * sigma**2 * len(shares)
    total = np.maximum(usual + (total - usual) * trust, 0.1 * usual)
    base = shares[:, None] * total
    apart = words - base
    trust = np.maximum(1 - (STANDS_OUT * sigma) ** 2 / np.maximum(apart**2, 1e-12), 0)
    expected = np.maximum(base + apart * trust, 0.1 * base)
    return np.asarray(np.log((expected + sigma) / (base + sigma)))
