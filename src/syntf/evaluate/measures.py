"""Figures, what they are compared with, and the light that follows from the comparison.

A light compares with chance, with the label alone or with the texts, never with a fixed share.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import inf, sqrt
from statistics import fmean, stdev
from typing import Any, Literal

from scipy.stats import t as students_t

Light = Literal["green", "amber", "red"]

TOPICS = "topics"
AUTHORS = "authors"
FIRST = "found first"
TEN = "found in the first ten"
PLACE = "expected place"
FIRST_OF_LABEL = "found first with its label"
MEMBER = "recognised"
RARE = "rare text recognised"
KEPT = "answer kept"
UNKNOWN_TEXTS = "texts without a known word"

ORIGINAL = "the texts themselves"  # the same analysts or attackers on the texts
LABEL = "the label alone"  # an attacker who knows the label of each document and nothing else
NOTHING_PRIVATE = "no private text"  # an analyst who has public knowledge and no row


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One figure of a release, or its mean over several releases.

    name, value : what was measured, and the figure.
    interval : where the mean over releases lies; None for a single release. It says how much
        releases differ, and nothing about other texts.
    chance : the figure of a guess that looks at no row, or at no row of the text.
    references : other figures to compare with, such as :data:`ORIGINAL` and :data:`LABEL`.
    scores : the figure of each analyst or attacker. The value is that of the strongest, `best`.
    among : how many labels, authors, rows or texts there are.
    """

    name: str
    value: float
    interval: tuple[float, float] | None = None
    chance: float | None = None
    references: Mapping[str, float] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    best: str = ""
    among: int = 0

    @classmethod
    def strongest(cls, name: str, scores: Mapping[str, float], **others: Any) -> "Measure":
        """Return the measure whose value is the highest of some scores."""
        best = max(scores, key=scores.__getitem__)
        return cls(name=name, value=scores[best], scores=scores, best=best, **others)

    def compared(self, name: str, figures: Mapping[str, float]) -> "Measure":
        """Return this measure with its figure of these, if it has one, as a further reference."""
        added = {name: figures[self.name]} if self.name in figures else {}
        return replace(self, references={**added, **self.references})

    @property
    def low(self) -> float:
        """The lower end of the interval, or else the value."""
        return self.value if self.interval is None else self.interval[0]

    @property
    def kept(self) -> float | None:
        """The share of the distance from chance to the texts themselves that is kept, if any."""
        original = self.references.get(ORIGINAL)
        if original is None or self.chance is None or original <= self.chance:
            return None
        return max(0.0, (self.value - self.chance) / (original - self.chance))

    @property
    def light(self) -> Light | None:
        """The light of this measure, if it has one."""
        return RULES[self.name][0](self) if self.name in RULES else None

    @property
    def near(self) -> bool:
        """Whether the two ends of the interval have different lights."""
        ends = {replace(self, value=end, interval=None).light for end in self.interval or ()}
        return len(ends) > 1

    @property
    def sentence(self) -> str:
        """What was measured, in plain words."""
        lead, form = SENTENCES[self.name]
        value = form(self.value)
        ends = [form(end) for end in self.interval or ()]
        if len(set(ends)) > 1:
            value += f" ({ends[0]} to {ends[1]})"
        compared = [f"with {name} {form(figure)}" for name, figure in self.references.items()]
        if self.chance is not None:
            compared.append(f"by chance {form(self.chance)}")
        parts = [lead.format(value=value, among=f"{self.among:,}")]
        parts += [", ".join(compared)] * bool(compared)
        if self.name == TOPICS and self.kept is not None:
            parts.append(f"{percent(self.kept)} of the distance from chance is kept")
        parts += ["the light is near its limit"] * self.near
        return "; ".join(parts) + "."

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, and what follows from them, as JSON types."""
        rule = RULES[self.name][1] if self.name in RULES else None
        light = {"light": self.light, "rule": rule, "near_limit": self.near}
        return {**asdict(self), "kept": self.kept, **light, "sentence": self.sentence}


def average(runs: Sequence[Sequence[Measure]]) -> list[Measure]:
    """Average the measures of several releases. The best analyst is the best one on average.

    >>> one = Measure.strongest("topics", {"a": 0.5, "b": 0.2}, chance=0.1)
    >>> two = Measure.strongest("topics", {"a": 0.3, "b": 0.4}, chance=0.1)
    >>> mean, = average([[one], [two]])
    >>> mean.best, mean.value, mean.chance
    ('a', 0.4, 0.1)
    """
    return [_mean(same) for same in zip(*runs, strict=True)]


def _mean(same: Sequence[Measure]) -> Measure:
    first = same[0]
    scores = {name: fmean(one.scores[name] for one in same) for name in first.scores}
    best = max(scores, key=scores.__getitem__, default="")
    values = [one.scores[best] if best else one.value for one in same]
    references = {name: fmean(one.references[name] for one in same) for name in first.references}
    chance = None if first.chance is None else fmean(one.chance or 0.0 for one in same)
    return replace(
        first, value=fmean(values), interval=interval(values), chance=chance, best=best,
        scores=scores, references=references,
    )  # fmt: skip


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the interval of 95 % of the mean, by Student's t; None for a single value."""
    if len(values) < 2:
        return None
    mean, sure = fmean(values), float(students_t.ppf(0.975, len(values) - 1))
    width = sure * stdev(values) / sqrt(len(values))
    most = 1.0 if mean <= 1 else inf  # a share is at most 1
    return max(0.0, mean - width), min(most, mean + width)


