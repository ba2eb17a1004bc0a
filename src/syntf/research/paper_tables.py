"""The paper's tables in Markdown, measured again, with the paper's numbers in parentheses.

A dash stands for what was not run.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod

import numpy as np

from syntf.evaluation.attack.scenarios import AttackScenario
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.experiment.names import display_name
from syntf.evaluation.experiment.results import (
    SCORES,
    Parameters,
    Result,
    Results,
    analyst_gain,
    relative_score,
)
from syntf.evaluation.experiment.scrubbing import scrubber_version
from syntf.research import paper
from syntf.research.criterion import best_parameters, number_of_runs, rank_parameters, smallest_gain
from syntf.research.markdown import MISSING, markdown_page, markdown_table
from syntf.research.paper import OPTIMUM

STAGES = ("original", "vectorised", "syntf")
SYMBOLS = {
    "epsilon": "ε",
    "length": "*n*",
    "spelling": "*s*",
    "morphology": "morphology",
    "synsets": "synsets",
}
"""The parameters, as the paper calls them."""


def paper_page(
    corpus: LabelledCorpus, scenarios: Sequence[AttackScenario], results: Results, tagger: str
) -> str:
    """Return all tables of the paper with our numbers, and the paper's in parentheses."""
    known = corpus.authors[corpus.train & (corpus.authors != "")]
    counts = np.unique(known, return_counts=True)[1]
    parts = [
        "# The paper's tables, measured again",
        "Our numbers, then the paper's in parentheses where it has them. F1, P and R are averages "
        "weighted by class size; ± is the standard deviation over runs. Part-of-speech tags: "
        f"{tagger}. Scrubbing: {scrubber_version()}.",
        "## Table 1: attack scenarios",
        scenarios_table(scenarios, beside_paper=True),
        authors_table(len(counts), int((counts >= 20).sum())),
        "## Table 2: parameters",
        parameters_table(results),
        "## Table 3: results, Top 10/Any, naive Bayes",
        comparison_table(results, OPTIMUM, "top10-any", "nb", beside_paper=True),
    ]
    for model, scenario in product(results.models, results.scenarios):
        if (scenario, model) != ("top10-any", "nb"):
            parts += [
                f"## {display_name(scenario)}, {display_name(model)}",
                comparison_table(results, OPTIMUM, scenario, model),
            ]
    parts += ["## Attackers, by the order of words", attackers_table(results, OPTIMUM)]
    for model in results.models:
        parts += [f"## All parameters, {display_name(model)}", gains_table(results, model)]
    return markdown_page(parts)


def scenarios_table(scenarios: Iterable[AttackScenario], *, beside_paper: bool = False) -> str:
    """Return Table 1: authors, messages per author at least, and all messages."""
    rows = []
    for scenario in scenarios:
        theirs = paper.SCENARIOS.get(scenario.name) if beside_paper else None
        ours = (len(scenario.authors), scenario.min_train, scenario.min_test)
        published = theirs and (theirs.authors, theirs.min_train, theirs.min_test)
        cells = _beside([*map(str, ours)], published and [*map(str, published)])
        sizes = (f"{len(scenario.train):,}", f"{len(scenario.test):,}")
        rows.append([display_name(scenario.name), *cells, *sizes])
    first = "scenario, here (paper)" if beside_paper else "scenario"
    per_author = ["train per author ≥", "test per author ≥"]
    return markdown_table([first, "authors", *per_author, "train", "test"], rows)


def authors_table(count: int, frequent: int) -> str:
    """Return how many authors there are, and how many of them have 20 messages or more."""
    rows = [
        ["authors", f"{count:,}", f"{paper.AUTHORS:,}"],
        ["with 20 messages or more", f"{frequent:,}", f"{paper.FREQUENT_AUTHORS:,}"],
    ]
    return markdown_table(["", "here", "paper"], rows)


def parameters_table(results: Results) -> str:
    """Return Table 2: the parameters run in the paper and here, and the best by its criterion."""
    optima = [(model, best_parameters(results, model)) for model in results.models]
    chosen = [OPTIMUM, *(best for _, best in optima)]
    rows = []
    for field, theirs in paper.GRID.items():
        ours = {getattr(one, field) for one in results.by_parameters} - {None, ""}
        row = [SYMBOLS[field], _list_values(theirs), _list_values(sorted(ours))]
        rows.append([*row, *(format_parameter(getattr(one, field, None)) for one in chosen)])
    size = prod(map(len, paper.GRID.values()))
    runs = Counter(number_of_runs(results, one) for one in results.by_parameters)
    missing = [MISSING] * len(chosen)
    rows.append(["combinations", str(size), str(len(results.by_parameters)), *missing])
    rows.append(["runs of each", str(paper.RUNS), _list_runs(runs), *missing])
    losses = [_number(results.loss(best) if best else None, 2) for _, best in optima]
    rows.append(["loss per word ℓ", MISSING, MISSING, str(paper.LOSS), *losses])
    gains = [
        format_percent(smallest_gain(results, best, model) if best else None)
        for model, best in optima
    ]
    rows.append(["smallest gain β_U − β_A", MISSING, MISSING, MISSING, *gains])
    bests = [f"best here, {display_name(model)}" for model in results.models]
    return markdown_table(["parameter", "paper", "here", "optimum, paper", *bests], rows)


