"""The paper's tables in Markdown: what was measured here, with the paper's numbers beside it.

What was not run is a dash.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from syntf.evaluation.experiment import paper
from syntf.evaluation.experiment.paper import Cell, label
from syntf.evaluation.experiment.results import Result, Results, best, gain, least_gain, relative

NONE = "–"
SCORES = ("f1", "precision", "recall")
STAGES = ("original", "vectorised", "syntf")
NAMES = {
    "epsilon": "ε",
    "length": "*n*",
    "spelling": "*s*",
    "morphology": "morphology",
    "synsets": "synsets",
}
"""The parameters of a cell, as the paper calls them."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Whom an attacker chooses among: how many authors, and how many messages of theirs.

    Parameters
    ----------
    scenario : str
    authors : int
    min_train, min_test : int
        Messages that each of the authors has at least.
    train, test : int
        Messages of all of them.

    Examples
    --------
    >>> from syntf.evaluation.experiment.tables import Scenario, scenarios
    >>> two = Scenario(scenario="two", authors=2, min_train=8, min_test=3, train=19, test=6)
    >>> scenarios([two]).splitlines()[-1]
    '| two | 2 | 8 | 3 | 19 | 6 |'
    """

    scenario: str
    authors: int
    min_train: int
    min_test: int
    train: int
    test: int


def scenarios(rows: Iterable[Scenario], *, beside_paper: bool = False) -> str:
    """Table 1: authors, messages per author at least, messages."""
    lines = []
    for row in rows:
        theirs = paper.SCENARIOS.get(row.scenario) if beside_paper else None
        published = theirs and [str(theirs.authors), str(theirs.min_train), str(theirs.min_test)]
        ours = _beside([str(row.authors), str(row.min_train), str(row.min_test)], published)
        lines.append([label(row.scenario), *ours, f"{row.train:,}", f"{row.test:,}"])
    first = "scenario, here (paper)" if beside_paper else "scenario"
    per_author = ["train per author ≥", "test per author ≥"]
    return markdown_table([first, "authors", *per_author, "train", "test"], lines)


def authors(count: int, frequent: int) -> str:
    """How many authors there are, and how many of them with 20 messages or more."""
    lines = [
        ["authors", f"{count:,}", f"{paper.AUTHORS:,}"],
        ["with 20 messages or more", f"{frequent:,}", f"{paper.FREQUENT_AUTHORS:,}"],
    ]
    return markdown_table(["", "here", "paper"], lines)


def parameters(results: Results) -> str:
    """Table 2: the parameters run in the paper and here, and the best of them by the criterion."""
    optima = [(model, best(results, model)) for model in results.models]
    chosen = [paper.OPTIMUM, *(cell for _, cell in optima)]
    lines = []
    for field, theirs in paper.GRID.items():
        ours = {getattr(cell, field) for cell in results.cells} - {None, ""}
        row = [NAMES[field], _listed(theirs), _listed(sorted(ours))]
        lines.append([*row, *(_parameter(getattr(cell, field, None)) for cell in chosen)])
    size = prod(map(len, paper.GRID.values()))
    runs = {each.runs for made in results.cells.values() for each in made}
    none = [NONE] * len(chosen)
    lines.append(["cells", str(size), str(len(results.cells)), *none])
    lines.append(["runs of each", str(paper.RUNS), _listed(sorted(runs)), *none])
    losses = [_number(results.loss(cell) if cell else None, 2) for _, cell in optima]
    lines.append(["loss per word ℓ", NONE, NONE, str(paper.LOSS), *losses])
    least = [_percent(least_gain(results, cell, model) if cell else None) for model, cell in optima]
    lines.append(["least gain β_U − β_A", NONE, NONE, NONE, *least])
    bests = [f"best here, {label(model)}" for model in results.models]
    return markdown_table(["parameter", "paper", "here", "optimum, paper", *bests], lines)


def cells(results: Results, model: str) -> str:
    """Every cell that was run, by its least gain: the first is the best by the criterion."""
    chosen, original = best(results, model), results.utility("original", model)
    found = [(least_gain(results, cell, model), cell) for cell in results.cells]
    found.sort(key=lambda each: (each[0] is None, -(each[0] or 0)))
    lines = []
    for least, cell in found:
        gains = [gain(results, cell, scenario, model) for scenario in results.scenarios]
        notes = ["best"] * (cell == chosen) + ["the paper's"] * (cell == paper.OPTIMUM)
        lines.append(
            [
                *map(_parameter, cell),
                _number(results.loss(cell), 2),
                _percent(relative(results.utility("syntf", model, cell), original)),
                *(_percent(each.gain if each else None) for each in gains),
                _percent(least),
                ", ".join(notes),
            ]
        )
    gains_in = [f"gain, {label(scenario)}" for scenario in results.scenarios]
    return markdown_table([*NAMES.values(), "ℓ", "β_U", *gains_in, "least gain", ""], lines)


def comparison(
    results: Results,
    cell: Cell,
    scenario: str,
    model: str,
    *,
    attacker: str = "writeprints",
    beside_paper: bool = False,
) -> str:
    """Table 3: scores on original text, SynTF's and scrubbed; absolute, then relative.

    The gain is the analyst's F1 less the attacker's; of relative scores, β_U − β_A.
    """

    def pair(method: str) -> tuple[Result | None, Result | None]:
        attack = results.attack(method, model, scenario, cell, attacker=attacker)
        return results.utility(method, model, cell), attack

    original = pair("original")
    lines = []
    for method in ("original", "syntf", "scrubadub", "scrubadub-names"):
        ours = pair(method)
        shown = [_score(each, score) for each in ours for score in SCORES]
        f1 = [each.f1 if each else None for each in ours]
        shown.append(_number(_difference(*f1)))
        theirs = paper.ABSOLUTE.get(method) if beside_paper else None
        name = label(method) + ", absolute" * (method != "original")
        lines.append([name, *_beside(shown, theirs and [_number(value, 2) for value in theirs])])
    for method in ("syntf", "scrubadub", "scrubadub-names"):
        both = list(zip(pair(method), original, strict=True))
        betas = [relative(*each, score) for each in both for score in SCORES]
        shown = [_percent(beta) for beta in [*betas, _difference(betas[0], betas[3])]]
        theirs = paper.RELATIVE.get(method) if beside_paper else None
        name = f"{label(method)}, relative"
        lines.append([name, *_beside(shown, theirs and [_percent(value, 0) for value in theirs])])
    first = "method, here (paper)" if beside_paper else "method"
    return markdown_table([first, "utility F1", "P", "R", "attack F1", "P", "R", "gain"], lines)


def attackers(results: Results, cell: Cell) -> str:
    """F1 of each attacker in each scenario; on original text, words are in their own order."""
    lines = []
    for model, method, attacker in product(results.models, STAGES, results.attackers):
        found = [
            results.attack(method, model, scenario, cell, attacker=attacker)
            for scenario in results.scenarios
        ]
        if any(each and each.attacker == attacker for each in found):
            who = label(attacker).partition(",")[0] if method == "original" else label(attacker)
            scores = [_score(each, "f1") for each in found]
            lines.append([label(model), label(method), who, *scores])
    return markdown_table(["model", "data", "attacker", *map(label, results.scenarios)], lines)


def _difference(utility: float | None, attack: float | None) -> float | None:
    return None if utility is None or attack is None else utility - attack


def _score(result: Result | None, score: str) -> str:
    if result is None:
        return NONE
    deviation = "" if score != "f1" or result.f1_std is None else f" ± {result.f1_std:.3f}"
    return f"{getattr(result, score):.3f}{deviation}"


def _number(value: float | None, digits: int = 3) -> str:
    return NONE if value is None else f"{value:z.{digits}f}".replace("-", "−")


def _percent(share: float | None, digits: int = 1) -> str:
    return NONE if share is None else f"{_number(100 * share, digits)} %"


def _listed(values: Iterable[float | str]) -> str:
    return ", ".join(map(_parameter, values)) or NONE


def _parameter(value: float | str | None) -> str:
    if value is None or value == "":
        return NONE
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:g}"


def _beside(ours: Sequence[str], theirs: Sequence[str] | None) -> list[str]:
    """Each of ours, with the paper's in brackets."""
    both = zip(ours, theirs or [""] * len(ours), strict=True)
    return [f"{one} ({other})" if other else one for one, other in both]


def markdown_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table; without lines, one of dashes."""
    top, *rest = (f"| {' | '.join(row)} |" for row in [head, *(lines or [[NONE] * len(head)])])
    return "\n".join([top, "|" + "---|" * len(head), *rest, ""])
