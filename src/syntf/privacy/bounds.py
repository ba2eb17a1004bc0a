"""The paper's bounds on privacy loss and on utility.

All but the tight loss are formulas of the parameters and say what to expect before a table exists.
A release promises the *tight* loss, which is measured on its table (:mod:`syntf.mechanism.base`).
"""

from fractions import Fraction
from math import exp, inf, log

from syntf.core.checks import positive
from syntf.core.errors import SyntfError
from syntf.core.exact import log_up, times_up
from syntf.mechanism.base import Weights, largest_ratio

MOST_DOCUMENTS = 1 << 40
"""Documents of an author that a limit allows at most; reached by losses near 0 alone."""


def standard_loss(epsilon: float) -> float:
    """Return McSherry and Talwar's bound on the loss of one word: ε itself."""
    return positive("epsilon", epsilon)


def improved_loss(
    epsilon: float, size: int, *, spread: float = 1.0, sensitivity: float = 1.0
) -> float:
    """Return ε + ln η, with η = (e^(−ε/2) + L − 1) / (e^(ε/2) + L − 1) and L = `size` outputs.

    Conditions: any two inputs are adjacent, and for each input the ratings of all outputs lie
    within `spread` ≤ `sensitivity` of each other. A symmetric rating meets this, and so does any
    rating in [0, 1] with sensitivity 1, as used here. With a larger spread the bound may be wrong,
    so it raises an error. It holds for real numbers: where ε is so large that the least weights are
    small integers, rounding them adds a little to the tight loss.

    >>> round(improved_loss(47.5, 2), 2), round(improved_loss(47.5, 30000), 2)
    (23.75, 34.06)
    """
    epsilon = positive("epsilon", epsilon)
    if size < 1:
        raise SyntfError(f"size must be at least 1, not {size}")
    if not 0 <= spread <= sensitivity:
        raise SyntfError(
            f"the improved bound needs a spread of ratings over outputs ({spread}) "
            f"no larger than the sensitivity ({sensitivity})"
        )
    if size == 1:
        return 0.0
    half, rest = epsilon / 2, size - 1
    return half + log(exp(-half) + rest) - log(1 + rest * exp(-half))


def tight_loss(table: Weights) -> float:
    """Return max over w of ln (max over v of π(v, w) / min over v of π(v, w)), rounded up.

    `table` holds the integer weights, inputs × outputs, all rows with the same sum. A mechanism
    measures the same on a table that is too large for memory: it is its `loss`.

    >>> from syntf.mechanism import ExponentialMechanism
    >>> mechanism = ExponentialMechanism([[1.0, 0.0], [0.4, 0.9]], epsilon=3.0)
    >>> import numpy as np
    >>> tight_loss(np.array([mechanism.weights(0), mechanism.weights(1)])) == mechanism.loss
    True
    """
    return log_up(largest_ratio(table.min(axis=0), table.max(axis=0)))


def document_loss(loss: float, length: int) -> float:
    """Return the loss of a document of `length` words, rounded up (sequential composition)."""
    return times_up(loss, length)


def author_loss(loss: float, length: int, documents: int) -> float:
    """Return the loss of an author who wrote this many documents, rounded up (group privacy)."""
    return times_up(document_loss(loss, length), documents)


def documents_within(author_loss: float, loss_per_document: float) -> int:
    """Return how many documents of an author may be released: exact, without rounding.

    Raises
    ------
    SyntfError
        If `author_loss` is below the loss of one document.

    >>> documents_within(30, 10), documents_within(39.9, 10)
    (3, 3)
    """
    author_loss = positive("author_loss", author_loss)
    if Fraction(author_loss) >= Fraction(loss_per_document) * MOST_DOCUMENTS:
        return MOST_DOCUMENTS
    documents = int(Fraction(author_loss) / Fraction(loss_per_document))
    if not documents:
        raise SyntfError(
            f"a loss of {author_loss:g} per author is below the loss of {loss_per_document:g} of "
            "a single document: raise --author-loss, or lower the loss per document"
        )
    return documents


def utility_bounds(
    epsilon: float,
    good: int,
    bad: int,
    *,
    gap: float,
    spread: float = 1.0,
    sensitivity: float = 1.0,
) -> tuple[float, float]:
    """Return a lower and an upper bound on the probability of a good output.

    `good` outputs are rated τ or better and `bad` ones below τ. `gap` is τ minus the best rating
    below it, and `spread` is the best minus the worst rating.

    >>> low, high = utility_bounds(20.0, 5, 9995, gap=0.4)
    >>> round(low, 3), round(high, 3)
    (0.027, 0.917)
    """
    epsilon = positive("epsilon", epsilon)
    ratio = _ratio(good, bad)
    unit = epsilon / (2 * positive("sensitivity", sensitivity))
    return 1 / (1 + exp(-unit * gap) * ratio), 1 / (1 + exp(-unit * spread) * ratio)


def necessary_epsilon(
    probability: float, good: int, bad: int, *, spread: float = 1.0, sensitivity: float = 1.0
) -> float:
    """Return the ε below which a good output cannot have this probability, at least 0.

    >>> round(necessary_epsilon(0.5, 1, 9999), 2)
    18.42
    """
    return _epsilon(probability, good, bad, spread, sensitivity)


def sufficient_epsilon(
    probability: float, good: int, bad: int, *, gap: float, sensitivity: float = 1.0
) -> float:
    """Return the least ε known to give a good output at least this probability.

    >>> round(sufficient_epsilon(0.5, 1, 9999, gap=0.5), 2)
    36.84
    """
    return _epsilon(probability, good, bad, gap, sensitivity)


def _epsilon(probability: float, good: int, bad: int, scale: float, sensitivity: float) -> float:
    if not 0 <= probability <= 1:
        raise SyntfError(f"probability must lie in [0, 1], not {probability}")
    odds = inf if probability == 1 else probability / (1 - probability)
    needed = odds * _ratio(good, bad) if bad else 0.0
    if needed <= 1:
        return 0.0
    factor = 2 * positive("sensitivity", sensitivity) / positive("the difference of ratings", scale)
    return factor * log(needed)


def _ratio(good: int, bad: int) -> float:
    if good < 1 or bad < 0:
        raise SyntfError(f"needs at least one good and zero bad outputs; got {good} and {bad}")
    return bad / good
