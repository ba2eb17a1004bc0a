"""The figures of the evaluation: a row of panels for each classifier, a panel for each scenario.

Analyst and attacker differ in colour, in a green and a red that colour-blind people can tell apart,
and in marker or hatching for print. What was not run is left out.
"""

from collections.abc import Callable, Sequence
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper.published import OPTIMUM
from paper.results import Results, display_name
from syntf.privacy.bounds import improved_loss

COLOURS = {"utility": "#009E73", "attack": "#D55E00"}
MARKERS = {"utility": "o", "attack": "s"}
HATCHES = {"utility": "", "attack": "//"}
LINES = {"original": ":", "vectorised": "--", "syntf": "-"}
GREY = "#555555"
TEXT_BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4}

Bar = tuple[float, tuple[float, float] | None, str]
"""A bar: its place, its height with the standard deviation (or None), and whose task it shows."""


def save_figures(results: Results, folder: Path) -> None:
    """Draw every figure into a folder, as SVG."""
    folder.mkdir(exist_ok=True)
    for draw in (performance, spelling, scrubbing, attackers, bounds):
        draw(results).savefig(folder / f"{draw.__name__}.svg")


def performance(results: Results) -> Figure:
    """Draw β_U and β_A over ε, with the loss on top."""
    series = [one for one in results.by_parameters if one._replace(epsilon=47.5) == OPTIMUM]
    epsilons = [one.epsilon or 0.0 for one in series]

    def draw(axes: Axes, model: str, scenario: str) -> None:
        axes.axhline(1, ls=LINES["original"], color=GREY, label=display_name("original"))
        for task, colour in COLOURS.items():
            style: dict[str, Any] = {"color": colour, "marker": MARKERS[task], "ms": 5}
            name = display_name(task)
            vectors = results.beta("vectorised", task, model, scenario, OPTIMUM)
            if vectors is not None and series:
                ends = [min(epsilons), max(epsilons)]
                axes.plot(ends, [vectors] * 2, LINES["vectorised"], mfc="white",
                          label=f"{name}, {display_name('vectorised')}", **style)  # fmt: skip
            points = [
                (one.epsilon, *height)
                for one in series
                if (height := _beta(results, "syntf", task, model, scenario, one))
            ]
            if points:
                x, y, spread = np.array(points, dtype=float).T
                axes.plot(x, y, label=f"{name}, {display_name('syntf')} ± std. dev.", **style)
                axes.fill_between(x, y - spread, y + spread, color=colour, alpha=0.2, lw=0)

    title = "What analyst and attacker keep of their F1, over ε (n = 150, s = 0.3, lemmas)"
    figure = _panels(results, title, "privacy parameter ε", "F1 relative to original text", draw)
    first = figure.axes[0]
    first.set_xticks(epsilons[::2])
    for axes in figure.axes[: len(results.scenarios)]:
        top = axes.secondary_xaxis("top")
        losses = [f"{results.loss(one) or nan:.1f}" for one in series[::2]]
        top.set_xticks(epsilons[::2], losses)
        top.set_xlabel("loss per word ℓ")
    return figure


def spelling(results: Results) -> Figure:
    """Draw the gain β_U − β_A over the spelling factor s."""
    series = [one for one in results.by_parameters if one._replace(spelling=0.3) == OPTIMUM]

    def draw(axes: Axes, model: str, scenario: str) -> None:
        bars: list[Bar] = []
        for place, one in enumerate(series):
            gain = results.gain(one, scenario, model) or 0.0
            bars.append((place, (gain, nan), "utility" if gain >= 0 else "attack"))
        _draw_bars(axes, bars, [f"{one.spelling:g}" for one in series], "{:+.1%}")

    title = "What the analyst gains over the attacker, by s (ε = 47.5, n = 150, lemmas)"
    return _panels(results, title, "factor s of bigram overlap", "gain β$_U$ − β$_A$", draw)


def scrubbing(results: Results) -> Figure:
    """Draw β_U and β_A of a release and of scrubbed texts."""
    methods = ("syntf", "scrubadub", "scrubadub-names")

    def draw(axes: Axes, model: str, scenario: str) -> None:
        _draw_bars(axes, [
            (place + side, _beta(results, method, task, model, scenario, OPTIMUM), task)
            for place, method in enumerate(methods)
            for task, side in (("utility", -0.21), ("attack", 0.21))
        ], [display_name(method) for method in methods], "{:.0%}", width=0.4)  # fmt: skip

    title = "What analyst and attacker keep of their F1: SynTF (ε = 47.5, n = 150) and scrubbing"
    return _panels(results, title, "", "F1 relative to original text", draw)


