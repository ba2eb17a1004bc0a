"""What a report shows about a release of the document unit, beside its guarantee."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Leading:
    """A frequent entry: its label, and how many documents have it, corrected for the noise.

    error : the standard error of the number of documents.
    """

    label: str
    documents: float
    error: float


@dataclass(frozen=True)
class DocumentSummary:
    """Figures of a release of the document unit.

    kept : the probability that the true answer of a document is released.
    entries : the number of entries that a document is described with.
    leading : the most frequent entries.
    """

    kept: float
    entries: int
    leading: Sequence[Leading]
