"""Figures of an evaluation: a row of panels for each classifier, a panel for each scenario.

Analyst and attacker differ in colour, in a green and a red that colour-blind people can tell apart,
and in marker or hatching for print. What was not run appears as a dash, or as the words "not run".
"""

import textwrap
from collections.abc import Callable, Sequence
from math import nan
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from syntf.evaluation.experiment.names import MODELS, display_name
from syntf.evaluation.experiment.results import (
    Parameters,
    Result,
    Results,
    analyst_gain,
    relative_score,
)
from syntf.evaluation.figures import GREY, SMALL_FONT, style_axes

COLOURS = {"utility": "#009E73", "attack": "#D55E00"}
MARKERS = {"utility": "o", "attack": "s"}
HATCHES = {"utility": "", "attack": "//"}
LINES = {"original": ":", "vectorised": "--", "syntf": "-"}
TEXT_BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4}
"""Drawn behind texts, so that no line crosses them."""

DrawPanel = Callable[[Axes, str, str], None]
"""Draws the panel of a model and a scenario."""


def performance(results: Results, parameters: Parameters) -> Figure:
    """Draw β_U and β_A over ε, with the loss on top; other parameters are as given."""
    series = varied_parameters(results, parameters, "epsilon")
    epsilons = [one.epsilon or 0.0 for one in series]
    low, high = min(epsilons, default=0.0), max(epsilons, default=0.0)
    margin = 0.06 * (high - low) or 1.0
    ends = [low - margin, high + margin]

    def draw(axes: Axes, model: str, scenario: str) -> None:
        notes = []
        for task in COLOURS if scenario else ["utility"]:
            betas = [_beta(results, "syntf", task, model, scenario, one) for one in series]
            points = [(e, *beta) for e, beta in zip(epsilons, betas, strict=True) if beta]
            original = _find(results, "original", task, model, scenario, parameters)
            if points and original:
                if not axes.lines:
                    name = display_name("original")
                    axes.plot(ends, [1, 1], LINES["original"], color=GREY, label=name)
                vectors = _beta(results, "vectorised", task, model, scenario, parameters)
                _draw_line(axes, task, points, ends, vectors[0] if vectors else None)
                notes.append(f"{display_name(task)} {original.f1:.2f}")
            else:
                notes.append(f"{display_name(task)} not run")
        if axes.lines:
            write_note(axes, "F1 on text: " + ", ".join(notes), 0.98)
        else:
            write_note(axes, "not run")

    described = describe_parameters(parameters, "epsilon")
    title = f"What analyst and attacker keep of their F1, over ε ({described})"
    labels = "privacy parameter ε", "F1 relative to original text"
    figure, grid = panel_grid(results, title, labels, draw)
    low, high = grid[0, 0].get_ylim()
    grid[0, 0].set_ylim(low, high + 0.08 * (high - low))  # room for the notes above the lines
    step = 1 + len(series) // 6
    grid[0, 0].set_xticks(epsilons[::step])
    losses = [results.loss(one) for one in series[::step]]
    texts = ["" if loss is None else f"{loss:.1f}" for loss in losses]
    for axes in grid[0] if any(texts) else ():
        top = axes.secondary_xaxis("top")
        top.set_xticks(epsilons[::step], texts)
        top.set_xlabel("loss per word ℓ")
    grid[0, 0].yaxis.set_major_formatter(format_percent)
    return figure


def _draw_line(
    axes: Axes,
    task: str,
    points: Sequence[tuple[float, float, float]],
    ends: Sequence[float],
    vectors: float | None,
) -> None:
    """Draw β over ε with a band of its standard deviation, and β of term vectors as a level."""
    style: dict[str, Any] = {"color": COLOURS[task], "marker": MARKERS[task], "ms": 5}
    if vectors is not None:
        name = f"{display_name(task)}, {display_name('vectorised')}"
        axes.plot(ends, [vectors] * 2, LINES["vectorised"], mfc="white", label=name, **style)
    x, y, spread = np.array(points).T
    name = f"{display_name(task)}, {display_name('syntf')}"
    name += " ± std. dev." * bool(np.isfinite(spread).any())
    axes.plot(x, y, LINES["syntf"], label=name, **style)
    axes.fill_between(x, y - spread, y + spread, color=COLOURS[task], alpha=0.2, lw=0)
    if len(points) == 1:  # the band has no width there
        axes.errorbar(x, y, spread, color=COLOURS[task], capsize=4)