def attackers(results: Results) -> Figure:
    """Draw the F1 of the attacker on a release, by the order in which it puts words.

    Lines show the F1 on the original texts and on the vectors before the noise.
    """

    def draw(axes: Axes, model: str, scenario: str) -> None:
        bars: list[Bar] = []
        for place, attacker in enumerate(results.attackers):
            levels = {
                method: results.find(method, "attack", model, scenario, OPTIMUM, attacker)
                for method in LINES
            }
            for method in ("original", "vectorised"):
                if level := levels[method]:
                    axes.hlines(level.f1, place - 0.4, place + 0.4, "black", LINES[method],
                                label=display_name(method))  # fmt: skip
            release = levels["syntf"]
            height = (release.f1, release.f1_std or nan) if release else None
            bars.append((place, height, "attack"))
        names = [display_name(name).rpartition(", ")[2] for name in results.attackers]
        _draw_bars(axes, bars, names, "{:.2f}")

    title = "F1 of the attacker, by the order it puts words in (ε = 47.5, n = 150, s = 0.3, lemmas)"
    return _panels(results, title, "", "F1 of the attacker", draw)


def bounds(results: Results) -> Figure:
    """Draw the standard and the improved bound on the loss per word over ε.

    The improved bound is drawn for vocabularies of 2, 100 and 30,000 words; a dot marks the tight
    loss that was measured at the optimum.
    """
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    epsilons = np.linspace(0.05, 60, 400)
    axes.plot(epsilons, epsilons, ":", color="black", label="standard: ε")
    for size, style in zip((2, 100, 30_000), ("-", "--", "-."), strict=True):
        values = [improved_loss(float(x), size) for x in epsilons]
        axes.plot(epsilons, values, style, label=f"improved: ε + ln η, L = {size:,}")
    if (loss := results.loss(OPTIMUM)) is not None:
        axes.plot([OPTIMUM.epsilon or 0], [loss], "o", color="black", label=f"tight: {loss:.2f}")
    axes.set(xlabel="privacy parameter ε", ylabel="upper bound on the loss per word")
    axes.legend(frameon=False)
    return figure


def _beta(results: Results, method: str, task: str, model: str, scenario: str,
          parameters: Any) -> tuple[float, float] | None:  # fmt: skip
    """Return β and its standard deviation, that of F1, since the original has a single score."""
    beta = results.beta(method, task, model, scenario, parameters)
    one = results.find(method, task, model, scenario, parameters)
    if beta is None or one is None:
        return None
    return beta, nan if one.f1_std is None else one.f1_std * beta / one.f1


def _draw_bars(
    axes: Axes, bars: Sequence[Bar], names: Sequence[str], form: str, width: float = 0.8
) -> None:
    """Draw the bars that have a height, with the heights written on them, and names below."""
    for task, colour in COLOURS.items():
        own = [(place, *height) for place, height, of in bars if of == task and height]
        if own:
            places, heights, spreads = zip(*own, strict=True)
            drawn = axes.bar(places, heights, width, yerr=spreads, color=colour, edgecolor="white",
                             hatch=HATCHES[task], label=display_name(task),
                             error_kw={"capsize": 3, "ecolor": GREY})  # fmt: skip
            texts = [form.format(height).replace("-", "−") for height in heights]
            axes.bar_label(drawn, texts, padding=2, fontsize=8, bbox=TEXT_BOX)
    axes.set_xticks(range(len(names)), [name.replace(" ", "\n", 1) for name in names])
    axes.margins(y=0.15)


def _panels(
    results: Results, title: str, x: str, y: str, draw: Callable[[Axes, str, str], None]
) -> Figure:
    """Draw a grid of panels, models by scenarios, with a common legend below."""
    scenarios, models = results.scenarios or [""], results.models or [""]
    figure = Figure((1 + 2.7 * len(scenarios), 1.2 + 2.4 * len(models)), layout="constrained")
    grid = figure.subplots(len(models), len(scenarios), sharex=True, sharey=True, squeeze=False)
    entries: dict[str, Any] = {}
    for (row, column), axes in np.ndenumerate(grid):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
        draw(axes, models[row], scenarios[column])
        if row == 0:
            axes.set_title(display_name(scenarios[column]))
        if column == 0:
            axes.set_ylabel(f"{display_name(models[row])}\n{y}")
        if row == len(models) - 1:
            axes.set_xlabel(x)
        entries |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=5,
                  frameon=False)  # fmt: skip
    figure.suptitle(title, weight="bold")
    return figure
