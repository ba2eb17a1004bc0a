"""What a release says about its topics: how often each was released, and for how many it is true.

Let a draw release its target with the probability p, and each other answer with the probability q.
Of D draws, t have a certain target, so that this answer is released D·q + t·(p − q) times in
expectation. Solved for t this is the estimate; it is unbiased.

**The interval** holds t with a probability of at least 95 %. The number of releases is a sum of D
independent draws with the mean probability m = q + (p − q)·t/D. Its tails are at most those of a
binomial number with D and m (Hoeffding 1956), so the exact binomial interval of m (Clopper and
Pearson 1934), solved for t, holds. It holds, too, if the documents are themselves a random sample,
for the share of all documents that these were sampled from.

Released and public numbers are used alone, so all of this costs no privacy.
"""

from fractions import Fraction

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import betaincinv

from syntf.rows import Drawn, Scheme

LISTS = ("general", "sharpened")
"""The list that the pilot answers from, or every document without a pilot; that of all others."""

COVERED = 0.95
"""An interval holds the true number in at least this share of releases."""


def keep_probability(ratio: Fraction, answers: int) -> Fraction:
    """Return the probability that randomised response draws the target.

    ratio : of the probability of the target to that of any other answer.

    >>> keep_probability(Fraction(9), 4)
    Fraction(3, 4)
    """
    return ratio / (ratio + answers - 1)


def topic_table(drawn: Drawn) -> pl.DataFrame | None:
    """Return a row for each answer of each list; None where a release does not list answers.

    Columns: `list`, `answer`, `name`, `words`, `released` (how often), `estimate`, `low`, `high`
    (of how many documents have it as a target).
    """
    tables = [
        _table(name, scheme, drawn.answers[places])
        for name, (scheme, places) in zip(LISTS, drawn.parts(), strict=False)
        if scheme.listed
    ]
    return pl.concat(tables) if tables else None


def _table(name: str, scheme: Scheme, answers: NDArray[np.int64]) -> pl.DataFrame:
    released = np.bincount(answers.ravel(), minlength=len(scheme.names))
    estimate, low, high = estimates(released, scheme.draws, scheme.mechanism.ratio)
    return pl.DataFrame(
        {
            "list": [name] * len(released),
            "answer": np.arange(len(released)),
            "name": list(scheme.names),
            "words": _words(scheme),
            "released": released,
            "estimate": estimate.round(1) + 0.0,  # never -0.0
            "low": low,
            "high": high,
        }
    )


def estimates(
    released: NDArray[np.int64], draws: int, ratio: Fraction
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return of how many documents each answer is a target: an estimate, and its interval.

    released : how often each answer was released.
    draws : answers drawn for each document.
    ratio : of the probability of the target to that of any other answer.

    >>> estimates(np.array([90, 10, 0, 0]), 1, Fraction(10**6))[0].round(3).tolist()
    [90.0, 10.0, -0.0, -0.0]
    """
    total = int(released.sum())
    kept = keep_probability(ratio, len(released))
    other = float(kept / ratio)
    gain = float(kept) - other
    tail = (1 - COVERED) / 2
    low, high = np.zeros(len(released)), np.ones(len(released))
    some, most = released > 0, released < total
    low[some] = betaincinv(released[some], total - released[some] + 1, tail)
    high[most] = betaincinv(released[most] + 1, total - released[most], 1 - tail)
    ends = (np.floor((low - other) * total / gain), np.ceil((high - other) * total / gain))
    least, largest = (np.clip(end, 0, total // draws).astype(np.int64) for end in ends)
    return np.asarray((released - total * other) / gain, dtype=np.float64), least, largest


def _words(scheme: Scheme) -> list[str]:
    """Return the words of each answer, those with the highest count first."""
    if scheme.profiles is None:
        return list(scheme.terms)
    profiles = scheme.profiles
    found = []
    for start, end in zip(profiles.indptr[:-1], profiles.indptr[1:], strict=True):
        columns, counts = profiles.indices[start:end], profiles.data[start:end]
        order = np.argsort(-counts.astype(np.int64), kind="stable")
        found.append(", ".join(scheme.terms[column] for column in columns[order].tolist()))
    return found