def spelling(results: Results, parameters: Parameters) -> Figure:
    """Draw the gain β_U − β_A over the spelling factor s; other parameters are as given."""
    series = varied_parameters(results, parameters, "spelling")

    def draw(axes: Axes, model: str, scenario: str) -> None:
        bars = []
        for place, one in enumerate(series):
            gain = analyst_gain(results, one, scenario, model)
            task = "attack" if (gain or 0) < 0 else "utility"
            height = None if gain is None else (gain, nan)
            bars.append(Bar(place, height, task, f"{display_name(task)} is better off"))
        draw_bars(axes, bars, lambda gain: f"{100 * gain:+z.1f}".replace("-", "−"))
        axes.axhline(0, color=GREY, linewidth=0.8)

    described = describe_parameters(parameters, "spelling")
    title = f"What the analyst gains over the attacker, by s ({described})"
    labels = "factor s of bigram overlap", "gain β$_U$ − β$_A$"
    figure, grid = panel_grid(results, title, labels, draw)
    name_bars(grid[0, 0], [f"{one.spelling:g}" for one in series])
    grid[0, 0].yaxis.set_major_formatter(format_percent)
    return figure


def scrubbing(results: Results, parameters: Parameters) -> Figure:
    """Draw β_U and β_A of a release and of scrubbed texts."""
    methods = ["syntf", "scrubadub", "scrubadub-names"]

    def draw(axes: Axes, model: str, scenario: str) -> None:
        bars = []
        for place, method in enumerate(methods):
            for task, side in (("utility", -0.21), ("attack", 0.21)):
                beta = _beta(results, method, task, model, scenario, parameters)
                bars.append(Bar(place + side, beta, task, display_name(task)))
        draw_bars(axes, bars, "{:.0%}".format, width=0.4)
        if axes.patches:
            name = display_name("original")
            axes.axhline(1, color=GREY, linestyle=LINES["original"], label=name)

    described = describe_parameters(parameters)
    title = f"What analyst and attacker keep of their F1: SynTF ({described}) and scrubbing"
    figure, grid = panel_grid(results, title, ("", "F1 relative to original text"), draw)
    name_bars(grid[0, 0], [display_name(method) for method in methods])
    grid[0, 0].yaxis.set_major_formatter(format_percent)
    return figure


class Bar(NamedTuple):
    """A bar: its height with the standard deviation, or None; `task` decides its colour."""

    place: float
    height: tuple[float, float] | None
    task: str
    name: str


def draw_bars(
    axes: Axes, bars: Sequence[Bar], write: Callable[[float], str], width: float = 0.8
) -> None:
    """Draw bars with their heights written on them, and a dash for each missing bar."""
    present = [(bar, *bar.height) for bar in bars if bar.height]
    if not present:
        return write_note(axes, "not run")
    drawn = axes.bar(
        [bar.place for bar, *_ in present],
        [height for _, height, _ in present],
        width,
        yerr=[spread for *_, spread in present],
        color=[COLOURS[bar.task] for bar, *_ in present],
        hatch=[HATCHES[bar.task] for bar, *_ in present],
        label=[bar.name for bar, *_ in present],
        edgecolor="white",
        error_kw={"capsize": 3, "ecolor": GREY},
    )
    texts = [write(height) for _, height, _ in present]
    axes.bar_label(drawn, texts, padding=2, fontsize=SMALL_FONT, bbox=TEXT_BOX)
    axes.grid(visible=False, axis="x")
    for bar in bars:
        if bar.height is None:
            axes.text(bar.place, 0, "–", ha="center", va="bottom")
    axes.margins(y=0.15)


