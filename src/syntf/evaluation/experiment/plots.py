"""The paper's figures of the experiment: a row for each classifier, a panel for each scenario.

Analyst and attacker differ in colour, a green and a red that the colour-blind tell apart, and
in marker or hatching, for print. What was not run is a dash, or said so.
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

from syntf.evaluation.experiment.paper import MODELS, Cell, label
from syntf.evaluation.experiment.results import Result, Results, gain, relative

COLOURS = {"utility": "#009E73", "attack": "#D55E00"}
MARKERS = {"utility": "o", "attack": "s"}
HATCHES = {"utility": "", "attack": "//"}
LINES = {"original": ":", "vectorised": "--", "syntf": "-"}
GREY, SMALL = "#555555", 8
BEHIND = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4}
"""Behind texts, so that no line strikes them through."""


def performance(results: Results, cell: Cell) -> Figure:
    """β_U and β_A over ε, the other parameters being those of the cell; the loss on top."""
    cells = _along(results, cell, "epsilon")
    epsilons = [each.epsilon or 0.0 for each in cells]
    low, high = min(epsilons, default=0.0), max(epsilons, default=0.0)
    margin = 0.06 * (high - low) or 1.0
    ends = [low - margin, high + margin]

    def draw(axes: Axes, model: str, scenario: str) -> None:
        notes = []
        for task in COLOURS if scenario else ["utility"]:
            found = [_beta(results, "syntf", task, model, scenario, each) for each in cells]
            points = [(e, *beta) for e, beta in zip(epsilons, found, strict=True) if beta]
            original = _result(results, "original", task, model, scenario, cell)
            if points and original:
                if not axes.lines:
                    axes.plot(ends, [1, 1], LINES["original"], color=GREY, label=label("original"))
                vectors = _beta(results, "vectorised", task, model, scenario, cell)
                _line(axes, task, points, ends, vectors[0] if vectors else None)
                notes.append(f"{label(task)} {original.f1:.2f}")
            else:
                notes.append(f"{label(task)} not run")
        if axes.lines:
            _say(axes, "F1 on text: " + ", ".join(notes), 0.98)
        else:
            _say(axes, "not run")

    title = f"What analyst and attacker keep of their F1, over ε ({_shown(cell, 'epsilon')})"
    labels = "privacy parameter ε", "F1 relative to original text"
    figure, grid = _figure(results, title, labels, draw)
    low, high = grid[0, 0].get_ylim()
    grid[0, 0].set_ylim(low, high + 0.08 * (high - low))  # for what is said above the lines
    step = 1 + len(cells) // 6
    grid[0, 0].set_xticks(epsilons[::step])
    losses = [results.loss(each) for each in cells[::step]]
    texts = ["" if loss is None else f"{loss:.1f}" for loss in losses]
    for axes in grid[0] if any(texts) else ():
        top = axes.secondary_xaxis("top")
        top.set_xticks(epsilons[::step], texts)
        top.set_xlabel("loss per word ℓ")
    grid[0, 0].yaxis.set_major_formatter(_percent)
    return figure


def _line(
    axes: Axes,
    task: str,
    points: Sequence[tuple[float, float, float]],
    ends: Sequence[float],
    vectors: float | None,
) -> None:
    """β over ε with a band of its standard deviation, and that of vectors as a level."""
    style: dict[str, Any] = {"color": COLOURS[task], "marker": MARKERS[task], "ms": 5}
    if vectors is not None:
        name = f"{label(task)}, {label('vectorised')}"
        axes.plot(ends, [vectors] * 2, LINES["vectorised"], mfc="white", label=name, **style)
    x, y, spread = np.array(points).T
    name = f"{label(task)}, {label('syntf')}" + " ± std. dev." * bool(np.isfinite(spread).any())
    axes.plot(x, y, LINES["syntf"], label=name, **style)
    axes.fill_between(x, y - spread, y + spread, color=COLOURS[task], alpha=0.2, lw=0)
    if len(points) == 1:  # a band has no width there
        axes.errorbar(x, y, spread, color=COLOURS[task], capsize=4)


def spelling(results: Results, cell: Cell) -> Figure:
    """The gain β_U − β_A over s, the other parameters being those of the cell."""
    cells = _along(results, cell, "spelling")

    def draw(axes: Axes, model: str, scenario: str) -> None:
        bars = []
        for place, each in enumerate(cells):
            found = gain(results, each, scenario, model)
            task = "attack" if found and found.gain < 0 else "utility"
            beta = (found.gain, nan) if found else None
            bars.append(Bar(place, beta, task, f"{label(task)} is better off"))
        _bars(axes, bars, lambda gain: f"{100 * gain:+z.1f}".replace("-", "−"))
        axes.axhline(0, color=GREY, linewidth=0.8)

    title = f"What the analyst gains over the attacker, by s ({_shown(cell, 'spelling')})"
    labels = "factor s of bigram overlap", "gain β$_U$ − β$_A$"
    figure, grid = _figure(results, title, labels, draw)
    _name_bars(grid[0, 0], [f"{each.spelling:g}" for each in cells])
    grid[0, 0].yaxis.set_major_formatter(_percent)
    return figure


def scrubbing(results: Results, cell: Cell) -> Figure:
    """β_U and β_A of SynTF with the parameters of the cell, and of scrubbed texts."""
    methods = ["syntf", "scrubadub", "scrubadub-names"]

    def draw(axes: Axes, model: str, scenario: str) -> None:
        bars = []
        for place, method in enumerate(methods):
            for task, side in (("utility", -0.21), ("attack", 0.21)):
                beta = _beta(results, method, task, model, scenario, cell)
                bars.append(Bar(place + side, beta, task, label(task)))
        _bars(axes, bars, "{:.0%}".format, width=0.4)
        if axes.patches:
            axes.axhline(1, color=GREY, linestyle=LINES["original"], label=label("original"))

    title = f"What analyst and attacker keep of their F1: SynTF ({_shown(cell)}) and scrubbing"
    figure, grid = _figure(results, title, ("", "F1 relative to original text"), draw)
    _name_bars(grid[0, 0], [label(method) for method in methods])
    grid[0, 0].yaxis.set_major_formatter(_percent)
    return figure


def attackers(results: Results, cell: Cell) -> Figure:
    """F1 of every attacker on what SynTF makes of the texts with the parameters of the cell."""
    names = results.attackers

    def draw(axes: Axes, model: str, scenario: str) -> None:
        bars = []
        for place, attacker in enumerate(names):
            original, vectors, made = (
                results.attack(method, model, scenario, cell, attacker=attacker) for method in LINES
            )
            for level in (original, vectors):
                if level:
                    style: dict[str, Any] = {"linestyles": LINES[level.method]}
                    style["label"] = label(level.method)
                    axes.hlines(level.f1, place - 0.4, place + 0.4, "black", **style)
            score = (made.f1, nan if made.f1_std is None else made.f1_std) if made else None
            bars.append(Bar(place, score, "attack", label("syntf")))
        _bars(axes, bars, "{:.2f}".format)

    title = f"F1 of the attackers, by the order they put words in ({_shown(cell)})"
    panel = max(2.6, 0.85 * len(names))
    figure, grid = _figure(results, title, ("", "F1 of the attacker"), draw, panel)
    _name_bars(grid[0, 0], [label(name).rpartition(", ")[2] for name in names])
    return figure


class Bar(NamedTuple):
    """A height and its deviation, or None; `task` says how it looks."""

    place: float
    height: tuple[float, float] | None
    task: str
    name: str


def _bars(
    axes: Axes, bars: Sequence[Bar], form: Callable[[float], str], width: float = 0.8
) -> None:
    """Bars with their heights written on them; a dash for each that is missing."""
    drawn = [(bar, *bar.height) for bar in bars if bar.height]
    if not drawn:
        return _say(axes, "not run")
    made = axes.bar(
        [bar.place for bar, *_ in drawn],
        [height for _, height, _ in drawn],
        width,
        yerr=[spread for *_, spread in drawn],
        color=[COLOURS[bar.task] for bar, *_ in drawn],
        hatch=[HATCHES[bar.task] for bar, *_ in drawn],
        label=[bar.name for bar, *_ in drawn],
        edgecolor="white",
        error_kw={"capsize": 3, "ecolor": GREY},
    )
    texts = [form(height) for _, height, _ in drawn]
    axes.bar_label(made, texts, padding=2, fontsize=SMALL, bbox=BEHIND)
    axes.grid(visible=False, axis="x")
    for bar in bars:
        if bar.height is None:
            axes.text(bar.place, 0, "–", ha="center", va="bottom")
    axes.margins(y=0.15)


def _name_bars(axes: Axes, names: Sequence[str]) -> None:
    """Names below the bars, which are no wider than three in a panel."""
    axes.set_xticks(range(len(names)), [name.replace(" ", "\n", 1) for name in names])
    middle, reach = (len(names) - 1) / 2, max(len(names), 3) / 2
    axes.set_xlim(middle - reach, middle + reach)


def _percent(share: float, _: object = None) -> str:
    return f"{round(100 * share, 3):zg}%".replace("-", "−")


def _along(results: Results, cell: Cell, field: str) -> list[Cell]:
    """The cells run that differ from a cell in one parameter alone."""
    nothing: dict[str, Any] = {field: None}
    same = [each for each in results.cells if each._replace(**nothing) == cell._replace(**nothing)]
    return [each for each in same if getattr(each, field) is not None]


def _shown(cell: Cell, but: str = "") -> str:
    """The parameters of a cell in words, but for one of them."""
    values = {"epsilon": "ε", "length": "n", "spelling": "s"}
    shown = {
        field: f"{name}\u00a0=\u00a0{getattr(cell, field):g}"  # not to be parted by a line's end
        for field, name in values.items()
        if getattr(cell, field) is not None
    }
    shown |= {"morphology": cell.morphology, "synsets": "synsets" if cell.synsets else ""}
    return ", ".join(text for field, text in shown.items() if text and field != but)


def _result(
    results: Results, method: str, task: str, model: str, scenario: str, cell: Cell
) -> Result | None:
    if task == "utility":
        return results.utility(method, model, cell)
    return results.attack(method, model, scenario, cell)


def _beta(
    results: Results, method: str, task: str, model: str, scenario: str, cell: Cell
) -> tuple[float, float] | None:
    """β and its standard deviation, which is that of F1 alone: the original has one score."""
    original = _result(results, "original", task, model, scenario, cell)
    found = _result(results, method, task, model, scenario, cell)
    beta = relative(found, original)
    if beta is None or found is None or original is None:
        return None
    return beta, nan if found.f1_std is None else found.f1_std / original.f1


def _say(axes: Axes, text: str, height: float = 0.5) -> None:
    style: dict[str, Any] = {"transform": axes.transAxes, "fontsize": SMALL, "bbox": BEHIND}
    axes.text(0.5, height, text, ha="center", va="top", **style)


def _figure(
    results: Results,
    title: str,
    labels: tuple[str, str],
    draw: Callable[[Axes, str, str], None],
    panel: float = 2.6,
) -> tuple[Figure, NDArray[np.object_]]:
    """A grid of panels so many inches wide, models by scenarios, and one legend below them."""
    scenarios = results.scenarios or [""]
    models = [name for name in results.models if name in MODELS] or [""]
    figure = Figure(layout="constrained")
    grid = figure.subplots(len(models), len(scenarios), sharex=True, sharey=True, squeeze=False)
    for model, row in zip(models, grid, strict=True):
        row[0].set_ylabel(f"{label(model)}\n{labels[1]}")
        for scenario, axes in zip(scenarios, row, strict=True):
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(alpha=0.25)
            axes.set_axisbelow(True)
            draw(axes, model, scenario)
    for scenario, axes in zip(scenarios, grid[0], strict=True):
        axes.set_title(label(scenario))
    for axes in grid[-1]:
        axes.set_xlabel(labels[0])
    entries: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(name, handle)
    width = max(5.5, 1 + panel * len(scenarios))
    columns = int(width / 2.1)
    named = list(entries.values()), list(entries)
    figure.legend(*named, loc="outside lower center", ncols=columns, frameon=False)
    lines = textwrap.wrap(title, int(9 * width))
    figure.suptitle("\n".join(lines), weight="bold")
    around = 0.25 * (len(lines) + len(entries) / columns)
    figure.set_size_inches(width, 0.7 + 2.3 * len(models) + around)
    return figure, grid
