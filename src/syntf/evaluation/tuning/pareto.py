"""Loss against utility: every candidate, the front, and how well the finalists are attacked."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter

from syntf.evaluation.experiment.paper import FLOORS, label
from syntf.evaluation.experiment.plots import GREY, SMALL
from syntf.evaluation.tuning.search import Candidate, Goal, Scores, front
from syntf.evaluation.tuning.trials import Trial

LEVELS = {"original": "on the texts", FLOORS[0]: "topic alone"}


def pareto(
    scores: Scores,
    tried: Scores,
    finalists: Sequence[Trial],
    best: Candidate | None,
    goal: Goal,
    *,
    scenario: str = "",
    levels: Mapping[str, float] | None = None,
) -> Figure:
    """All candidates in grey, finalists coloured by the F1 of the strongest attacker.

    `tried` are those measured less often, which did not get to the last rung.
    `levels` are attacks to compare with: on the texts, and by who knows the topic alone.
    """
    figure = Figure(figsize=(6.4, 5.4), layout="constrained")
    axes = figure.subplots()
    others = [one for one in scores if one not in {trial.candidate for trial in finalists}]
    few = [one for one in tried if one not in scores]
    _points(axes, [(one.document_loss, tried[one]) for one in few], "#DDDDDD", "tried")
    _points(axes, [(one.document_loss, scores[one]) for one in others], "#999999", "tried again")
    known = {one: scores[one] for one in others}
    known |= {trial.candidate: trial.utility["nb"] for trial in finalists}
    line = front(known)
    axes.step(
        [one.document_loss for one in line], [known[one] for one in line],
        where="post", color=GREY, linewidth=0.8, label="best at this loss",
    )  # fmt: skip
    _finalists(axes, finalists, scenario, levels or {})
    _goal(axes, goal)
    if best is not None:
        x, y = best.document_loss, known[best]
        ring: dict[str, Any] = {"facecolor": "none", "edgecolor": "black", "linewidth": 1.6}
        axes.scatter([x], [y], 170, zorder=4, label="chosen", **ring)
        text = f"ℓ = {best.loss:g}, n = {best.length}, k = {best.neighbours}\n"
        text += f"{best.max_size:,} outputs, {best.weights}"
        axes.annotate(text, (x, y), (12, -12), textcoords="offset points", va="top", fontsize=SMALL)
    losses = [one.document_loss for one in (*known, *tried)]
    losses += [] if goal.max_loss is None else [goal.max_loss]
    axes.set_xlim(min(losses) / 1.2, max(losses) * 1.2)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda loss, _: f"{loss:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("loss per document (loss per word × length)")
    axes.set_ylabel("F1 kept, naive Bayes on validation texts")
    axes.set_title("What a loss buys", weight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=SMALL, loc="lower right")
    return figure


def _points(axes: Axes, points: Sequence[tuple[float, float]], colour: str, name: str) -> None:
    if points:
        x, y = np.array(points).T
        axes.scatter(x, y, 18, color=colour, label=name, zorder=2)


def _finalists(
    axes: Axes, finalists: Sequence[Trial], scenario: str, levels: Mapping[str, float]
) -> None:
    """Coloured where they were attacked; the bar begins and ends with what can be compared."""
    x = [trial.candidate.document_loss for trial in finalists]
    y = [trial.utility["nb"] for trial in finalists]
    attacks = [trial.attack for trial in finalists if trial.attack is not None]
    style: dict[str, Any] = {"s": 55, "zorder": 3, "label": "finalist, more runs"}
    if len(attacks) < len(finalists) or not attacks:
        axes.scatter(x, y, color="#0072B2", **style)
        return
    ends = [*attacks, *levels.values()]
    drawn = axes.scatter(
        x, y, c=attacks, cmap="plasma", vmin=min(ends), vmax=max(ends), edgecolor="white", **style
    )
    figure = axes.get_figure()
    assert figure is not None  # nosec B101
    bar = figure.colorbar(drawn, ax=axes, location="bottom", aspect=50, pad=0.04)
    bar.set_label(f"F1 of the strongest attacker, {label(scenario)}")
    for name, level in levels.items():
        bar.ax.axvline(level, color="black", linewidth=1.5)
        side = "left" if level < sum(ends) / len(ends) else "right"
        bar.ax.text(level, 1.3, LEVELS[name], ha=side, va="bottom", fontsize=SMALL)


def _goal(axes: Axes, goal: Goal) -> None:
    style: dict[str, Any] = {"color": "#D55E00", "linestyle": "--", "linewidth": 1}
    if goal.utility is not None:
        axes.axhline(goal.utility, label=f"wanted: {goal.utility:.0%}", **style)
    if goal.max_loss is not None:
        axes.axvline(goal.max_loss, label=f"at most {goal.max_loss:,g}", **style)
