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
    """The scores of all attackers in one scenario, the topic floor, and the F1 of chance.

    `fewest` is the smallest number of texts that any of the authors has: for training, for testing.
    """

    name: str
    authors: int
    attackers: Sequence[ScoreChange]
    floor: float | None
    chance: float | None = None
    fewest: tuple[int, int] | None = None


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
class EvaluatedTexts:
    """What was evaluated; for the owner of the texts, and never part of a release.

    file : the name of the input file.
    date : the day of the evaluation, such as 2026-11-16.
    documents, authors : how many there are; texts without an author count as documents only.
    documents_per_author : the fewest, the median and the most; None without authors.
    rows : for a few documents, the true label and what was drawn, in words.
    """

    file: str
    date: str
    documents: int
    authors: int
    documents_per_author: tuple[int, float, int] | None
    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class MethodScores:
    """Several scores of one method, each with its standard deviation over releases, if known.

    method : ``original``, ``vectorised``, ``syntf`` for releases, or ``chance``.
    """

    method: str
    scores: Sequence[tuple[float, float | None]]


@dataclass(frozen=True)
class LabelSurvival:
    """How well one label is predicted: F1 on the texts, on releases, and of guessing."""

    label: str
    texts: int
    before: float
    after: float
    chance: float
    verdict: str


@dataclass(frozen=True)
class EstimatedShare:
    """The share of a label in one period: estimated with its 95 % interval, and the truth."""

    period: str
    estimate: float
    low: float
    high: float
    truth: float


@dataclass(frozen=True)
class TaskScores:
    """What was measured beside predictions; empty for what was not measured.

    clusters : NMI and ARI of each method.
    search : MAP, nDCG@10 and recall@100 of each method.
    labels : the most frequent label first.
    trends : the shares over time of each label, the most frequent label first.
    trend_error, counted_error, coverage : the mean error of the estimates and of plain counts, and
        the share of intervals that hold the truth; None without trends.
    """

    clusters: Sequence[MethodScores] = ()
    search: Sequence[MethodScores] = ()
    labels: Sequence[LabelSurvival] = ()
    trends: Sequence[tuple[str, Sequence[EstimatedShare]]] = ()
    trend_error: float | None = None
    counted_error: float | None = None
    coverage: float | None = None


@dataclass(frozen=True)
class EvaluationScores:
    """All scores that ``syntf evaluate`` measured on the owner's texts.

    `loss_per_word` is None for releases of whole documents. `chance` is the F1 of an analyst who
    guesses; None in evaluations by early versions. `about` says what was evaluated, if it is known.
    `tasks` are scores beside predictions.
    """

    runs: int
    loss_per_word: float | None
    analyst: Sequence[ScoreChange]
    scenarios: Sequence[ScenarioScores]
    links: Sequence[LinkScore]
    loss_per_document: float | None = None
    chance: float | None = None
    about: EvaluatedTexts | None = None
    tasks: TaskScores = TaskScores()
