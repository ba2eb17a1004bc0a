"""The paper's figures that `syntf evaluate` does not draw."""

from math import nan
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from syntf.evaluation.experiment.names import display_name
from syntf.evaluation.experiment.plots import (
    LINES,
    Bar,
    describe_parameters,
    draw_bars,
    name_bars,
    panel_grid,
)
from syntf.evaluation.experiment.results import Parameters, Results


def attackers(results: Results, parameters: Parameters) -> Figure:
    """Draw the F1 of every attacker on a release, by the order in which it puts words."""
    names = results.attackers

    def draw(axes: Axes, model: str, scenario: str) -> None:
        bars = []
        for place, attacker in enumerate(names):
            original, vectors, release = (
                results.attack(method, model, scenario, parameters, attacker=attacker)
                for method in LINES
            )
            for level in (original, vectors):
                if level:
                    style: dict[str, Any] = {"linestyles": LINES[level.method]}
                    style["label"] = display_name(level.method)
                    axes.hlines(level.f1, place - 0.4, place + 0.4, "black", **style)
            height = None
            if release:
                height = (release.f1, nan if release.f1_std is None else release.f1_std)
            bars.append(Bar(place, height, "attack", display_name("syntf")))
        draw_bars(axes, bars, "{:.2f}".format)

    described = describe_parameters(parameters)
    title = f"F1 of the attackers, by the order they put words in ({described})"
    width = max(2.6, 0.85 * len(names))
    figure, grid = panel_grid(results, title, ("", "F1 of the attacker"), draw, width)
    name_bars(grid[0, 0], [display_name(name).rpartition(", ")[2] for name in names])
    return figure
