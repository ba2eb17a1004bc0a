"""Check that the guarantee belongs to the table that is drawn from."""

from decimal import Context, Decimal
from fractions import Fraction
from math import inf, nextafter

from syntf.audit.result import CheckResult
from syntf.audit.table import Measured
from syntf.core import entropy
from syntf.core.exact import shown
from syntf.core.progress import Stages
from syntf.mechanism.base import Mechanism
from syntf.mechanism.build import build
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.prepare import load_words, rate_words

LOG_ERROR = Decimal("1e-40")
"""Upper bound of the error of a logarithm with 50 digits."""


def check_guarantee(
    subject: Anonymizer, measured: Measured, *, quick: bool, stages: Stages
) -> CheckResult:
    """Compute every number of the guarantee again and compare."""
    result = CheckResult(
        "guarantee",
        "The numbers of the guarantee compared with the table that is drawn from: digest, ratio, "
        "its logarithm and n times it, all computed again"
        + ("." if quick else "; then the whole table computed again, without the cache."),
        "a guarantee for another table, a logarithm or a product that was rounded down, a seed "
        "that is not declared" + ("" if quick else ", a damaged or forged cache"),
    )
    mechanism, guarantee = subject.mechanism, subject.guarantee()
    loss, length = guarantee.word_losses.tight, subject.settings.length
    result.require(
        guarantee.digest == f"sha256:{mechanism.digest}", "the digest belongs to another table"
    )
    result.require(
        guarantee.loss_ratio == str(mechanism.ratio), "the ratio belongs to another table"
    )
    result.require(
        guarantee.length == length,
        f"the guarantee is for {guarantee.length} words instead of {length}",
    )
    result.require(
        guarantee.vocabulary_size == mechanism.shape[1] == len(subject.vocabulary.outputs)
        and guarantee.input_size + 1 == mechanism.shape[0],
        "the shape of the table does not match the vocabulary",
    )
    ratio = Fraction(guarantee.loss_ratio)
    result.require(
        measured.ratio is not None and measured.ratio <= ratio,
        "rows differ by more than the guarantee says",
    )
    exact = _log(ratio)
    result.require(loss >= exact, "the loss per word is below the logarithm of the ratio")
    result.require(
        _previous(loss, 2) <= exact + 2 * LOG_ERROR,
        "the loss per word is larger than the logarithm of the ratio",
    )
    whole = Fraction(loss) * length
    result.require(guarantee.loss_per_document >= whole, "the loss per document is below n times ℓ")
    result.require(
        _previous(guarantee.loss_per_document, 1) <= whole, "the loss per document is not n times ℓ"
    )
    seeded = subject.source is not entropy.system
    result.require(not (seeded and guarantee.private), "seeded draws are marked as private")
    result.results.append(
        f"loss {shown(loss, 4)} per word and {shown(guarantee.loss_per_document, 2)} per document "
        f"of {length} words, rounded up, digest " + guarantee.digest[:18] + "…"
    )
    if not quick and not subject.settings.fit_vocabulary:
        again = _rebuild(subject, stages)
        result.require(
            guarantee.digest == f"sha256:{again.digest}",
            "the table is different when it is computed again",
        )
        result.confirm("computed again from its public inputs, the table has the same digest")
    return result


def _log(ratio: Fraction) -> Decimal:
    """Return a natural logarithm with 50 digits, never above the true value."""
    context = Context(prec=50)
    parts = (context.ln(Decimal(part)) for part in (ratio.numerator, ratio.denominator))
    return context.subtract(next(parts), next(parts)) - LOG_ERROR


def _previous(value: float, steps: int) -> float:
    """Return the floating-point number that is `steps` below."""
    for _ in range(steps):
        value = nextafter(value, -inf)
    return value


def _rebuild(subject: Anonymizer, stages: Stages) -> Mechanism:
    """Build the mechanism of these settings without the cache."""
    settings, epsilon = subject.settings, subject.mechanism.epsilon
    _, vectors, words = load_words(settings)
    rating = rate_words(settings, vectors, words)
    return build(
        rating, epsilon=epsilon, neighbours=settings.neighbours, cache=False, stages=stages
    )
