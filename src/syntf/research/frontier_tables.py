"""The frontier as files: CSV for programs and Markdown for the documentation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from math import inf, isfinite
from pathlib import Path

from syntf.core.csv_files import write_table
from syntf.core.exact import shown
from syntf.evaluation.experiment.names import display_name
from syntf.evaluation.experiment.results import (
    Parameters,
    Results,
    best_result,
    strongest_attack,
    topic_floor,
)
from syntf.research.frontier import Point, best_models
from syntf.research.markdown import MISSING, markdown_page, markdown_table
from syntf.research.paper import ABSOLUTE, LOSS, OPTIMUM

TARGET_F1 = ABSOLUTE["syntf"][0]
"""The analyst's F1 in the paper, which a point must reach to be compared with it."""

PAPER_LOSSES = (LOSS, LOSS * (OPTIMUM.length or 0))
CURVE_NAMES = {
    ("document", "embedded"): "SynTF, whole documents",
    ("document", "near in topic"): "the same, near in topic",
    ("privunit", "embedded"): "PrivUnit",
    ("default", "public"): "SynTF, words",
    ("accurate", "public"): "SynTF, accurate",
    ("accurate", "fitted"): "the same, outputs fitted",
    ("paper", "fitted"): "the paper's SynTF",
    ("santext", "public"): "SanText",
    ("k-rr", "public"): "randomised response",
    ("custext", "public"): "CusText",
}
"""The curves in the order of display. *default* is the preset words, the default until 0.1."""

PUBLISHED = (("DP-BART, five news topics", 500.0, 0.405),)
"""Published points of other systems on other corpora: name, loss per document, F1."""


@dataclass(frozen=True, kw_only=True)
class StrongestAttack:
    """The strongest attack in a scenario: a row of ``attacks.csv``.

    `data` is what was attacked: the original texts, or a release with the settings of this name.
    `writeprints` is the F1 of the paper's attacker with the better of its models, `floor` the topic
    floor, and `excess` what the strongest attack gains over the floor.
    """

    data: str
    scenario: str
    attacker: str
    model: str
    runs: int
    f1: float
    f1_std: float | None = None
    writeprints: float | None = None
    floor: float | None = None

    @property
    def excess(self) -> float | None:
        return None if self.floor is None else self.f1 - self.floor


def strongest_attacks(
    measured: Mapping[str, tuple[Results, Parameters]],
) -> list[StrongestAttack]:
    """Return the strongest attack on the original texts and on each release, by scenario."""
    first = next(iter(measured.values()))  # attacks on the original texts are the same in all
    stages = [("original", "original", *first)]
    stages += [(name, "syntf", *evaluated) for name, evaluated in measured.items()]
    attacks = (
        _strongest_attack(results, parameters, data, method, scenario)
        for data, method, results, parameters in stages
        for scenario in results.scenarios
    )
    return [attack for attack in attacks if attack is not None]


def _strongest_attack(
    results: Results, parameters: Parameters, data: str, method: str, scenario: str
) -> StrongestAttack | None:
    strongest = strongest_attack(results, parameters, scenario, method=method)
    floor = topic_floor(results, scenario)
    if strongest is None:
        return None
    writeprints = best_result(
        results.attack(method, model, scenario, parameters) for model in results.models
    )
    same = ("attacker", "model", "runs", "f1", "f1_std")
    return StrongestAttack(
        data=data,
        scenario=scenario,
        **{name: getattr(strongest, name) for name in same},
        writeprints=writeprints.f1 if writeprints else None,
        floor=floor.f1 if floor else None,
    )


def write_points(path: Path, points: Iterable[Point]) -> None:
    """Write ``frontier.csv``, whose columns are the fields of a point."""
    write_table(path, [field.name for field in fields(Point)], map(astuple, points))


def write_attacks(path: Path, attacks: Iterable[StrongestAttack]) -> None:
    """Write ``attacks.csv``: the fields of an attack, and its excess over the topic floor."""
    header = [*(field.name for field in fields(StrongestAttack)), "excess"]
    write_table(path, header, ((*astuple(attack), attack.excess) for attack in attacks))


