"""The verdict on an evaluation: its main figures in plain words, each with a traffic light.

A verdict is a measurement on the owner's texts with a few attackers. It is no promise, and it never
becomes part of a release. Shares and differences are rounded to two decimals before they are
compared with the limits, which ``docs/evaluation.md`` documents. Scores vary from release to
release: a line says so if a change by the standard deviation would change its light.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from syntf.core.exact import shown
from syntf.report.evaluation import EvaluationScores, ScenarioScores, ScoreChange

GREEN, AMBER, RED = "green", "amber", "red"

TOPICS_GREEN = 0.8
"""Topics are green from this share of the original F1 on."""

TOPICS_AMBER = 0.5
"""Topics are amber from this share of the original F1 on; below, and up to chance, red."""

AUTHORS_GREEN = 0.05
"""Authors are green if the best attacker's F1 is at most this far above guessing."""

AUTHORS_AMBER = 0.2
"""Authors are amber if the best attacker's F1 is at most this far above guessing, else red."""

LINKING_GREEN = 0.05
"""Linking is green if the share of releases found is at most this far above chance."""

LINKING_AMBER = 0.5
"""Linking is amber if the share of releases found is at most this far above chance, else red."""

LARGEST_USEFUL_LOSS = 100.0
"""A larger loss per document excludes nothing in practice, as the report says too."""

LEAST_MARGIN = 0.01
"""A score this near to a limit is near, however little releases differ."""

FEW_DOCUMENTS = 200
"""With fewer documents, the verdict says that its figures are rough."""

MEANINGS = {
    ("Topics", GREEN): "Most of what predicts the topics is kept.",
    ("Topics", AMBER): "Topics can be predicted, but clearly less well than from the texts.",
    ("Topics", RED): "Most of what predicts the topics is lost. A larger loss, or a codebook from "
    "public texts on the same things, keeps more; syntf tune searches for settings.",
    ("Authors", GREEN): "These attackers name authors hardly better than by guessing.",
    ("Authors", AMBER): "These attackers name authors somewhat better than by guessing.",
    ("Authors", RED): "These attackers name authors clearly better than by guessing. A smaller "
    "loss, or fewer documents of each author (--author-loss), hides more.",
    ("Linking", GREEN): "Whoever holds a text finds its release hardly better than by guessing.",
    ("Linking", AMBER): "Whoever holds a text finds its release in some cases.",
    ("Linking", RED): "Whoever holds a text finds its release in most cases. A smaller loss hides "
    "more.",
}
SUBJECTS = ("Topics", "Authors", "Linking")

BY_TOPIC = (
    "They do better than chance, because topics tell who the author is; a release keeps topics on "
    "purpose."
)
"""Added where attackers are above chance and not above what the topics tell."""

UNPREDICTABLE = (
    "The texts themselves do not tell these labels, so nothing can be kept: check the column that "
    "--label names, and that each label has several texts."
)
"""The meaning where no analyst does better than chance on the texts."""


@dataclass(frozen=True)
class VerdictLine:
    """What was measured about a subject, in a sentence, and its traffic light.

    near : the other light, if the figure is so near to its limit that it may be this one as well.
    """

    subject: str
    light: str
    text: str
    near: str | None = None


@dataclass(frozen=True)
class Verdict:
    """A line for each subject that was measured, and what the lines mean together."""

    lines: Sequence[VerdictLine]
    meaning: str


def judge(scores: EvaluationScores, promised_loss: float | None) -> Verdict:
    """Return the verdict on an evaluation.

    Parameters
    ----------
    scores : EvaluationScores
    promised_loss : float, optional
        The loss per document that the guarantee promises; None if no guarantee holds.

    Examples
    --------
    >>> from syntf.report.evaluation import EvaluationScores, ScoreChange
    >>> scores = EvaluationScores(1, None, [ScoreChange("nb", 0.85, 0.69)], [], [], chance=0.2)
    >>> judge(scores, 10.0).lines[0].text
    '81% of the accuracy is kept (F1 .69 of .85; by chance .20).'
    """
    found = (_judge_topics(scores), _judge_authors(scores), _judge_linking(scores))
    lines = [line for line in found if line is not None]
    sentences = []
    for line in lines:
        lost = line.subject == "Topics" and line.light == RED and not _are_predictable(scores)
        sentences.append(UNPREDICTABLE if lost else MEANINGS[line.subject, line.light])
        if line.subject == "Authors" and line.light == GREEN and _found_by_topic(scores):
            sentences.append(BY_TOPIC)
    missing = [name.lower() for name in SUBJECTS if name not in {line.subject for line in lines}]
    if missing:
        sentences.append(f"No verdict on {', '.join(missing)}: this was not measured here.")
    if scores.about is not None and scores.about.documents < FEW_DOCUMENTS:
        sentences.append(
            f"There were only {scores.about.documents:,} documents, so the figures are rough."
        )
    sentences.append(
        "This was measured on these texts with these attackers; others may find out more."
    )
    if promised_loss is None:
        sentences.append("No guarantee covers a release with these settings.")
    else:
        sentences.append(
            f"The promise, against every attacker, is the loss: {shown(promised_loss, 2)} per "
            "document."
        )
        if promised_loss > LARGEST_USEFUL_LOSS:
            sentences.append("For a whole document this excludes nothing.")
    return Verdict(lines, " ".join(sentences))


def topics_light(before: float, after: float, chance: float | None) -> str:
    """Return the light for the F1 of the analyst on the texts and on releases."""
    if before == 0 or (chance is not None and after <= chance):
        return RED
    kept = _rounded(after / before)
    return GREEN if kept >= TOPICS_GREEN else AMBER if kept >= TOPICS_AMBER else RED


