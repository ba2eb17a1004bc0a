"""Figures of estimated shares beside the true ones: of prototypes, and of labels over time."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from syntf.evaluation.figures import GREY, SMALL_FONT, single_figure, style_axes
from syntf.evaluation.tasks.prototypes import PrototypeShare
from syntf.evaluation.tasks.trends import LabelShare

ESTIMATE, TRUTH = "#0072B2", "#D55E00"
LEADING = 20
"""Prototypes that a figure shows."""
PANELS = 6
"""Labels that a figure shows, the most frequent ones."""


def share_figure(shares: Sequence[PrototypeShare]) -> Figure:
    """Draw the leading prototypes: the estimated share with its 95 % interval, and the truth."""
    leading = shares[:LEADING]
    figure, axes = single_figure((7.2, 0.8 + 0.27 * len(leading)), "share of the documents", "")
    places = np.arange(len(leading))[::-1]
    found = np.array([one.estimate for one in leading])
    below = found - [one.low for one in leading]
    above = [one.high for one in leading] - found
    axes.errorbar(
        found, places, xerr=[below, above], fmt="o", color=ESTIMATE, capsize=3, ms=4,
        label="estimate, 95 % interval",
    )  # fmt: skip
    axes.plot([one.truth for one in leading], places, "x", color=TRUTH, label="truth")
    axes.set_yticks(places, [one.label for one in leading], fontsize=SMALL_FONT)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.1%}")
    axes.legend(frameon=False)
    return figure


def trend_figure(rows: Sequence[LabelShare]) -> Figure:
    """Draw the most frequent labels over time, a panel each."""
    periods = list(dict.fromkeys(one.period for one in rows))
    totals: dict[str, float] = {}
    for one in rows:
        totals[one.label] = totals.get(one.label, 0.0) + one.truth * one.documents
    labels = sorted(totals, key=lambda label: -totals[label])[:PANELS]
    columns = min(3, len(labels))
    lines = -(-len(labels) // columns)
    figure = Figure(figsize=(3.2 * columns, 2.4 * lines), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False, sharex=True).ravel()
    for axes, label in zip(panels, labels, strict=False):
        own = {one.period: one for one in rows if one.label == label}
        x = [place for place, period in enumerate(periods) if period in own]
        points = [own[periods[place]] for place in x]
        low, high = [one.low for one in points], [one.high for one in points]
        axes.fill_between(x, low, high, color=ESTIMATE, alpha=0.25, label="95 % interval")
        axes.plot(x, [one.estimate for one in points], color=ESTIMATE, label="estimate")
        axes.plot(x, [one.truth for one in points], "--", color=TRUTH, label="truth")
        axes.plot(x, [one.counted for one in points], ":", color=GREY, label="not corrected")
        axes.set_title(label, fontsize=SMALL_FONT)
        axes.set_xticks([0, len(periods) - 1], [periods[0], periods[-1]], fontsize=SMALL_FONT)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        style_axes(axes)
    for axes in panels[len(labels) :]:
        axes.set_visible(False)
    panels[0].legend(frameon=False, fontsize=SMALL_FONT)
    return figure