def name_bars(axes: Axes, names: Sequence[str]) -> None:
    """Write names below the bars; leave room for at least three bars."""
    axes.set_xticks(range(len(names)), [name.replace(" ", "\n", 1) for name in names])
    middle, reach = (len(names) - 1) / 2, max(len(names), 3) / 2
    axes.set_xlim(middle - reach, middle + reach)


def format_percent(share: float, _: object = None) -> str:
    """Write a share as a percentage, with a proper minus sign."""
    return f"{round(100 * share, 3):zg}%".replace("-", "−")


def varied_parameters(results: Results, parameters: Parameters, field: str) -> list[Parameters]:
    """Return the parameters of all results that differ from the given ones in one field only."""
    nothing: dict[str, Any] = {field: None}
    fixed = parameters._replace(**nothing)
    same = [one for one in results.by_parameters if one._replace(**nothing) == fixed]
    return [one for one in same if getattr(one, field) is not None]


def describe_parameters(parameters: Parameters, without: str = "") -> str:
    """Describe parameters in a title; `without` names a field to leave out."""
    symbols = {"epsilon": "ε", "length": "n", "spelling": "s"}
    parts = {
        field: f"{symbol}\u00a0=\u00a0{getattr(parameters, field):g}"  # never broken over two lines
        for field, symbol in symbols.items()
        if getattr(parameters, field) is not None
    }
    parts |= {
        "morphology": parameters.morphology,
        "synsets": "synsets" if parameters.synsets else "",
    }
    return ", ".join(text for field, text in parts.items() if text and field != without)


def _find(
    results: Results, method: str, task: str, model: str, scenario: str, parameters: Parameters
) -> Result | None:
    if task == "utility":
        return results.utility(method, model, parameters)
    return results.attack(method, model, scenario, parameters)


def _beta(
    results: Results, method: str, task: str, model: str, scenario: str, parameters: Parameters
) -> tuple[float, float] | None:
    """Return β and its standard deviation, that of F1, since the original has a single score."""
    original = _find(results, "original", task, model, scenario, parameters)
    result = _find(results, method, task, model, scenario, parameters)
    beta = relative_score(result, original)
    if beta is None or result is None or original is None:
        return None
    return beta, nan if result.f1_std is None else result.f1_std / original.f1


def write_note(axes: Axes, text: str, height: float = 0.5) -> None:
    """Write a centred text in a panel, at a height between 0 and 1."""
    style: dict[str, Any] = {"transform": axes.transAxes, "fontsize": SMALL_FONT, "bbox": TEXT_BOX}
    axes.text(0.5, height, text, ha="center", va="top", **style)


def panel_grid(
    results: Results,
    title: str,
    labels: tuple[str, str],
    draw: DrawPanel,
    panel_width: float = 2.6,
) -> tuple[Figure, NDArray[np.object_]]:
    """Draw a grid of panels, models by scenarios, with a common legend below; sizes in inches."""
    scenarios = results.scenarios or [""]
    models = [name for name in results.models if name in MODELS] or [""]
    figure = Figure(layout="constrained")
    grid = figure.subplots(len(models), len(scenarios), sharex=True, sharey=True, squeeze=False)
    for model, row in zip(models, grid, strict=True):
        row[0].set_ylabel(f"{display_name(model)}\n{labels[1]}")
        for scenario, axes in zip(scenarios, row, strict=True):
            style_axes(axes)
            draw(axes, model, scenario)
    for scenario, axes in zip(scenarios, grid[0], strict=True):
        axes.set_title(display_name(scenario))
    for axes in grid[-1]:
        axes.set_xlabel(labels[0])
    entries: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(name, handle)
    width = max(5.5, 1 + panel_width * len(scenarios))
    columns = int(width / 2.1)
    legend = list(entries.values()), list(entries)
    figure.legend(*legend, loc="outside lower center", ncols=columns, frameon=False)
    lines = textwrap.wrap(title, int(9 * width))
    figure.suptitle("\n".join(lines), weight="bold")
    around = 0.25 * (len(lines) + len(entries) / columns)
    figure.set_size_inches(width, 0.7 + 2.3 * len(models) + around)
    return figure, grid
