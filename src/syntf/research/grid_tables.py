"""What the search of the paper's grid found, in sentences and tables."""

from collections import Counter
from math import prod
from statistics import fmean

from syntf.evaluation.experiment.names import display_name
from syntf.evaluation.experiment.results import (
    Parameters,
    Result,
    Results,
    analyst_gain,
    relative_score,
)
from syntf.research import paper
from syntf.research.criterion import (
    best_parameters,
    number_of_runs,
    rank_parameters,
    smallest_gain,
)
from syntf.research.markdown import MISSING, markdown_page, markdown_table
from syntf.research.paper import OPTIMUM
from syntf.research.paper_tables import (
    SYMBOLS,
    format_parameter,
    format_percent,
    gains_table,
)

SCENARIO, MODEL = "top10-any", "nb"
"""The scenario and the classifier of the paper's Table 3."""


def summary_table(results: Results) -> str:
    """Return our most important numbers beside those of the paper."""
    original, names = (
        (results.utility(method, MODEL), results.attack(method, MODEL, SCENARIO))
        for method in ("original", "scrubadub-names")
    )
    utility = results.utility("syntf", MODEL, OPTIMUM)
    attack = results.attack("syntf", MODEL, SCENARIO, OPTIMUM)
    loss = results.loss(OPTIMUM)
    theirs = paper.ABSOLUTE
    scores = "/".join(map(_short, theirs["original"][:3]))
    rows = [
        ["utility on original text, naive Bayes, F1/P/R", _all_scores(original[0]), scores],
        ["attack on original text, Top 10/Any, naive Bayes", _f1(original[1]),
         _short(theirs["original"][3])],
        [f"loss per word at ε = {OPTIMUM.epsilon:g}", MISSING if loss is None else f"{loss:.2f}",
         str(paper.LOSS)],
        ["utility at the optimum", _f1(utility), _short(theirs["syntf"][0])],
        ["attack at the optimum, Top 10/Any", _f1(attack), _short(theirs["syntf"][3])],
        ["scrubbing with names removed: utility, attack", ", ".join(map(_f1, names)),
         ", ".join(_short(theirs["scrubadub-names"][place]) for place in (0, 3))],
    ]  # fmt: skip
    return markdown_table(["", "here", "paper"], rows)


def summary_sentence(results: Results) -> str:
    """Say what attacker and analyst keep at the paper's optimum, beside the paper's numbers."""
    original, release = (
        (
            results.utility(method, MODEL, OPTIMUM),
            results.attack(method, MODEL, SCENARIO, OPTIMUM),
        )
        for method in ("original", "syntf")
    )
    kept = [relative_score(*pair) for pair in zip(release, original, strict=True)]
    if None in kept:
        return "The optimum of the paper was not run."
    utility, attack = (float(share or 0) for share in kept)
    theirs = paper.RELATIVE["syntf"]
    return (
        f"At the paper's optimum, the attacker keeps {100 * attack:.0f} % of its score here, not "
        f"{100 * theirs[3]:.0f} %, and the analyst's gain over it is "
        f"{100 * (utility - attack):.0f} points, not {100 * theirs[6]:.0f} "
        "(naive Bayes, Top 10/Any)."
    )


def spelling_section(results: Results) -> str:
    """Return the gain in each scenario for each s, with the paper's optimum otherwise."""
    rows = []
    for model in results.models:
        for value in paper.GRID["spelling"]:
            parameters = OPTIMUM._replace(spelling=value)
            gains = [
                format_percent(analyst_gain(results, parameters, scenario, model))
                for scenario in results.scenarios
            ]
            rows.append([display_name(model), format_parameter(value), *gains])
    header = ["model", SYMBOLS["spelling"], *map(display_name, results.scenarios)]
    introduction = "In the paper, the analyst's gain becomes positive at s = 0.3. The gains here:"
    return markdown_page([introduction, markdown_table(header, rows)])


def scrubbing_section(results: Results) -> str:
    """Return what analyst and attackers keep with SynTF at the optimum and with scrubbing."""
    rows = []
    for model in results.models:
        original = results.utility("original", model)
        for method in ("syntf", "scrubadub", "scrubadub-names"):
            utility = results.utility(method, model, OPTIMUM)
            attacks = [
                relative_score(
                    results.attack(method, model, scenario, OPTIMUM),
                    results.attack("original", model, scenario),
                )
                for scenario in results.scenarios
            ]
            kept = map(format_percent, [relative_score(utility, original), *attacks])
            rows.append([display_name(model), display_name(method), *kept])
    attackers = [f"β_A, {display_name(scenario)}" for scenario in results.scenarios]
    table = markdown_table(["model", "method", "β_U", *attackers], rows)
    return markdown_page([table, "Scrubbing has no guarantee."])


