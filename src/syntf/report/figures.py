"""The figures of a report: plain data, derived from the guarantee, the table and the counts.

A report shows these figures in sentences and pictures, and holds them once more as JSON, where
``syntf verify`` finds them whatever the sentences are. Their names and forms belong to the format
of a release (:data:`syntf.privacy.guarantee.FORMAT`): adding a figure is safe, changing one needs
a new format.
"""

from dataclasses import asdict, dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError
from syntf.core.exact import EXACT, shown, shown_ratio
from syntf.privacy import bounds
from syntf.privacy.guarantee import Guarantee
from syntf.report.document_summary import DocumentSummary
from syntf.report.table_summary import AUTHOR_DOCUMENTS, DELTA, TableSummary

PAPER = {"loss_per_word": 25.4, "words_per_document": 150, "loss_per_document": 3810.0}
"""The best setting of the paper."""

PUBLISHED = (
    ("SynTF, best setting of the paper (SIGIR 2018)", 3810.0, "20 newsgroups", 0.60),
    ("DP-BART", 500.0, "five news topics", 0.405),
    ("syntf, default", 10.0, "20 newsgroups", 0.386),
)
"""System, loss per document, corpus and F1 of the topics; see docs/frontier.md and README.md."""

SUSPICION = 10**6
"""Odds against, before one word is seen."""

LARGEST_FACTOR = 10**12
"""Factors from here on are told by their number of digits."""

HISTOGRAM_COLUMNS = 40
"""Columns of the histogram at most: as many as fit on a phone."""


@dataclass(frozen=True)
class Sparsity:
    """How many documents have how many distinct words: ``distinct[d]`` documents have d."""

    distinct: NDArray[np.int64]

    @property
    def documents(self) -> int:
        """The number of documents."""
        return int(self.distinct.sum())

    @classmethod
    def count(cls, sizes: NDArray[np.integer], longest: int) -> "Sparsity":
        """Count documents by their numbers of distinct words, each at most `longest`."""
        return cls(np.bincount(sizes, minlength=longest + 1).astype(np.int64))

    def __add__(self, other: "Sparsity") -> "Sparsity":
        """Return the sparsity of two shards together."""
        return Sparsity(self.distinct + other.distinct)


def figures(
    guarantee: Guarantee, table: TableSummary, sparsity: Sparsity | None = None
) -> dict[str, Any]:
    """Return the figures of a report as JSON types; `sparsity` is None if nothing is released."""
    losses, length = guarantee.word_losses, guarantee.length
    ratio = Fraction(guarantee.loss_ratio)
    author = bounds.author_loss(losses.tight, length, AUTHOR_DOCUMENTS)
    return {
        "documents": None if sparsity is None else sparsity.documents,
        "words_per_document": length,
        "author_documents": AUTHOR_DOCUMENTS,
        "author_limit": _author_limit(guarantee),
        "loss": {
            "word": shown(losses.tight, 4),
            "document": shown(guarantee.loss_per_document, 2),
            "author": shown(author, 2),
            "word_standard": shown(losses.standard, 4),
            "word_improved": shown(losses.improved, 4),
        },
        "odds": {
            "word": odds(ratio, 1),
            "document": odds(ratio, length),
            "author": odds(ratio, AUTHOR_DOCUMENTS * length),
        },
        "suspicion_after_one_word": _suspicion(ratio),
        "epsilon_at_delta": {
            "delta": DELTA,
            "document": shown(table.epsilons[0], 2),
            "author": shown(table.epsilons[1], 2),
        },
        "share_of_paper": {
            "word": losses.tight / PAPER["loss_per_word"],
            "document": guarantee.loss_per_document / PAPER["loss_per_document"],
        },
        "words": {
            "near": table.near,
            "sampled": table.sampled,
            "mean": asdict(table.chances),
            "examples": [
                {
                    "word": one.word,
                    **asdict(one.chances),
                    "becomes": [[word, chance] for word, chance in one.becomes],
                }
                for one in table.examples
            ],
        },
        "distinct_words": _distinct_words(guarantee, sparsity),
        "table_digest": guarantee.digest,
    }


