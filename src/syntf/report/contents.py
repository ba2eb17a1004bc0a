"""What a report is made from, beside the guarantee and the portrait of its mechanism."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Released:
    """How sparse the released counts are: ``distinct[d]`` documents have d distinct words."""

    distinct: NDArray[np.int64]

    @property
    def documents(self) -> int:
        return int(self.distinct.sum())

    @classmethod
    def of(cls, sizes: NDArray[np.integer], longest: int) -> "Released":
        """From the number of entries in each row, none above `longest`."""
        return cls(np.bincount(sizes, minlength=longest + 1).astype(np.int64))

    def __add__(self, other: "Released") -> "Released":
        return Released(self.distinct + other.distinct)


@dataclass(frozen=True)
class Compared:
    """A score (F1) on the texts and on releases of them; None where it was not measured.

    `spread` is the standard deviation over releases, if there were several.
    """

    name: str
    before: float | None
    after: float | None
    spread: float | None = None


@dataclass(frozen=True)
class Scenario:
    """Whom attackers chose among, what each achieved, and what the topic alone achieves."""

    name: str
    authors: int
    attackers: Sequence[Compared]
    floor: float | None


@dataclass(frozen=True)
class Link:
    """How well things that belong together were told: by the area, and found at 1 % of errors."""

    name: str
    auc: float
    found: float | None


@dataclass(frozen=True)
class Evaluated:
    """What ``syntf evaluate`` measured on the owner's texts: exact, and no part of a release."""

    runs: int
    loss_per_word: float
    analyst: Sequence[Compared]
    scenarios: Sequence[Scenario]
    links: Sequence[Link]
