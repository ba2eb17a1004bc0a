"""Attack the program from outside: tell two inputs apart by their releases only."""

from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from syntf.audit.draws import ERROR
from syntf.audit.result import CheckResult
from syntf.audit.subject import one_word_texts
from syntf.audit.table import Measured
from syntf.core.exact import shown
from syntf.core.progress import Stages
from syntf.pipeline.anonymizer import Anonymizer

Counts = NDArray[np.int64]

CANDIDATES = 100
"""Number of inputs from which two documents are chosen."""
BOUNDS = 3
"""Number of bounds that the check compares; they share the allowed error."""


def check_distinguisher(
    subject: Anonymizer, measured: Measured, count: int, *, stages: Stages
) -> CheckResult:
    """Compare lower confidence bounds on the loss with the guarantee."""
    result = CheckResult(
        "distinguisher",
        f"{count:,} words for each of the two inputs that differ most, drawn by the mechanism and "
        "as documents. Half of the draws choose the event, the other half gives a lower bound on "
        "the loss; the bounds are wrong with a probability of 1e-6 (Clopper–Pearson, Bonferroni).",
        "a program that leaks more than its guarantee says, in whatever way, as far as this many "
        "draws can show",
    )
    mechanism, outputs = subject.mechanism, subject.mechanism.shape[1]
    pair = measured.high, measured.low
    per_word = [
        [_count(half, outputs) for half in np.array_split(mechanism.sample(np.full(count, row)), 2)]
        for row in pair
    ]
    reached = lower_bound(per_word, measured.output)
    _compare(result, "one word", reached, mechanism.loss)

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
    _compare(result, f"one word of {number:,} documents", reached, mechanism.loss)
    # Documents by how often they contain the output that differs most.
    shows = [
        [_count(half[:, [output]].toarray().ravel(), length + 1) for half in own] for own in halves
    ]
    reached = lower_bound(shows, length)
    allowed = subject.guarantee().loss_per_document
    _compare(result, f"a document of {length} words", reached, allowed)
    result.results.append(
        "Draws alone cannot come near a large loss: that is what the exact checks are for."
    )
    return result


def _compare(result: CheckResult, unit: str, reached: float, allowed: float) -> None:
    result.results.append(
        f"{unit}: a loss of {max(0.0, reached):.2f} proved, {shown(allowed, 2)} allowed"
    )
    result.require(reached <= allowed, f"{unit}: the loss is at least {reached:.4f}")


def _count(values: NDArray[np.intp], size: int) -> Counts:
    return np.bincount(np.minimum(values, size - 1), minlength=size).astype(np.int64)


def _documents(subject: Anonymizer, measured: Measured) -> tuple[tuple[str, str], int]:
    """Choose the two texts that differ most in one output, and return them with the output.

    Candidates are texts of one word for the two rows that differ most, and for some others.
    """
    some = [
        measured.high,
        measured.low,
        *measured.rows[:: max(1, len(measured.rows) // CANDIDATES)],
    ]
    found = dict(one_word_texts(subject, some))
    weights = np.array([subject.mechanism.weights(row) for row in found])
    with np.errstate(divide="ignore"):
        output = int((weights.max(axis=0) / weights.min(axis=0)).argmax())
    texts = list(found.values())
    column = weights[:, output]
    return (texts[int(column.argmax())], texts[int(column.argmin())]), output


def lower_bound(counts: list[list[Counts]], output: int) -> float:
    """Return a lower bound on the loss, wrong with a probability of at most ERROR / BOUNDS.

    `counts` has for each of two inputs the counts of outputs in the first and in the second
    half of the draws. Events are the given output and those that the first half suggests.
    """
    (one, one_rest), (other, other_rest) = counts
    order = np.argsort(
        (other + 0.5) / (one + 0.5), kind="stable"
    )  # outputs that favour the first input come first
    events = [(0, [output]), (1, [output])]
    size = 1
    while size <= len(order) // 2:
        events += [(0, order[:size].tolist()), (1, order[-size:].tolist())]
        size *= 2
    error = ERROR / (2 * BOUNDS * len(events))
    draws = int(one_rest.sum()), int(other_rest.sum())
    best = -np.inf
    for favoured, event in events:
        hits_of = int(one_rest[event].sum()), int(other_rest[event].sum())
        hits, misses = hits_of[favoured], hits_of[1 - favoured]
        if hits == 0:
            continue
        n, m = draws[favoured], draws[1 - favoured]
        least = beta.ppf(error, hits, n - hits + 1)
        most = 1.0 if misses == m else beta.isf(error, misses + 1, m - misses)
        best = max(best, log(least / most))
    return float(best)
