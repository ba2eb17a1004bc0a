"""Search for the smallest loss that keeps a wanted utility, or the most utility under a loss.

Three facts make the search short. The loss of a document is the loss per word times its length, so
a budget and one of them determine the other. A larger budget never reduces the best utility, so
the smallest budget for a utility can be found by bisection. And a candidate that is bad on few
documents is bad on many, so under one budget the candidates are halved round by round: the better
half, and candidates close to the best one, are measured again on more documents.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, log, sqrt
from typing import Any, NamedTuple

from scipy.stats.qmc import Halton

from syntf.core.errors import SyntfError

ROUNDS = 5
"""How often candidates are measured and halved; later rounds use more documents.

The scores of the last round come from draws that no candidate was selected by. The best score of
the round before is too good by chance.
"""

FIRST_CANDIDATES, LATER_CANDIDATES = 32, 16
"""Candidates under the first budget, and under later budgets, which start from known results."""

MAX_NEARBY = 8
"""At most this many candidates are close to another one; they join in two of the rounds."""

BUDGET_TOLERANCE = 1.06
"""Bisection ends when a sufficient budget is within this factor of an insufficient one."""


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
"""Measures the share of the original utility that a candidate keeps, in a round."""

KeptUtility = Mapping[Candidate, float]
"""The share of the original utility that each candidate keeps."""


@dataclass(frozen=True)
class SearchSpace:
    """The values that are searched."""

    neighbours: Sequence[int] = (1, 2, 3, 5)
    losses: Sequence[float] = tuple(half / 2 for half in range(8, 29))
    lengths: tuple[int, int] = (25, 200)
    sizes: Sequence[int] = (500, 1_000, 2_000, 5_000, 10_000)
    weights: Sequence[str] = ("topical", "tf", "tfidf")

    @property
    def budgets(self) -> tuple[float, float]:
        """The smallest and the largest loss per document."""
        return self.lengths[0] * min(self.losses), self.lengths[1] * max(self.losses)

    def lengths_by_loss(self, budget: float) -> dict[float, int]:
        """Return the losses per word that fit a budget, and the length that each leaves.

        Of several losses with the same length only the largest is returned: the others waste a
        part of the budget.
        """
        low, high = self.lengths
        lengths = {loss: min(high, floor(budget / loss + 1e-9)) for loss in sorted(self.losses)}
        largest = {length: loss for loss, length in lengths.items() if length >= low}
        return {loss: length for length, loss in largest.items()}

    def design(self, budget: float, count: int) -> list[Candidate]:
        """Return up to `count` candidates that use a budget, spread evenly (a Halton sequence)."""
        spent = list(self.lengths_by_loss(budget).items())
        axes: list[Sequence[Any]] = [self.neighbours, spent, self.sizes, self.weights]
        if not spent:
            return []
        points = Halton(len(axes), scramble=False).random(8 * count + 1)[1:]
        rows = (
            [axis[int(x * len(axis))] for axis, x in zip(axes, row, strict=True)]
            for row in points.tolist()
        )
        candidates = (
            Candidate(k, loss, length, size, weights) for k, (loss, length), size, weights in rows
        )
        return list(dict.fromkeys(candidates))[:count]

    def nearby(self, known: Candidate, budget: float) -> list[Candidate]:
        """Return the candidate most similar to a known one that uses a budget, and its neighbours.

        Candidates with more outputs or fewer neighbours get a larger loss, so that the
        probability of a good word, k·e^ℓ against M, stays the same as far as the losses allow.
        """
        lengths = self.lengths_by_loss(budget)
        losses = list(lengths)
        if not losses:
            return []

        def with_odds(candidate: Candidate, odds: float) -> Candidate:
            wanted = known.loss + log(odds)
            loss = min(losses, key=lambda one: abs(one - wanted))
            return candidate._replace(loss=loss, length=lengths[loss])

        base = with_odds(known, 1.0)
        found = [base]
        for k in _adjacent(self.neighbours, base.neighbours):
            found.append(with_odds(base._replace(neighbours=k), base.neighbours / k))
        for size in _adjacent(self.sizes, base.max_size):
            found.append(with_odds(base._replace(max_size=size), size / base.max_size))
        for loss in _adjacent(losses, base.loss):
            found.append(base._replace(loss=loss, length=lengths[loss]))
        found += [base._replace(weights=one) for one in self.weights if one != base.weights]
        return found


@dataclass(frozen=True)
class Goal:
    """The smallest loss per document that keeps `utility`, or else the most utility under limits.

    Parameters
    ----------
    utility : float, optional
        Wanted share of the original utility, the paper's β_U.
    max_loss, max_loss_per_word : float, optional
        Limits on the loss per document and per word.

    Examples
    --------
    >>> from syntf.evaluation.tuning.search import Candidate, Goal
    >>> cheap, expensive = Candidate(1, 8.0, 50, 500, "tf"), Candidate(1, 8.0, 90, 500, "tf")
    >>> kept = {cheap: 0.81, expensive: 0.9}
    >>> Goal(utility=0.8).best(kept) == cheap, Goal(max_loss=1000).best(kept) == expensive
    (True, True)
    """

    utility: float | None = None
    max_loss: float | None = None
    max_loss_per_word: float | None = None

    def __post_init__(self) -> None:
        options = {
            "--target-utility": self.utility,
            "--max-loss": self.max_loss,
            "--max-loss-per-word": self.max_loss_per_word,
        }
        if all(value is None for value in options.values()):
            raise SyntfError(f"no goal: use at least one of {', '.join(options)}")
        for option, value in options.items():
            if value is not None and not value > 0:
                raise SyntfError(f"{option} must be greater than 0, not {value:g}")
        if self.utility is not None and self.utility > 1:
            raise SyntfError(
                "--target-utility is a share of the utility of the texts, such as 0.87: it must "
                f"not be greater than 1, but it is {self.utility:g}"
            )

    def allows(self, candidate: Candidate) -> bool:
        """Tell whether a candidate is within the limits."""
        limits = (
            (candidate.document_loss, self.max_loss),
            (candidate.loss, self.max_loss_per_word),
        )
        return all(limit is None or value <= limit + 1e-9 for value, limit in limits)

    def restrict(self, space: SearchSpace) -> tuple[SearchSpace, float]:
        """Return the part of a space within the limits, and the largest budget."""
        losses, limit = space.losses, self.max_loss_per_word
        if limit is not None and limit < min(losses):
            raise SyntfError(
                f"a loss of {limit:g} per word keeps no utility: the smallest loss per word that "
                f"is tried is {min(losses):g}; raise --max-loss-per-word"
            )
        if limit is not None and limit < max(losses):
            space = replace(space, losses=[*(loss for loss in losses if loss < limit), limit])
        smallest, largest = space.budgets
        if self.max_loss is not None and self.max_loss < smallest:
            raise SyntfError(
                f"a loss of {self.max_loss:g} per document keeps no utility: the smallest that is "
                f"tried is {smallest:g}, {space.lengths[0]} words at {min(losses):g}; raise "
                "--max-loss"
            )
        return space, min(largest, self.max_loss or largest)

    def best(self, kept: KeptUtility) -> Candidate | None:
        """Return the best of the measured candidates, or None if none keeps the utility."""
        allowed = [one for one in kept if self.allows(one)]
        if self.utility is None:
            return max(allowed, key=lambda one: (kept[one], -one.document_loss), default=None)
        sufficient = [one for one in allowed if kept[one] >= self.utility]
        return min(sufficient, key=lambda one: (one.document_loss, -kept[one]), default=None)


def pareto_front(kept: KeptUtility) -> list[Candidate]:
    """Return the candidates that keep more than all others of the same or a smaller loss."""
    front: list[Candidate] = []
    for one in sorted(kept, key=lambda one: (one.document_loss, -kept[one])):
        if not front or kept[one] > kept[front[-1]]:
            front.append(one)
    return front


def search(goal: Goal, space: SearchSpace, measure: Measure) -> dict[Candidate, float]:
    """Return what the candidates of the last rounds keep, with those for the goal among them.

    The search is deterministic for given measurements: if these are remembered, an interrupted
    search continues where it stopped.
    """
    space, limit = goal.restrict(space)
    smallest, largest = space.budgets
    kept: dict[Candidate, float] = {}

    def most_kept_under(budget: float) -> float:
        measured = _halve(space, budget, kept, measure)
        kept.update(measured)
        return max(measured.values())

    if goal.utility is None:  # smaller budgets to learn from, and a larger one for comparison
        for factor in (1 / 4, 1 / 2, 1, 2):
            if smallest <= factor * limit <= largest:
                most_kept_under(factor * limit)
    elif most_kept_under(limit) >= goal.utility:
        low, high = smallest, limit
        while high / low > BUDGET_TOLERANCE:
            middle = sqrt(low * high)
            if most_kept_under(middle) >= goal.utility:
                high = middle
            else:
                low = middle
    return kept


def confirm_finalists(
    goal: Goal, kept: KeptUtility, confirm: Callable[[Candidate], float]
) -> dict[Candidate, float]:
    """Measure the best candidate, and those next to it on the front, with more runs.

    If the best one does not reach the goal any more, candidates with a larger loss follow, on the
    front or not, until one does: the best one may have surpassed them by chance.
    """
    front = pareto_front(kept)
    best = goal.best(kept) or front[-1]
    place = front.index(best)
    confirmed = {one: confirm(one) for one in front[max(0, place - 2) : place + 3]}
    for one in sorted(kept, key=lambda one: one.document_loss):
        chosen = goal.best(confirmed)
        if chosen is not None and chosen.document_loss <= one.document_loss:
            break
        if one.document_loss > best.document_loss and one not in confirmed:
            confirmed[one] = confirm(one)
    return confirmed


def max_measurements(space: SearchSpace) -> int:
    """Return an upper bound on the number of measurements of a search, for a progress bar."""
    smallest, largest = space.budgets
    budgets, ratio = 1, largest / smallest
    while ratio > BUDGET_TOLERANCE:
        budgets, ratio = budgets + 1, sqrt(ratio)
    starts = [FIRST_CANDIDATES] + [LATER_CANDIDATES] * (budgets - 1)
    halved = [start >> number for number in range(ROUNDS) for start in starts]
    return sum(halved) + MAX_NEARBY * 2 * budgets


def _halve(
    space: SearchSpace, budget: float, known: KeptUtility, measure: Measure
) -> dict[Candidate, float]:
    """Measure candidates under a budget and return those of the last round.

    Halving finds the region of the best candidates. In the second and the third round the
    neighbours of the best one join, to find the best place in the region.
    """
    inherited: list[Candidate] = []
    if known:
        closest = min(pareto_front(known), key=lambda one: abs(one.document_loss - budget))
        inherited = space.nearby(closest, budget)
    count = LATER_CANDIDATES if known else FIRST_CANDIDATES
    design = space.design(budget, count)
    candidates = list(dict.fromkeys([*inherited[: count // 2], *design]))[:count]
    kept: dict[Candidate, float] = {}
    for number in range(ROUNDS):
        if number:
            ranked = sorted(candidates, key=kept.__getitem__, reverse=True)
            nearby = space.nearby(ranked[0], budget) if number < 3 else []
            candidates = list(dict.fromkeys([*ranked[: max(1, count >> number)], *nearby]))
        kept = {one: measure(one, number) for one in candidates}
    return kept


def _adjacent(axis: Sequence[Any], value: Any) -> list[Any]:
    """Return the values before and after this one."""
    place = axis.index(value)
    return [*axis[max(0, place - 1) : place], *axis[place + 1 : place + 2]]