def document_figures(
    guarantee: Guarantee, summary: DocumentSummary, sparsity: Sparsity | None = None
) -> dict[str, Any]:
    """Return the figures of the report of a release of the document unit, as JSON types."""
    unit = guarantee.document
    if unit is None:
        raise SyntfError("this is not a guarantee of the document unit")
    factor = _document_factor(guarantee)
    return {
        "documents": None if sparsity is None else sparsity.documents,
        "author_documents": AUTHOR_DOCUMENTS,
        "author_limit": _author_limit(guarantee),
        "loss": {
            "document": shown(guarantee.loss_per_document, 2),
            "author": shown(guarantee.loss_per_document * AUTHOR_DOCUMENTS, 2),
        },
        "factor": _rounded(factor) if factor < LARGEST_FACTOR else None,
        "digits": factor.adjusted() + 1,
        "odds": _odds_before_and_after(factor),
        "kept": summary.kept,
        "entries": summary.entries,
        "answered": summary.answered,
        "pilot": unit.pilot,
        "noise": 1 - summary.kept,
        "leading": [
            {
                "label": one.label,
                "released": one.released,
                "documents": round(one.estimate),
                "error": round(one.error) if one.error >= 1 else round(one.error, 1),
                **({} if one.truth is None else {"truth": one.truth}),
            }
            for one in summary.leading
        ],
        "table_digest": guarantee.digest,
    }


def odds_of_earlier_programs(guarantee: Guarantee) -> list[dict[str, str]]:
    """Return the odds of the report as earlier states of 0.2.0 wrote them.

    They rounded the odds in the last row up to four digits.
    """
    factor = _document_factor(guarantee)
    rows = _odds_before_and_after(factor)
    return [*rows[:-1], *({**row, "after": _suspicion(Fraction(factor), 1)} for row in rows[-1:])]


def _document_factor(guarantee: Guarantee) -> Decimal:
    return EXACT.exp(Decimal(guarantee.loss_per_document))


def _rounded(factor: Decimal) -> str:
    """Round a factor for people: to a whole number, or to two digits after the point if small."""
    places = "1" if factor >= 100 else "0.01"
    return f"{factor.quantize(Decimal(places), ROUND_HALF_EVEN, EXACT):,f}"


def _odds_before_and_after(factor: Decimal) -> list[dict[str, str]]:
    """Return what odds for a suspicion can become at most, for some odds before.

    >>> _odds_before_and_after(Decimal("22026.5"))[2:]
    [{'before': '1 to 100', 'after': '220.3 to 1'}, {'before': 'even', 'after': '22,026 to 1'}]
    """
    if factor >= LARGEST_FACTOR:
        return []
    ratio, largest = Fraction(factor), _rounded(factor)
    return [
        {"before": "1 to 1,000,000", "after": _suspicion(ratio, 10**6)},
        {"before": f"1 to {largest}", "after": "even"},
        {"before": "1 to 100", "after": _suspicion(ratio, 100)},
        {"before": "even", "after": f"{largest} to 1"},
    ]


def _author_limit(guarantee: Guarantee) -> dict[str, Any] | None:
    """Return the limit on the documents of an author and the loss it leaves; None for no limit."""
    if guarantee.loss_per_author is None:
        return None
    loss = shown(guarantee.loss_per_author, 2)
    return {"documents": guarantee.documents_per_author, "loss": loss}


def odds(ratio: Fraction, words: int) -> dict[str, Any]:
    """Return the factor of several words: four digits, or how many digits it has if it is large.

    >>> odds(Fraction(3), 2), odds(Fraction(3000), 100)
    ({'factor': '9', 'digits': None}, {'factor': None, 'digits': 348})
    """
    log = EXACT.subtract(
        EXACT.log10(Decimal(ratio.numerator)), EXACT.log10(Decimal(ratio.denominator))
    )
    digits = EXACT.multiply(log, Decimal(words))
    if digits < 12:
        return {"factor": shown_ratio(ratio**words), "digits": None}
    return {"factor": None, "digits": int(digits.to_integral_value(ROUND_FLOOR)) + 1}


def _suspicion(ratio: Fraction, against: int = SUSPICION) -> str:
    """Return the odds, after they grew by a factor, of an event that was 1 to `against` before."""
    if ratio >= against:
        return f"{shown_ratio(ratio / against)} to 1"
    rounding = Context(prec=4, rounding=ROUND_FLOOR)
    left = rounding.divide(Decimal(against * ratio.denominator), Decimal(ratio.numerator))
    return f"1 to {left:,f}"


def _distinct_words(guarantee: Guarantee, sparsity: Sparsity | None) -> dict[str, Any] | None:
    """Return the histogram of distinct words per document; None without documents."""
    if sparsity is None or not sparsity.documents:
        return None
    by_size = sparsity.distinct.tolist()
    sizes = [size for size, count in enumerate(by_size) if count]
    least, most = sizes[0], sizes[-1]
    entries = sum(size * by_size[size] for size in sizes)
    width = -(-(most - least + 1) // HISTOGRAM_COLUMNS)
    return {
        "least": least,
        "mean": entries / sparsity.documents,
        "most": most,
        "filled": entries / (sparsity.documents * guarantee.vocabulary_size),
        "column_width": width,
        "columns": [sum(by_size[at : at + width]) for at in range(least, most + 1, width)],
    }
