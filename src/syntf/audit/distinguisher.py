"""An attempt to exceed ℓ from outside: tell two inputs apart by nothing but what is released."""

from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from syntf.audit.draws import ERROR
from syntf.audit.finding import Finding
from syntf.audit.subject import readable
from syntf.audit.table import Measured
from syntf.core.exact import shown
from syntf.core.progress import Stages
from syntf.pipeline.anonymizer import Anonymizer

Counts = NDArray[np.int64]

TEXTS = 100
"""Inputs to choose two documents from."""
BOUNDS = 3
"""That the check compares, and that share the error."""


def distinguisher(
    subject: Anonymizer, measured: Measured, count: int, *, stages: Stages
) -> Finding:
    finding = Finding(
        "distinguisher",
        f"{count:,} words for each of the two inputs that differ most, by the mechanism alone and "
        "as documents; half choose what to look at, half give lower bounds on the loss, one of "
        "them wrong with a chance of 1e-6 (Clopper–Pearson, Bonferroni).",
        "a program that leaks more than it reports, however it does so, as far as this many draws "
        "can show it",
    )
    mechanism, outputs = subject.mechanism, subject.mechanism.shape[1]
    pair = measured.high, measured.low
    per_word = [
        [
            _counted(half, outputs)
            for half in np.array_split(mechanism.sample(np.full(count, row)), 2)
        ]
        for row in pair
    ]
    reached = lower_bound(per_word, measured.output)
    _compare(finding, "one word", reached, mechanism.loss)

    texts, output = _documents(subject, measured)
    length = subject.settings.length
    number = max(2, -(-count // length))
    halves = []
    with stages("drawing documents", 2 * number) as advance:
        for text in texts:
            counts = subject.anonymize([text] * number)
            halves.append([counts[: number // 2], counts[number // 2 :]])
            advance(number)
    words = [
        [np.asarray(half.sum(axis=0), dtype=np.int64).ravel() for half in own] for own in halves
    ]
    reached = lower_bound(words, output)
    _compare(finding, f"one word of {number:,} documents", reached, mechanism.loss)
    # Documents by how often they show the output that tells most.
    shows = [
        [_counted(half[:, [output]].toarray().ravel(), length + 1) for half in own]
        for own in halves
    ]
    reached = lower_bound(shows, length)
    promised = subject.guarantee().loss_per_document
    _compare(finding, f"a document of {length} words", reached, promised)
    finding.results.append(
        "No number of draws in reach comes near a large loss: what holds it is the table."
    )
    return finding


def _compare(finding: Finding, what: str, reached: float, promised: float) -> None:
    finding.results.append(
        f"{what}: a loss of {max(0.0, reached):.2f} proved, {shown(promised, 2)} promised"
    )
    finding.require(reached <= promised, f"{what}: the loss is at least {reached:.4f}")


def _counted(values: NDArray[np.intp], size: int) -> Counts:
    return np.bincount(np.minimum(values, size - 1), minlength=size).astype(np.int64)


def _documents(subject: Anonymizer, measured: Measured) -> tuple[tuple[str, str], int]:
    """Two texts that differ most in an output, and the output.

    Of the two rows that differ most, if texts can bring them about, and a few others.
    """
    some = [measured.high, measured.low, *measured.rows[:: max(1, len(measured.rows) // TEXTS)]]
    found = dict(readable(subject, some))
    weights = np.array([subject.mechanism.weights(row) for row in found])
    with np.errstate(divide="ignore"):
        output = int((weights.max(axis=0) / weights.min(axis=0)).argmax())
    texts = list(found.values())
    column = weights[:, output]
    return (texts[int(column.argmax())], texts[int(column.argmin())]), output


def lower_bound(counts: list[list[Counts]], output: int) -> float:
    """A loss that two inputs are proved to have: wrong with a chance of at most ERROR / BOUNDS.

    `counts` has, for each of the two, how often each output came in a first and in a second
    half of the draws. Events are the output given, and those that the first half favours.
    """
    (one, one_rest), (other, other_rest) = counts
    order = np.argsort((other + 0.5) / (one + 0.5), kind="stable")  # for the first input first
    events = [(0, [output]), (1, [output])]
    size = 1
    while size <= len(order) // 2:
        events += [(0, order[:size].tolist()), (1, order[-size:].tolist())]
        size *= 2
    error = ERROR / (2 * BOUNDS * len(events))
    draws = int(one_rest.sum()), int(other_rest.sum())
    best = -np.inf
    for favoured, event in events:
        seen = int(one_rest[event].sum()), int(other_rest[event].sum())
        hits, misses = seen[favoured], seen[1 - favoured]
        if hits == 0:
            continue
        n, m = draws[favoured], draws[1 - favoured]
        least = beta.ppf(error, hits, n - hits + 1)
        most = 1.0 if misses == m else beta.isf(error, misses + 1, m - misses)
        best = max(best, log(least / most))
    return float(best)
