"""Figures of the bounds on the loss and on ε, as in the paper."""

import numpy as np
from matplotlib.figure import Figure

from syntf.evaluation.figures import single_figure
from syntf.privacy import bounds

SIZE = (6.4, 4.2)
VOCABULARY_SIZES = (2, 100, 30_000)
LINE_STYLES = ("-", "--", "-.")


def loss_bounds(epsilon: float | None = None, tight: float | None = None) -> Figure:
    """Draw the standard and the improved bound on the loss per word over ε.

    The improved bound is drawn for vocabularies of 2, 100 and 30,000 words. If both arguments are
    given, a dot marks the measured tight loss at this ε.
    """
    figure, axes = single_figure(SIZE, "privacy parameter ε", "upper bound on the loss per word")
    epsilons = np.linspace(0.05, 60, 400)
    axes.plot(epsilons, epsilons, ":", color="black", label="standard: ε")
    for size, style in zip(VOCABULARY_SIZES, LINE_STYLES, strict=True):
        values = [bounds.improved_loss(x, size) for x in epsilons]
        axes.plot(epsilons, values, style, label=f"improved: ε + ln η, L = {size:,}")
    if epsilon is not None and tight is not None:
        axes.plot([epsilon], [tight], "o", color="black", label=f"tight, measured: {tight:.2f}")
    axes.legend(frameon=False)
    return figure


def necessary_epsilon() -> Figure:
    """Draw the ε at which half of the draws give a good output, over the number of outputs."""
    figure, axes = single_figure(
        SIZE, "outputs |Z|", "necessary ε for a good output in half the draws"
    )
    sizes = np.unique(np.logspace(1, 6, 200).astype(int))
    for good, style in zip((1, 10, 100), LINE_STYLES, strict=True):
        values = [bounds.necessary_epsilon(0.5, good, max(0, int(n) - good)) for n in sizes]
        axes.plot(sizes, values, style, label=f"{good} good output{'s' * (good > 1)}")
    axes.set_xscale("log")
    axes.legend(frameon=False)
    return figure
