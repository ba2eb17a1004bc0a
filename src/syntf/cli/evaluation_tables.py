"""The tables that `syntf evaluate`, `tune` and `reproduce` print, and the same for JSON output."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from rich.table import Table

from syntf.cli import output
from syntf.cli.output import escape
from syntf.core.exact import shown
from syntf.evaluation.attack.linkage import LinkageAttack
from syntf.evaluation.experiment.folder import LINKAGE_NAMES
from syntf.evaluation.experiment.names import MODELS
from syntf.evaluation.experiment.results import (
    Parameters,
    Result,
    Results,
    analyst_gain,
    relative_score,
    strongest_attack,
    topic_floor,
)
from syntf.report.verdict import AMBER, GREEN, RED, Verdict

HEADING = "For the owner of the texts: exact figures, not part of any release."
METHODS = {
    "original": "original",
    "vectorised": "vectors",
    "scrubadub": "scrubbed",
    "scrubadub-names": "no names",
    "syntf": "SynTF",
}
LIGHT_STYLES = {GREEN: "bold green", AMBER: "bold yellow", RED: "bold red"}


def print_heading(notices: Iterable[str]) -> None:
    """Print for whom the figures are, and each notice."""
    output.say(HEADING)
    print_notices(notices)


def print_notices(notices: Iterable[str]) -> None:
    """Print each notice in a line of its own."""
    for notice in notices:
        output.warn(notice)


def print_verdict(verdict: Verdict) -> None:
    """Print a line for each traffic light, and what the lines mean."""
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    for line in verdict.lines:
        style = LIGHT_STYLES[line.light]
        table.add_row(f"[{style}]{line.light}[/]", f"[bold]{line.subject}:[/] {line.text}")
    output.say()
    if verdict.lines:
        output.show(table)
    output.say(f"[bold]What this means:[/] {verdict.meaning}")
    output.say()


def print_folder(contents: str, out: Any) -> None:
    """Print what was written to which folder."""
    output.say(f"{contents} written to {escape(str(out))}", wrap=False)


def loss_record(results: Results, parameters: Parameters) -> dict[str, Any]:
    """Return the losses of the evaluated releases, as ``guarantee.json`` has them.

    Releases of whole documents have no loss per word.
    """
    tight = results.loss(parameters)
    per_word = {} if tight is None else {"loss_per_word": {"tight": tight}}
    return {**per_word, "loss_per_document": results.document_loss(parameters) or 0.0}


def loss_text(results: Results, parameters: Parameters) -> str:
    """Return the losses of the evaluated releases in words."""
    per_word, loss = results.loss(parameters), results.document_loss(parameters) or 0.0
    first = "" if per_word is None else f"{shown(per_word, 4)} per word, "
    return f"loss {first}{shown(loss, 2)} per document"


def result_records(results: Results) -> list[dict[str, Any]]:
    """Return the rows of ``results.csv``; a parameter that a method does not have is null."""
    return [
        {name: None if value == "" else value for name, value in asdict(result).items()}
        for result in results
    ]


def comparison_table(
    results: Results,
    parameters: Parameters,
    chance: Mapping[tuple[str, str], float] | None = None,
) -> Table:
    """Return F1 of analyst and attackers at each stage, and how much of it a release keeps.

    Of the attackers, the table has the paper's, the strongest on the release, and the topic floor.
    `chance` is the F1 of random guesses by task and scenario.
    """
    methods = [method for method in METHODS if method in results.methods]
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("F1")
    for name in (*(METHODS[method] for method in methods), "kept", "gain"):
        table.add_column(name, justify="right")

    def add(name: str, row: list[Result | None], gain: str = "") -> None:
        if any(row):
            kept = relative_score(row[-1], row[0])
            table.add_row(name, *map(_f1, row), "–" if kept is None else f"{kept:.0%}", gain)

    def add_chance(name: str, task: str, scenario: str) -> None:
        if (guessed := (chance or {}).get((task, scenario))) is not None:
            table.add_row(name, *[rate(guessed)] * len(methods))

    def attacks(model: str, scenario: str, attacker: str = "writeprints") -> list[Result | None]:
        return [
            results.attack(method, model, scenario, parameters, attacker=attacker)
            for method in methods
        ]

    for model in results.models:
        add(f"analyst {model}", [results.utility(one, model, parameters) for one in methods])
    add_chance("by chance", "utility", "")
    for scenario in results.scenarios:
        table.add_row(f"[bold]{scenario}[/]")
        for model in MODELS:
            gain = analyst_gain(results, parameters, scenario, model)
            shown = "" if gain is None else f"{gain:+.0%}".replace("-", "−")
            add(f"  writeprints {model}", attacks(model, scenario), shown)
        best = strongest_attack(results, parameters, scenario)
        if best and best.attacker != "writeprints":
            add(f"  best: {best.attacker}", attacks(best.model, scenario, best.attacker))
        floor = topic_floor(results, scenario)
        if floor:
            table.add_row("  topic alone", *[_f1(floor)] * len(methods))
        add_chance("  by chance", "attack", scenario)
    return table


def linkage_table(attacks: Iterable[LinkageAttack]) -> Table:
    """Return areas under the curve, and pairs found at 1 % and 0.1 % of false positives."""
    rates: dict[str, list[str]] = {}
    for attack in attacks:
        score = (attack.score.auc, attack.score.tpr_at_1pct, attack.score.tpr_at_01pct)
        rates.setdefault(LINKAGE_NAMES[attack.task, attack.method], []).extend(map(rate, score))
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("linked")
    measured = ("any", "same label")[: max(map(len, rates.values())) // 3]
    for pairs in measured:
        for column in (pairs, "at 1%", "at 0.1%"):
            table.add_column(column, justify="right")
    for name, row in rates.items():
        table.add_row(name, *row)
    table.add_row("by chance", *[".500", ".010", ".001"] * len(measured))
    return table


def first_guess_lines(attacks: Iterable[LinkageAttack]) -> list[str]:
    """Return, in a sentence, how often whoever holds a text guesses its release first."""
    return [
        "whoever holds a text finds its own release at the first guess, among "
        f"{attack.first_guess.among:,}: {attack.first_guess.share:.1%}"
        for attack in attacks
        if attack.first_guess is not None
    ]


def rate(value: float | None) -> str:
    """Return a number from 0 to 1 with three digits; a dash for None."""
    return "–" if value is None else f"{value:.3f}".removeprefix("0")


def _f1(result: Result | None) -> str:
    if result is None:
        return "–"
    deviation = "" if result.f1_std is None else f" ± {result.f1_std:.2f}".replace("0.", ".")
    return rate(result.f1) + deviation
