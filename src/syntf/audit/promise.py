"""The guarantee: the number that is promised belongs to the table that draws."""

from decimal import Context, Decimal
from fractions import Fraction
from math import inf, nextafter

from syntf.audit.finding import Finding
from syntf.audit.table import Measured
from syntf.core import entropy
from syntf.core.exact import shown
from syntf.core.progress import Stages
from syntf.mechanism.base import Mechanism
from syntf.mechanism.build import build
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.prepare import load_words, rate_words

LOG_ERROR = Decimal("1e-40")
"""Above the error of a logarithm to 50 digits."""


def promise(subject: Anonymizer, measured: Measured, *, quick: bool, stages: Stages) -> Finding:
    finding = Finding(
        "guarantee",
        "What the guarantee says against the object that draws: digest, ratio, its logarithm, n "
        "times it, all computed anew"
        + ("." if quick else "; then the whole table made again, with nothing from the cache."),
        "a guarantee for another table, a logarithm or a product that was rounded down, a seed "
        "that is not confessed" + ("" if quick else ", a damaged or forged cache"),
    )
    mechanism, said = subject.mechanism, subject.guarantee()
    loss, length = said.word_losses.tight, subject.settings.length
    finding.require(said.digest == f"sha256:{mechanism.digest}", "the digest is of another table")
    finding.require(said.loss_ratio == str(mechanism.ratio), "the ratio is of another table")
    finding.require(said.length == length, f"a guarantee for {said.length} words, not {length}")
    finding.require(
        said.vocabulary_size == mechanism.shape[1] == len(subject.vocabulary.outputs)
        and said.input_size + 1 == mechanism.shape[0],
        "the table has another shape than the vocabulary",
    )
    ratio = Fraction(said.loss_ratio)
    finding.require(
        measured.ratio is not None and measured.ratio <= ratio,
        "rows differ by more than is promised",
    )
    exact = _log(ratio)
    finding.require(loss >= exact, "the loss per word is below the logarithm of the ratio")
    finding.require(
        _previous(loss, 2) <= exact + 2 * LOG_ERROR, "the loss per word is not the tight one"
    )
    whole = Fraction(loss) * length
    finding.require(said.loss_per_document >= whole, "the loss of a document is below n times ℓ")
    finding.require(
        _previous(said.loss_per_document, 1) <= whole, "the loss of a document is not n times ℓ"
    )
    seeded = subject.source is not entropy.system
    finding.require(not (seeded and said.private), "seeded draws are called private")
    finding.results.append(
        f"{shown(loss, 4)} a word and {shown(said.loss_per_document, 2)} a document of {length}, "
        "rounded up, digest " + said.digest[:18] + "…"
    )
    if not quick and not subject.settings.fit_vocabulary:
        made = _afresh(subject, stages)
        finding.require(
            said.digest == f"sha256:{made.digest}",
            "made again from its inputs, the table is another",
        )
        finding.confirm("made again from its public inputs, the table has the same digest")
    return finding


def _log(ratio: Fraction) -> Decimal:
    """Its natural logarithm to 50 digits, below the truth if anything."""
    context = Context(prec=50)
    parts = (context.ln(Decimal(part)) for part in (ratio.numerator, ratio.denominator))
    return context.subtract(next(parts), next(parts)) - LOG_ERROR


def _previous(value: float, steps: int) -> float:
    for _ in range(steps):
        value = nextafter(value, -inf)
    return value


def _afresh(subject: Anonymizer, stages: Stages) -> Mechanism:
    """The mechanism of these settings, with nothing of its table remembered."""
    settings, epsilon = subject.settings, subject.mechanism.epsilon
    _, vectors, words = load_words(settings)
    rating = rate_words(settings, vectors, words)
    return build(
        rating, epsilon=epsilon, neighbours=settings.neighbours, cache=False, stages=stages
    )
