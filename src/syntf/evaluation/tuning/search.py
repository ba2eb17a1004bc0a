"""Parameters for a goal: the least loss for a wanted utility, or the most utility under a loss.

Three facts make the search short. A document loses the loss per word times its length, so of a
budget for both one gives the other. More loss never harms, so the best utility under a budget
grows with the budget, and the least budget for a utility is found by bisection. And what is bad
on few documents is bad on many, so under one budget candidates are halved again and again, the
better ones, and others a step from the best, being measured on twice as many documents.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, log, sqrt
from typing import Any, NamedTuple

from scipy.stats.qmc import Halton

from syntf.core.errors import SyntfError

RUNGS = 5
"""How often candidates are measured and halved; the last rung has most documents.

A score there is of draws that nothing was selected by: the best of many is too good by chance.
"""

FIRST, LATER = 32, 16
"""Candidates under the first budget, and under the others, which learn from those before."""

NEAR = 8
"""Candidates that are a step from another, at most: those from the best join two of the rungs."""

CLOSE = 1.06
"""Bisection ends when the budget that suffices is within this factor of one that does not."""


class Candidate(NamedTuple):
    """One choice of parameters; the fields are those of the settings."""

    neighbours: int
    loss: float
    length: int
    max_size: int
    weights: str

    @property
    def document_loss(self) -> float:
        return self.loss * self.length


Measure = Callable[[Candidate, int], float]
"""The share of the original utility that a candidate keeps, measured on a rung."""

Scores = Mapping[Candidate, float]


@dataclass(frozen=True)
class Space:
    """What is searched."""

    neighbours: Sequence[int] = (1, 2, 3, 5)
    losses: Sequence[float] = tuple(half / 2 for half in range(8, 29))
    lengths: tuple[int, int] = (25, 200)
    sizes: Sequence[int] = (500, 1_000, 2_000, 5_000, 10_000)
    weights: Sequence[str] = ("topical", "tf", "tfidf")

    @property
    def budgets(self) -> tuple[float, float]:
        """The least and the largest loss of a document."""
        return self.lengths[0] * min(self.losses), self.lengths[1] * max(self.losses)

    def spent(self, budget: float) -> dict[float, int]:
        """The losses per word that a budget allows, and the length that each leaves.

        Of losses that leave the same length only the largest: the others waste some of it.
        """
        low, high = self.lengths
        found = {loss: min(high, floor(budget / loss + 1e-9)) for loss in sorted(self.losses)}
        best = {length: loss for loss, length in found.items() if length >= low}
        return {loss: length for length, loss in best.items()}

    def design(self, budget: float, count: int) -> list[Candidate]:
        """Up to `count` candidates that spend a budget, spread evenly over the others (Halton)."""
        spent = list(self.spent(budget).items())
        axes: list[Sequence[Any]] = [self.neighbours, spent, self.sizes, self.weights]
        if not spent:
            return []
        points = Halton(len(axes), scramble=False).random(8 * count + 1)[1:]
        rows = ([axis[int(x * len(axis))] for axis, x in zip(axes, row, strict=True)]
                for row in points.tolist())  # fmt: skip
        made = (Candidate(k, loss, n, size, weights) for k, (loss, n), size, weights in rows)
        return list(dict.fromkeys(made))[:count]

    def near(self, known: Candidate, budget: float) -> list[Candidate]:
        """The candidate that is most like a known one but spends a budget, and its neighbours.

        With more outputs or fewer neighbours goes as much loss as keeps the chance of a good
        word: k·e^ℓ to M stays what it was, as far as the losses allow.
        """
        losses = list(spent := self.spent(budget))
        if not losses:
            return []

        def spending(one: Candidate, odds: float) -> Candidate:
            wanted = known.loss + log(odds)
            loss = min(losses, key=lambda each: abs(each - wanted))
            return one._replace(loss=loss, length=spent[loss])

        like = spending(known, 1.0)
        found = [like]
        for k in _beside(self.neighbours, like.neighbours):
            found.append(spending(like._replace(neighbours=k), like.neighbours / k))
        for size in _beside(self.sizes, like.max_size):
            found.append(spending(like._replace(max_size=size), size / like.max_size))
        for loss in _beside(losses, like.loss):
            found.append(like._replace(loss=loss, length=spent[loss]))
        found += [like._replace(weights=each) for each in self.weights if each != like.weights]
        return found


@dataclass(frozen=True)
class Goal:
    """The least loss of a document that keeps `utility`, or else the most utility under it all.

    Parameters
    ----------
    utility : float, optional
        Wanted share of the original utility, the paper's β_U.
    max_loss, max_loss_per_word : float, optional
        Limits on the loss of a document and of a word.

    Examples
    --------
    >>> from syntf.evaluation.tuning.search import Candidate, Goal
    >>> cheap, dear = Candidate(1, 8.0, 50, 500, "tf"), Candidate(1, 8.0, 90, 500, "tf")
    >>> scores = {cheap: 0.81, dear: 0.9}
    >>> Goal(utility=0.8).best(scores) == cheap, Goal(max_loss=1000).best(scores) == dear
    (True, True)
    """

    utility: float | None = None
    max_loss: float | None = None
    max_loss_per_word: float | None = None

    def __post_init__(self) -> None:
        limits = {"loss": self.max_loss, "loss a word": self.max_loss_per_word}
        given = {"utility": self.utility, **limits}
        if all(value is None for value in given.values()):
            raise SyntfError(
                "name a goal: --target-utility, --max-loss, --max-loss-per-word, or several"
            )
        for name, value in given.items():
            if value is not None and not value > 0:
                raise SyntfError(f"the {name} of a goal must be above 0, not {value:g}")
        if self.utility is not None and self.utility > 1:
            raise SyntfError(
                f"the utility of a goal is a share of that of the texts, 0.87 say: "
                f"{self.utility:g} is more than all of it"
            )

    def allows(self, candidate: Candidate) -> bool:
        pairs = (
            (candidate.document_loss, self.max_loss),
            (candidate.loss, self.max_loss_per_word),
        )
        return all(most is None or value <= most + 1e-9 for value, most in pairs)

    def part(self, space: Space) -> tuple[Space, float]:
        """The part of a space that it leaves to search, and the largest budget."""
        losses, word = space.losses, self.max_loss_per_word
        if word is not None and word < min(losses):
            raise SyntfError(
                f"a loss of {word:g} a word keeps nothing: the least that is tried is "
                f"{min(losses):g}"
            )
        if word is not None and word < max(losses):
            space = replace(space, losses=[*(loss for loss in losses if loss < word), word])
        least, most = space.budgets
        if self.max_loss is not None and self.max_loss < least:
            raise SyntfError(
                f"a loss of {self.max_loss:g} a document keeps nothing: the least that is tried "
                f"is {least:g}, {space.lengths[0]} words at {min(losses):g}"
            )
        return space, min(most, self.max_loss or most)

    def best(self, scores: Scores) -> Candidate | None:
        """Of the candidates measured the one to take; None if the utility is out of reach."""
        allowed = [one for one in scores if self.allows(one)]
        if self.utility is None:
            return max(allowed, key=lambda one: (scores[one], -one.document_loss), default=None)
        reaching = [one for one in allowed if scores[one] >= self.utility]
        return min(reaching, key=lambda one: (one.document_loss, -scores[one]), default=None)


def front(scores: Scores) -> list[Candidate]:
    """The candidates that none at the same loss or less excels, by their loss."""
    found: list[Candidate] = []
    for one in sorted(scores, key=lambda one: (one.document_loss, -scores[one])):
        if not found or scores[one] > scores[found[-1]]:
            found.append(one)
    return found


def search(goal: Goal, space: Space, measure: Measure) -> dict[Candidate, float]:
    """Scores on the last rung of the candidates that got there, those for the goal among them.

    It depends on what is measured alone: where that is remembered, it goes on where it was.
    """
    space, limit = goal.part(space)
    least, most = space.budgets
    scores: dict[Candidate, float] = {}

    def best_under(budget: float) -> float:
        found = _halved(space, budget, scores, measure)
        scores.update(found)
        return max(found.values())

    if goal.utility is None:  # up to the limit, for comparison and to learn from, and beyond
        for factor in (1 / 4, 1 / 2, 1, 2):
            if least <= factor * limit <= most:
                best_under(factor * limit)
    elif best_under(limit) >= goal.utility:
        low, high = least, limit
        while high / low > CLOSE:
            middle = sqrt(low * high)
            if best_under(middle) >= goal.utility:
                high = middle
            else:
                low = middle
    return scores


def finalists(
    goal: Goal, scores: Scores, confirm: Callable[[Candidate], float]
) -> dict[Candidate, float]:
    """The best candidate, and those beside it on the front, scored by more runs each.

    If the best does not stand, those of a higher loss follow, on the front or off it, until one
    does: by chance the best may have excelled them.
    """
    line = front(scores)
    best = goal.best(scores) or line[-1]
    place = line.index(best)
    confirmed = {one: confirm(one) for one in line[max(0, place - 2) : place + 3]}
    for one in sorted(scores, key=lambda one: one.document_loss):
        stands = goal.best(confirmed)
        if stands is not None and stands.document_loss <= one.document_loss:
            break
        if one.document_loss > best.document_loss and one not in confirmed:
            confirmed[one] = confirm(one)
    return confirmed


def longest(space: Space) -> int:
    """Measurements that a search makes at most, to show how far it is."""
    least, most = space.budgets
    budgets, ratio = 1, most / least
    while ratio > CLOSE:
        budgets, ratio = budgets + 1, sqrt(ratio)
    halved = [size >> rung for rung in range(RUNGS) for size in [FIRST] + [LATER] * (budgets - 1)]
    return sum(halved) + NEAR * 2 * budgets


def _halved(space: Space, budget: float, known: Scores, measure: Measure) -> dict[Candidate, float]:
    """The candidates under a budget that are left on the last rung.

    On the second and third rung the steps from the best one join those that are left: halving
    finds the region, steps find the place.
    """
    heirs: list[Candidate] = []
    if known:
        closest = min(front(known), key=lambda one: abs(one.document_loss - budget))
        heirs = space.near(closest, budget)
    count = LATER if known else FIRST
    field = list(dict.fromkeys([*heirs[: count // 2], *space.design(budget, count)]))[:count]
    scores: dict[Candidate, float] = {}
    for rung in range(RUNGS):
        if rung:
            field = sorted(field, key=scores.__getitem__, reverse=True)
            steps = space.near(field[0], budget) if rung < 3 else []
            field = list(dict.fromkeys([*field[: max(1, count >> rung)], *steps]))
        scores = {one: measure(one, rung) for one in field}
    return scores


def _beside(axis: Sequence[Any], value: Any) -> list[Any]:
    """The values before and after this one."""
    place = axis.index(value)
    return [*axis[max(0, place - 1) : place], *axis[place + 1 : place + 2]]