def authors_light(best: float, guessing: float) -> str:
    """Return the light for the F1 of the best attacker and that of the best guess."""
    return _light_above(best - guessing, AUTHORS_GREEN, AUTHORS_AMBER)


def linking_light(found: float, chance: float) -> str:
    """Return the light for the share of releases that are found at the first guess."""
    return _light_above(found - chance, LINKING_GREEN, LINKING_AMBER)


def _line(
    subject: str, text: str, value: float, spread: float | None, light: Callable[[float], str]
) -> VerdictLine:
    """Return a line with the light of a value, and a sentence if the value is near a limit.

    spread : the standard deviation of the value over several releases, if it is known.
    """
    own = light(value)
    margin = max(spread or 0.0, LEAST_MARGIN)
    others = [found for found in (light(value - margin), light(value + margin)) if found != own]
    if not others:
        return VerdictLine(subject, own, text)
    differ = f"releases differ by ± {_score(spread)}, so " if spread else ""
    near = f" Near the limit: {differ}another evaluation may say {others[0]}."
    return VerdictLine(subject, own, text + near, others[0])


def _light_above(excess: float, green: float, amber: float) -> str:
    excess = _rounded(excess)
    return GREEN if excess <= green else AMBER if excess <= amber else RED


def _rounded(value: float) -> float:
    """Round to two decimals, the precision that is shown, so that 80% is never below the limit."""
    return round(value, 2)


def _are_predictable(scores: EvaluationScores) -> bool:
    """Tell whether an analyst does better than chance on the texts."""
    return any((one.before or 0.0) > (scores.chance or 0.0) for one in scores.analyst)


def _judge_topics(scores: EvaluationScores) -> VerdictLine | None:
    """Compare the best analyst on the texts with the best one on releases."""
    before = max((one.before for one in scores.analyst if one.before is not None), default=None)
    best = _best(scores.analyst)
    if before is None or best is None:
        return None
    after, original = best.after or 0.0, before
    kept = f"{percent(after / before)} of the accuracy is kept" if before else "no accuracy to keep"
    chance = "" if scores.chance is None else f"; by chance {_score(scores.chance)}"
    return _line(
        "Topics", f"{kept} (F1 {_score(after)} of {_score(before)}{chance}).", after, best.spread,
        lambda f1: topics_light(original, f1, scores.chance),
    )  # fmt: skip


def _judge_authors(scores: EvaluationScores) -> VerdictLine | None:
    """Judge the scenario in which the best attacker is furthest above the best guess."""
    measured = [
        ((best.after or 0.0) - max(guesses), best, one)
        for one in scores.scenarios
        if (best := _best(one.attackers)) is not None and (guesses := _guesses(one))
    ]
    if not measured:
        return None
    _, attacker, scenario = max(measured, key=lambda row: row[0])
    best_f1, guess = attacker.after or 0.0, max(_guesses(scenario))
    guessed = [
        f"by {name} {_score(value)}"
        for name, value in (("topic", scenario.floor), ("chance", scenario.chance))
        if value is not None
    ]
    return _line(
        "Authors",
        f"the best attacker names the right one of {scenario.authors} with F1 {_score(best_f1)}; "
        f"guessing {', '.join(guessed)}.",
        best_f1, attacker.spread, lambda f1: authors_light(f1, guess),
    )  # fmt: skip


def _found_by_topic(scores: EvaluationScores) -> bool:
    """Tell whether attackers are above chance in a scenario, but not above the topic floor."""
    for one in scores.scenarios:
        best = _best(one.attackers)
        if best is not None and one.chance is not None and one.floor is not None:
            f1 = best.after or 0.0
            if authors_light(f1, one.chance) != GREEN and authors_light(f1, one.floor) == GREEN:
                return True
    return False


def _best(changes: Sequence[ScoreChange]) -> ScoreChange | None:
    """Return the one with the best score on releases; None if none was measured."""
    measured = [one for one in changes if one.after is not None]
    return max(measured, key=lambda one: one.after or 0.0, default=None)


def _guesses(scenario: ScenarioScores) -> list[float]:
    """Return the scores of those who see no text: by the topic alone, and by chance."""
    return [value for value in (scenario.floor, scenario.chance) if value is not None]


def _judge_linking(scores: EvaluationScores) -> VerdictLine | None:
    """Judge how often the holder of a text guesses its release first."""
    for link in scores.links:
        if link.first_guess is not None and link.among:
            chance = 1 / link.among
            return _line(
                "Linking",
                "whoever holds a text finds its release at the first guess in "
                f"{percent(link.first_guess)}, by chance in {percent(chance)} "
                f"(1 of {link.among:,}).",
                link.first_guess, None, partial(linking_light, chance=chance),
            )  # fmt: skip
    return None


def percent(share: float) -> str:
    """Return a share in per cent, with more digits near 0 and 1.

    >>> [percent(share) for share in (0, 0.003, 0.00004, 0.19, 0.998, 0.99999, 1, 1.1)]
    ['0%', '0.3%', 'under 0.1%', '19%', '99.8%', 'over 99.9%', '100%', '110%']
    """
    if 0 < share < 0.001:
        return "under 0.1%"
    if 0.999 < share < 1:
        return "over 99.9%"
    digits = 1 if 0 < share < 0.01 or 0.99 < share < 1 else 0
    return f"{100 * share:.{digits}f}%"


def _score(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")