COMMAND = """\
```sh
syntf reproduce --data-home DIR --out reproduction --grid full --best 20
```
"""


def criterion_sentence(results: Results) -> str:
    """Say among which combinations the best ones were looked for."""
    runs = [number_of_runs(results, one) for one in results.by_parameters]
    most = max(runs, default=0)
    return (
        "*Best here* are the parameters whose smallest gain over the four scenarios is the "
        "largest, the paper's criterion, among those with the most runs: "
        f"{runs.count(most)} of {len(runs)} combinations have {most}."
    )


def grid_section(results: Results) -> str:
    """Return what was run, and the means over all combinations with a value of a parameter."""
    return markdown_page(
        [
            grid_sentence(results),
            COMMAND,
            "The command runs every combination once, chooses the 20 best of each classifier by "
            "this run, and runs these ten times, as it does with every ε and every *s* at the "
            "paper's optimum. Lengths that share a table are drawn from it in one pass; their "
            "draws are independent. Means over all combinations with the same value, whatever "
            "the other parameters:",
            effects_table(results),
        ]
    )


def best_section(results: Results) -> str:
    """Return the gains of the combinations that were run most often."""
    most = max((number_of_runs(results, one) for one in results.by_parameters), default=0)
    return markdown_page(
        [
            f"The combinations that were run {_times(most)}, with naive Bayes. Those that are not "
            "part of the figures were chosen by the first of these runs.",
            gains_table(results, MODEL, min_runs=most),
        ]
    )


def grid_sentence(results: Results) -> str:
    """Say how many combinations were run how often, and where the paper's optimum stands.

    It is compared only with combinations that were run as often: of hundreds that were run once,
    many are above it by luck.
    """
    size = prod(map(len, paper.GRID.values()))
    runs = Counter(number_of_runs(results, one) for one in results.by_parameters)
    often = ", ".join(
        f"{count:,} of them {_times(number)}" for number, count in sorted(runs.items())
    )
    sentences = [f"Of {size} combinations, {len(results.by_parameters)} were run: {often}."]
    for model in results.models:
        best = best_parameters(results, model)
        most = max(runs)
        ranked = [
            one for one in rank_parameters(results, model) if number_of_runs(results, one) == most
        ]
        if best is None or OPTIMUM not in ranked:
            continue
        gains = [format_percent(smallest_gain(results, one, model)) for one in (best, OPTIMUM)]
        sentences.append(
            f"With {_classifier(model)}, the best combination that was run most often is "
            f"{_describe(best)}, with a smallest gain of {gains[0]}; the paper's optimum has "
            f"{gains[1]} and is number {ranked.index(OPTIMUM) + 1} of these {len(ranked)}."
        )
    return " ".join(sentences)


def effects_table(results: Results) -> str:
    """Return, for each value of each parameter, means over all combinations with this value."""
    rows = []
    for name, values in paper.GRID.items():
        for value in values:
            own = [one for one in results.by_parameters if getattr(one, name) == value]
            cells = []
            for model in results.models:
                original = results.utility("original", model)
                utilities = [
                    relative_score(results.utility("syntf", model, one), original) for one in own
                ]
                gains = [smallest_gain(results, one, model) for one in own]
                cells += [_mean(utilities), _mean(gains)]
            rows.append([SYMBOLS[name], format_parameter(value), str(len(own)), *cells])
    columns = [
        f"{kind}, {display_name(model)}"
        for model in results.models
        for kind in ("β_U", "smallest gain")
    ]
    return markdown_table(["parameter", "value", "combinations", *columns], rows)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _mean(shares: list[float | None]) -> str:
    known = [share for share in shares if share is not None]
    return format_percent(fmean(known)) if known else MISSING


def _describe(parameters: Parameters) -> str:
    values = zip(SYMBOLS.values(), parameters, strict=True)
    return ", ".join(f"{symbol} = {format_parameter(value)}" for symbol, value in values)


def _classifier(model: str) -> str:
    name = display_name(model)
    return f"the {name}" if "SVM" in name else name


def _short(score: float, digits: int = 2) -> str:
    return f"{score:.{digits}f}".removeprefix("0")


def _f1(result: Result | None) -> str:
    if result is None:
        return MISSING
    spread = "" if result.f1_std is None else f" ± {_short(result.f1_std, 3)}"
    return _short(result.f1, 3) + spread


def _all_scores(result: Result | None) -> str:
    if result is None:
        return MISSING
    return "/".join(_short(score, 3) for score in (result.f1, result.precision, result.recall))
