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
    """The scores of all attackers in one scenario, the topic floor, and the F1 of chance."""

    name: str
    authors: int
    attackers: Sequence[ScoreChange]
    floor: float | None
    chance: float | None = None


@dataclass(frozen=True)
class LinkScore:
    """How well an attacker links two things: area under the curve, share found at 1 % errors.

    `first_guess` is the share of texts whose own release is guessed first, of `among` releases;
    None if this was not measured.
    """

    name: str
    auc: float
    found: float | None
    first_guess: float | None = None
    among: int | None = None


@dataclass(frozen=True)
class EvaluationScores:
    """All scores that ``syntf evaluate`` measured on the owner's texts.

    `loss_per_word` is None for releases of whole documents. `chance` is the F1 of an analyst who
    guesses; None in evaluations by early versions.
    """

    runs: int
    loss_per_word: float | None
    analyst: Sequence[ScoreChange]
    scenarios: Sequence[ScenarioScores]
    links: Sequence[LinkScore]
    loss_per_document: float | None = None
    chance: float | None = None
