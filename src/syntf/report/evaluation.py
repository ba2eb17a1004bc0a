"""Scores of an evaluation, as a report shows them. They never become part of a release."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ScoreChange:
    """An F1 score on the texts (`before`) and on releases (`after`); None if not measured.

    `spread` is the standard deviation over several releases.
    """

    name: str
    before: float | None
    after: float | None
    spread: float | None = None


@dataclass(frozen=True)
class ScenarioScores:
    """The scores of all attackers in one scenario, and the topic floor."""

    name: str
    authors: int
    attackers: Sequence[ScoreChange]
    floor: float | None


@dataclass(frozen=True)
class LinkScore:
    """How well an attacker links two things: area under the curve, share found at 1 % errors."""

    name: str
    auc: float
    found: float | None


@dataclass(frozen=True)
class EvaluationScores:
    """All scores that ``syntf evaluate`` measured on the owner's texts.

    `loss_per_word` is None for releases of whole documents.
    """

    runs: int
    loss_per_word: float | None
    analyst: Sequence[ScoreChange]
    scenarios: Sequence[ScenarioScores]
    links: Sequence[LinkScore]
    loss_per_document: float | None = None