def _light_of_topics(measure: Measure) -> Light:
    if measure.low <= max(measure.chance or 0.0, measure.references.get(NOTHING_PRIVATE, 0.0)):
        return "red"
    return "green" if (measure.kept or 0.0) >= 0.5 else "amber"


def _light_of_authors(measure: Measure) -> Light:
    chance = measure.chance or 0.0
    if measure.low <= chance:
        return "green"
    return "red" if measure.low > measure.references.get(LABEL, chance) else "amber"


def _light_of_finding(measure: Measure) -> Light:
    chance = measure.chance or 0.0
    if measure.low <= chance and measure.value <= 2 * chance:
        return "green"
    return "red" if measure.value >= 10 * chance else "amber"


_FINDING = "green at chance, and at most twice as often; red if ten times as often; else amber"
RULES: dict[str, tuple[Callable[[Measure], Light], str]] = {
    TOPICS: (
        _light_of_topics,
        "red at chance, or at what an analyst without any private text reaches; green if nearer to "
        "the texts themselves than to chance; else amber",
    ),
    AUTHORS: (
        _light_of_authors,
        "green at chance; red if above what the label alone tells, or above chance where there is "
        "no label; else amber",
    ),
    **dict.fromkeys((FIRST, MEMBER, RARE), (_light_of_finding, _FINDING)),
}
"""The rule of each light, and the same in words: at, if within the interval of the figure."""


def score(value: float) -> str:
    """Write an F1 with two digits, such as .39 or 1.00."""
    return f"{value:.2f}".removeprefix("0")


def percent(share: float) -> str:
    """Write a share in per cent, with two digits that count.

    >>> [percent(share) for share in (0, 0.00005306, 0.019, 0.51, 0.998, 0.99999, 1)]
    ['0 %', '0.0053 %', '1.9 %', '51 %', '99.8 %', 'over 99.9 %', '100 %']
    """
    if 0.999 < share < 1:
        return "over 99.9 %"
    digits = 3 if 0.99 < share < 1 else 2
    return "100 %" if share >= 1 else f"{float(f'{100 * share:.{digits}g}'):.10g} %"


_HOLDER = "whoever holds a text finds its row"
SENTENCES: dict[str, tuple[str, Callable[[float], str]]] = {
    TOPICS: ("an analyst predicts the labels with F1 {value}", score),
    AUTHORS: ("an attacker names the right one of {among} authors with F1 {value}", score),
    FIRST: (f"{_HOLDER} first, of {{among}} rows, in {{value}} of cases", percent),
    TEN: (f"{_HOLDER} among the first ten in {{value}} of cases", percent),
    PLACE: (f"{_HOLDER} at place {{value}} of {{among}} on average", "{:,.0f}".format),
    FIRST_OF_LABEL: (f"if labels are released too, {_HOLDER} first in {{value}}", percent),
    MEMBER: (
        "whoever holds a text and knows all others recognises that it was released in {value} of "
        "cases, at 1 % false alarms", percent,
    ),
    RARE: ("of the {among} rarest texts, the same attack recognises {value}", percent),
    KEPT: (
        "a draw keeps the true answer in {value} of cases: where that is nearly always, the list "
        "of answers hides a document, and chance does not", percent,
    ),
    UNKNOWN_TEXTS: ("texts without a known word: {value}", percent),
}  # fmt: skip
"""The sentence of each measure, and how its figures are written."""
