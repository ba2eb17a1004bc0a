"""What a report shows about a release of the document unit, beside its guarantee."""

from collections.abc import Sequence
from dataclasses import dataclass

LEADING = 20
"""Prototypes that a report shows."""


@dataclass(frozen=True)
class PrototypeCount:
    """How often a prototype was released, and how many documents it fits best.

    list : the list it belongs to, ``general`` or ``sharpened``.
    prototype : its number in this list.
    label : its readable name.
    released : the number of released answers that hold it.
    estimate, error : the estimated number of documents that it fits best, corrected for the known
        noise, and the standard error of the estimate.
    truth : the true number, for reports to the owner of the texts alone; never in a release.
    """

    list: str
    prototype: int
    label: str
    released: int
    estimate: float
    error: float
    truth: int | None = None


@dataclass(frozen=True)
class DocumentSummary:
    """Figures of a release of the document unit.

    kept : the probability that the true answer of a document is released.
    entries : the number of entries of the list that most documents answered from.
    answered : the number of documents that answered from this list.
    prototypes : every prototype that was released, first those of this list, the most frequent
        first.
    """

    kept: float
    entries: int
    answered: int
    prototypes: Sequence[PrototypeCount]

    @property
    def leading(self) -> list[PrototypeCount]:
        """The most frequent prototypes of the list that most documents answered from."""
        first = self.prototypes[0].list if self.prototypes else ""
        return [one for one in self.prototypes[:LEADING] if one.list == first]
