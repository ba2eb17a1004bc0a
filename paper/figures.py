"""The figures of the evaluation: a row of panels for each classifier, a panel for each scenario.

Analyst and attacker differ in colour, in a green and a red that colour-blind people can tell apart,
and in marker or hatching for print.
"""

from collections.abc import Callable, Iterable, Sequence
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
LINES = {"original": ":", "vectorised": "--"}
TEXT_BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4}

Bar = tuple[float, float, float, str]
"""A bar: its place, its height, the standard deviation, and whose task it shows."""


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
        axes.axhline(1, ls=LINES["original"], color="black", label=display_name("original"))
        for task, colour in COLOURS.items():
            name, vectors = display_name(task), display_name("vectorised")
            level = results.beta("vectorised", task, model, scenario, OPTIMUM)
            axes.axhline(level, ls=LINES["vectorised"], color=colour, label=f"{name}, {vectors}")
            found = [_beta(results, "syntf", task, model, scenario, one) for one in series]
            y, spread = np.array(found).T
            axes.plot(epsilons, y, color=colour, marker=MARKERS[task], label=f"{name}, SynTF")
            axes.fill_between(epsilons, y - spread, y + spread, color=colour, alpha=0.2, lw=0)

    title = "What analyst and attacker keep of their F1, over ε (n = 150, s = 0.3, lemmas)"
    figure = _panels(results, title, "privacy parameter ε", "F1 relative to original text", draw)
    for axes in figure.axes[: len(results.scenarios)]:
        top = axes.secondary_xaxis("top")
        top.set_xticks(epsilons[::2], [f"{results.loss(one):.1f}" for one in series[::2]])
        top.set_xlabel("loss per word ℓ")
    return figure


def spelling(results: Results) -> Figure:
    """Draw the gain β_U − β_A over the spelling factor s."""
    series = [one for one in results.by_parameters if one._replace(spelling=0.3) == OPTIMUM]

    def draw(axes: Axes, model: str, scenario: str) -> None:
        gains = [results.gain(one, scenario, model) for one in series]
        names = [f"{one.spelling:g}" for one in series]
        tasks = ["utility" if gain >= 0 else "attack" for gain in gains]
        _bars(axes, zip(range(len(gains)), gains, [nan] * 5, tasks, strict=False), names, "{:+.1%}")

    title = "What the analyst gains over the attacker, by s (ε = 47.5, n = 150, lemmas)"
    return _panels(results, title, "factor s of bigram overlap", "gain β$_U$ − β$_A$", draw)


def scrubbing(results: Results) -> Figure:
    """Draw β_U and β_A of a release and of scrubbed texts."""
    methods = ("syntf", "scrubadub", "scrubadub-names")

    def draw(axes: Axes, model: str, scenario: str) -> None:
        bars = [
            (place + side, *_beta(results, method, task, model, scenario, OPTIMUM), task)
            for place, method in enumerate(methods)
            for task, side in (("utility", -0.21), ("attack", 0.21))
        ]
        _bars(axes, bars, [display_name(method) for method in methods], "{:.0%}", width=0.4)

    title = "What analyst and attacker keep of their F1: SynTF (ε = 47.5, n = 150) and scrubbing"
    return _panels(results, title, "", "F1 relative to original text", draw)


def attackers(results: Results) -> Figure:
    """Draw the F1 of the attacker on a release, by the order in which it puts words.

    Lines show the F1 on the original texts, and on the term vectors in alphabetical order.
    """
    names = [display_name(name).rpartition(", ")[2] for name in results.attackers]

    def draw(axes: Axes, model: str, scenario: str) -> None:
        for method, style in LINES.items():
            level = results.find(method, "attack", model, scenario, OPTIMUM).f1
            axes.axhline(level, ls=style, color="black", label=display_name(method))
        bars = []
        for place, attacker in enumerate(results.attackers):
            one = results.find("syntf", "attack", model, scenario, OPTIMUM, attacker)
            bars.append((place, one.f1, one.f1_std or nan, "attack"))
        _bars(axes, bars, names, "{:.2f}")

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
    loss = results.loss(OPTIMUM)
    axes.plot([OPTIMUM.epsilon or 0], [loss], "o", color="black", label=f"tight: {loss:.2f}")
    axes.set(xlabel="privacy parameter ε", ylabel="upper bound on the loss per word")
    axes.legend(frameon=False)
    return figure


def _beta(results: Results, method: str, *key: Any) -> tuple[float, float]:
    """Return β and its standard deviation, that of F1, since the original has a single score."""
    one, original = results.find(method, *key), results.find("original", *key)
    return one.f1 / original.f1, (one.f1_std or nan) / original.f1


def _bars(
    axes: Axes, bars: Iterable[Bar], names: Sequence[str], form: str, width: float = 0.8
) -> None:
    """Draw bars with their heights written on them, and names below."""
    for place, height, spread, task in bars:
        drawn = axes.bar(
            place, height, width, yerr=spread, color=COLOURS[task], edgecolor="white",
            hatch=HATCHES[task], label=display_name(task), error_kw={"capsize": 3},
        )  # fmt: skip
        text = form.format(height).replace("-", "−")
        axes.bar_label(drawn, [text], padding=2, fontsize=8, bbox=TEXT_BOX)
    axes.set_xticks(range(len(names)), [name.replace(" ", "\n", 1) for name in names])
    axes.margins(y=0.15)


def _panels(
    results: Results, title: str, x: str, y: str, draw: Callable[[Axes, str, str], None]
) -> Figure:
    """Draw a grid of panels, models by scenarios, with a common legend below."""
    scenarios, models = results.scenarios, results.models
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