def gains_table(results: Results, model: str, *, min_runs: int = 0) -> str:
    """Return the parameters that were run at least `min_runs` times, the best gains first.

    Those with more runs come before those with fewer, whose gains are less certain.
    """
    chosen, original = best_parameters(results, model), results.utility("original", model)
    ranked = dict.fromkeys([*rank_parameters(results, model), *results.by_parameters])
    ordered = sorted(ranked, key=lambda one: -number_of_runs(results, one))
    rows = []
    for parameters in ordered:
        if number_of_runs(results, parameters) < min_runs:
            break
        gains = [
            analyst_gain(results, parameters, scenario, model) for scenario in results.scenarios
        ]
        notes = ["best"] * (parameters == chosen) + ["the paper's"] * (parameters == OPTIMUM)
        utility = relative_score(results.utility("syntf", model, parameters), original)
        rows.append(
            [
                *map(format_parameter, parameters),
                str(number_of_runs(results, parameters)),
                _number(results.loss(parameters), 2),
                format_percent(utility),
                *map(format_percent, gains),
                format_percent(smallest_gain(results, parameters, model)),
                ", ".join(notes),
            ]
        )
    gain_columns = [f"gain, {display_name(scenario)}" for scenario in results.scenarios]
    header = [*SYMBOLS.values(), "runs", "ℓ", "β_U", *gain_columns, "smallest gain", ""]
    return markdown_table(header, rows)


def comparison_table(
    results: Results,
    parameters: Parameters,
    scenario: str,
    model: str,
    *,
    attacker: str = "writeprints",
    beside_paper: bool = False,
) -> str:
    """Return Table 3: scores on original text, releases and scrubbed texts.

    Absolute scores come first, then scores relative to the original text. The gain is the
    analyst's F1 minus the attacker's; of relative scores, β_U − β_A.
    """

    def utility_and_attack(method: str) -> tuple[Result | None, Result | None]:
        attack = results.attack(method, model, scenario, parameters, attacker=attacker)
        return results.utility(method, model, parameters), attack

    original = utility_and_attack("original")
    rows = []
    for method in ("original", "syntf", "scrubadub", "scrubadub-names"):
        pair = utility_and_attack(method)
        cells = [_score(one, score) for one in pair for score in SCORES]
        cells.append(_number(_difference(*(one.f1 if one else None for one in pair))))
        theirs = paper.ABSOLUTE.get(method) if beside_paper else None
        name = display_name(method) + ", absolute" * (method != "original")
        rows.append([name, *_beside(cells, theirs and [_number(value, 2) for value in theirs])])
    for method in ("syntf", "scrubadub", "scrubadub-names"):
        pairs = list(zip(utility_and_attack(method), original, strict=True))
        betas = [relative_score(*pair, score) for pair in pairs for score in SCORES]
        cells = [format_percent(beta) for beta in [*betas, _difference(betas[0], betas[3])]]
        theirs = paper.RELATIVE.get(method) if beside_paper else None
        name = f"{display_name(method)}, relative"
        rows.append(
            [name, *_beside(cells, theirs and [format_percent(value, 0) for value in theirs])]
        )
    first = "method, here (paper)" if beside_paper else "method"
    return markdown_table([first, "utility F1", "P", "R", "attack F1", "P", "R", "gain"], rows)


def attackers_table(results: Results, parameters: Parameters) -> str:
    """Return the F1 of each attacker in each scenario.

    On original text the words are in their own order, so the name of the attacker has no order.
    """
    rows = []
    for model, method, attacker in product(results.models, STAGES, results.attackers):
        attacks = [
            results.attack(method, model, scenario, parameters, attacker=attacker)
            for scenario in results.scenarios
        ]
        if any(one and one.attacker == attacker for one in attacks):
            name = display_name(attacker)
            name = name.partition(",")[0] if method == "original" else name
            scores = [_score(one, "f1") for one in attacks]
            rows.append([display_name(model), display_name(method), name, *scores])
    return markdown_table(
        ["model", "data", "attacker", *map(display_name, results.scenarios)], rows
    )


def _difference(utility: float | None, attack: float | None) -> float | None:
    return None if utility is None or attack is None else utility - attack


def _score(result: Result | None, score: str) -> str:
    if result is None:
        return MISSING
    deviation = "" if score != "f1" or result.f1_std is None else f" ± {result.f1_std:.3f}"
    return f"{getattr(result, score):.3f}{deviation}"


def _number(value: float | None, digits: int = 3) -> str:
    return MISSING if value is None else f"{value:z.{digits}f}".replace("-", "−")


def format_percent(share: float | None, digits: int = 1) -> str:
    """Return a share as a percentage with a true minus sign; a dash for None."""
    return MISSING if share is None else f"{_number(100 * share, digits)} %"


def _list_values(values: Iterable[float | str]) -> str:
    return ", ".join(map(format_parameter, values)) or MISSING


def _list_runs(runs: Mapping[int, int]) -> str:
    """Return the numbers of runs, with the number of combinations of each if they differ."""
    if len(runs) < 2:
        return _list_values(runs)
    return ", ".join(f"{one} ({runs[one]} of them)" for one in sorted(runs))


def format_parameter(value: float | str | None) -> str:
    """Return the value of a parameter; a dash for one that a method does not have."""
    if value is None or value == "":
        return MISSING
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:g}"


def _beside(ours: Sequence[str], theirs: Sequence[str] | None) -> list[str]:
    """Return each of our numbers, with the paper's in parentheses."""
    pairs = zip(ours, theirs or [""] * len(ours), strict=True)
    return [f"{one} ({other})" if other else one for one, other in pairs]
