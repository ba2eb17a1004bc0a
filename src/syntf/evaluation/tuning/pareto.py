"""A figure of loss against utility: all candidates, the front, and the attacks on finalists."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter

from syntf.evaluation.experiment.names import TOPIC_FLOOR, display_name
from syntf.evaluation.figures import GREY, SMALL_FONT, single_figure
from syntf.evaluation.tuning.outcome import Trial
from syntf.evaluation.tuning.search import Candidate, Goal, KeptUtility, pareto_front

REFERENCES = {"original": "on the texts", TOPIC_FLOOR: "topic alone"}


def pareto_figure(
    kept: KeptUtility,
    tried: KeptUtility,
    finalists: Mapping[Candidate, Trial],
    best: Candidate | None,
    goal: Goal,
    *,
    scenario: str = "",
    references: Mapping[str, float] | None = None,
) -> Figure:
    """Draw candidates in grey, and finalists in the colour of the strongest attacker's F1.

    Parameters
    ----------
    kept : utility that the candidates of the last round keep.
    tried : utility of candidates in the round before, of which some did not reach the last.
    finalists : candidates that were confirmed with more runs, and what they keep.
    best : the chosen candidate, if the goal was reached.
    scenario : the scenario of the attacks.
    references : attacks to compare with, on the texts and by the topic alone.
    """
    x_label = "loss per document (loss per word × length)"
    y_label = "F1 kept, naive Bayes on validation texts"
    figure, axes = single_figure((6.4, 5.4), x_label, y_label)
    others = [one for one in kept if one not in finalists]
    dropped = [one for one in tried if one not in kept]
    _draw_points(axes, [(one.document_loss, tried[one]) for one in dropped], "#DDDDDD", "tried")
    _draw_points(axes, [(one.document_loss, kept[one]) for one in others], "#999999", "tried again")
    known = {one: kept[one] for one in others}
    known |= {one: trial.utility for one, trial in finalists.items()}
    front = pareto_front(known)
    axes.step(
        [one.document_loss for one in front],
        [known[one] for one in front],
        where="post",
        color=GREY,
        linewidth=0.8,
        label="best at this loss",
    )
    _draw_finalists(axes, list(finalists.values()), scenario, references or {})
    _draw_goal(axes, goal)
    if best is not None:
        x, y = best.document_loss, known[best]
        ring: dict[str, Any] = {"facecolor": "none", "edgecolor": "black", "linewidth": 1.6}
        axes.scatter([x], [y], 170, zorder=4, label="chosen", **ring)
        text = f"ℓ = {best.loss:g}, n = {best.length}, k = {best.neighbours}\n"
        text += f"{best.max_size:,} outputs, {best.weights}"
        offset: dict[str, Any] = {"textcoords": "offset points", "va": "top"}
        axes.annotate(text, (x, y), (12, -12), fontsize=SMALL_FONT, **offset)
    losses = [one.document_loss for one in (*known, *tried)]
    losses += [] if goal.max_loss is None else [goal.max_loss]
    axes.set_xlim(min(losses) / 1.2, max(losses) * 1.2)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda loss, _: f"{loss:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_title("What a loss buys", weight="bold")
    axes.legend(frameon=False, fontsize=SMALL_FONT, loc="lower right")
    return figure


def _draw_points(axes: Axes, points: Sequence[tuple[float, float]], colour: str, name: str) -> None:
    if points:
        x, y = np.array(points).T
        axes.scatter(x, y, 18, color=colour, label=name, zorder=2)


def _draw_finalists(
    axes: Axes, finalists: Sequence[Trial], scenario: str, references: Mapping[str, float]
) -> None:
    """Colour finalists by the attack, if all were attacked; the colour bar marks references."""
    x = [finalist.document_loss for finalist in finalists]
    y = [finalist.utility for finalist in finalists]
    attacks = [finalist.attack for finalist in finalists if finalist.attack is not None]
    style: dict[str, Any] = {"s": 55, "zorder": 3, "label": "finalist, more runs"}
    if len(attacks) < len(finalists) or not attacks:
        axes.scatter(x, y, color="#0072B2", **style)
        return
    values = [*attacks, *references.values()]
    style |= {"cmap": "plasma", "vmin": min(values), "vmax": max(values), "edgecolor": "white"}
    drawn = axes.scatter(x, y, c=attacks, **style)
    figure = axes.get_figure()
    assert figure is not None  # nosec B101
    bar = figure.colorbar(drawn, ax=axes, location="bottom", aspect=50, pad=0.04)
    bar.set_label(f"F1 of the strongest attacker, {display_name(scenario)}")
    for name, value in references.items():
        bar.ax.axvline(value, color="black", linewidth=1.5)
        side = "left" if value < sum(values) / len(values) else "right"
        bar.ax.text(value, 1.3, REFERENCES[name], ha=side, va="bottom", fontsize=SMALL_FONT)


def _draw_goal(axes: Axes, goal: Goal) -> None:
    style: dict[str, Any] = {"color": "#D55E00", "linestyle": "--", "linewidth": 1}
    if goal.utility is not None:
        axes.axhline(goal.utility, label=f"wanted: {goal.utility:.0%}", **style)
    if goal.max_loss is not None:
        axes.axvline(goal.max_loss, label=f"at most {goal.max_loss:,g}", **style)