def frontier_page(points: Sequence[Point], attacks: Sequence[StrongestAttack]) -> str:
    """Return all tables of the documentation page in Markdown."""
    header, *rows = smallest_losses(points)
    return markdown_page(
        [
            f"## The smallest loss for an F1 of {TARGET_F1:.2f}",
            markdown_table(header, rows),
            "## Along the loss",
            points_table([point for point in points if point.varied != "length"]),
            "## Along the length",
            points_table([point for point in points if point.varied == "length"]),
            "## Attacks",
            attacks_table(attacks),
        ]
    )


def smallest_losses(points: Iterable[Point]) -> list[list[str]]:
    """Return, for each curve, the smallest measured losses that reach the F1 of the paper.

    The first row is the header.
    """
    best = best_models(points)
    rows = [
        ["mechanism", "loss per word", "loss per document", "best F1"],
        ["the paper, as published", *map(_loss, PAPER_LOSSES), _f1(TARGET_F1)],
    ]
    for curve, name in CURVE_NAMES.items():
        on_curve = [point for point in best if point.curve == curve]
        if on_curve:
            reached = [point for point in on_curve if point.f1 >= TARGET_F1]
            per_word = [one.loss_per_word for one in reached if one.loss_per_word is not None]
            per_document = [point.loss_per_document for point in reached]
            cells = [
                _loss(min(losses)) if losses else "not reached"
                for losses in (per_word, per_document)
            ]
            if on_curve[0].loss_per_word is None:
                cells[0] = MISSING
            rows.append([name, *cells, _f1(max(point.f1 for point in on_curve))])
    return rows


def points_table(points: Sequence[Point]) -> str:
    """Return a table of all points, with the models side by side."""
    models = sorted({point.model for point in points})
    rows = []
    for curve, name in CURVE_NAMES.items():
        places: dict[tuple[float, ...], dict[str, Point]] = {}
        for one in points:
            if one.curve == curve:
                per_word = one.loss_per_word or 0.0
                place = (per_word, one.epsilon, one.length, one.outputs, one.k or 0)
                places.setdefault(place, {})[one.model] = one
        for _, by_model in sorted(places.items()):
            one = next(iter(by_model.values()))
            stated = "" if isfinite(one.loss_per_document) else f" (states {one.epsilon:g})"
            per_word_text = MISSING if one.loss_per_word is None else _loss(one.loss_per_word)
            rows.append(
                [
                    name,
                    f"{one.outputs:,}" if one.outputs else MISSING,
                    MISSING if one.k is None else str(one.k),
                    str(one.length),
                    per_word_text + stated,
                    _loss(one.loss_per_document),
                    *(_f1_with_deviation(by_model.get(model)) for model in models),
                ]
            )
    header = ["mechanism", "M", "k", "n", "loss per word", "loss per document"]
    return markdown_table([*header, *map(display_name, models)], rows)


def attacks_table(attacks: Sequence[StrongestAttack]) -> str:
    """Return a table with a row for each kind of data and each scenario."""
    data_names = {
        "original": "original text",
        "paper": CURVE_NAMES["paper", "fitted"],
        "accurate": CURVE_NAMES["accurate", "public"],
        "default": CURVE_NAMES["default", "public"],
        "document": CURVE_NAMES["document", "embedded"],
    }
    rows = [
        [
            name,
            display_name(attack.scenario),
            f"{display_name(attack.attacker)}, {display_name(attack.model)}",
            _f1_with_deviation(attack),
            _f1(attack.floor),
            _signed(attack.excess),
            _f1(attack.writeprints),
        ]
        for data, name in data_names.items()
        for attack in attacks
        if attack.data == data
    ]
    header = ["data", "scenario", "strongest attacker", "F1", "topic alone", "excess"]
    return markdown_table([*header, "WritePrints"], rows)


def _f1_with_deviation(one: Point | StrongestAttack | None) -> str:
    if one is None:
        return MISSING
    return _f1(one.f1) + ("" if one.f1_std is None else f" ± {_f1(one.f1_std)}")


def _f1(value: float | None) -> str:
    return MISSING if value is None else f"{value:.3f}".removeprefix("0")


def _signed(value: float | None) -> str:
    return MISSING if value is None else f"{value:+.3f}".replace("-", "−").replace("0.", ".", 1)


def _loss(value: float) -> str:
    return "∞" if value == inf else shown(value, 0 if value >= 100 else 1)
