"""The frontier as pictures: the analyst's F1 over the loss, per word and per document.

Curves differ in colour and in marker, for print. A line runs along the loss, a dotted one along
the length. What has an infinite loss stands at the right edge, marked so.
"""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from syntf.research.frontier import Point, better
from syntf.research.frontier_tables import NAMES, PAPER_LOSSES, TARGET

STYLES = {
    ("default", "public"): ("#000000", "P"),
    ("accurate", "public"): ("#009E73", "o"),
    ("accurate", "fitted"): ("#0072B2", "s"),
    ("paper", "fitted"): ("#D55E00", "D"),
    ("santext", "public"): ("#CC79A7", "^"),
    ("k-rr", "public"): ("#E69F00", "v"),
    ("custext", "public"): ("#555555", "X"),
}
LINES = {"loss": "-", "epsilon": "-", "length": ":"}
GREY = "#555555"


def per_word(found: Sequence[Point]) -> Figure:
    """The best model's F1 over the loss per word."""
    along = [one for one in found if one.varied != "length"]
    figure, axes = _figure("loss per word ℓ")
    _draw(axes, along, lambda one: one.loss_per_word, PAPER_LOSSES[0])
    return figure


def per_document(found: Sequence[Point]) -> Figure:
    """The best model's F1 over the loss per document, on a logarithmic axis."""
    figure, axes = _figure("loss per document n·ℓ (lines: along ℓ, dotted: along n)")
    axes.set_xscale("log")
    _draw(axes, found, lambda one: one.loss_per_document, PAPER_LOSSES[1])
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda loss, _: f"{loss:,.0f}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    return figure


def _draw(
    axes: Axes, found: Sequence[Point], loss: Callable[[Point], float], published: float
) -> None:
    best = better(found)
    finite = [loss(one) for one in best if isfinite(loss(one))]
    logarithmic = axes.get_xscale() == "log"
    most = max([*finite, published])
    edge = most * 1.5 if logarithmic else most * 1.1
    for key, (colour, marker) in STYLES.items():
        style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 5}
        name: str | None = NAMES[key]
        parts: dict[tuple[Any, ...], list[tuple[float, float, float]]] = {}
        for one in best:
            if (one.mechanism, one.vocabulary) == key:
                place = (min(loss(one), edge), one.f1, one.f1_std or 0.0)
                parts.setdefault(_part(one), []).append(place)
        for (varied, *_), curve in parts.items():
            x, y, spread = zip(*sorted(curve), strict=True)
            line = "" if x[0] == edge else LINES[varied]
            axes.errorbar(x, y, spread, ls=line, label=name, capsize=2, **style)
            name = None  # once in the legend
    axes.axhline(TARGET, color=GREY, lw=0.8, ls="--")
    paper = f"the paper: {TARGET:.2f} at {published:,g}"
    axes.errorbar([published], [TARGET], fmt="*", ms=11, color="black", label=paper)
    if any(not isfinite(loss(one)) for one in best):
        axes.axvline(edge, color=GREY, lw=0.8, ls=":")
        top = axes.get_xaxis_transform()
        axes.text(edge, 1.0, "∞", transform=top, ha="center", va="bottom", color=GREY)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=True, facecolor="white", edgecolor="none", framealpha=1, fontsize=8)


def _part(one: Point) -> tuple[Any, ...]:
    """What the points of one line share: all but what is varied, and M, which goes with ℓ."""
    return (one.varied, one.k, one.epsilon if one.varied == "length" else one.length)


def _figure(x: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.2, 4.8), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel("F1 of the best analyst")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
    return figure, axes
