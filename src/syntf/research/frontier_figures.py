"""Figures of the frontier: the analyst's F1 over the loss, per word and per document.

Curves differ in colour and, for print, in marker. Solid lines follow the loss, dotted lines the
length. Mechanisms with an infinite loss are drawn at the right edge, which is marked with ∞.
"""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from syntf.evaluation.figures import GREY, SMALL_FONT, single_figure
from syntf.research.frontier import Point, best_models
from syntf.research.frontier_tables import CURVE_NAMES, PAPER_LOSSES, PUBLISHED, TARGET_F1

STYLES = {
    ("document", "embedded"): ("#882255", "o"),
    ("document", "near in topic"): ("#AA4499", "s"),
    ("privunit", "embedded"): ("#999933", "<"),
    ("default", "public"): ("#000000", "P"),
    ("accurate", "public"): ("#009E73", "o"),
    ("accurate", "fitted"): ("#0072B2", "s"),
    ("paper", "fitted"): ("#D55E00", "D"),
    ("santext", "public"): ("#CC79A7", "^"),
    ("k-rr", "public"): ("#E69F00", "v"),
    ("custext", "public"): ("#555555", "X"),
}
LINES = {"loss": "-", "epsilon": "-", "length": ":"}
SIZE, WIDE = (7.2, 4.8), (9.6, 4.8)
LEGEND: dict[str, Any] = {
    "facecolor": "white", "edgecolor": "none", "framealpha": 1, "fontsize": SMALL_FONT,
}  # fmt: skip
Y_LABEL = "F1 of the best analyst"


def per_word(points: Sequence[Point]) -> Figure:
    """Draw the best model's F1 over the loss per word."""
    along_loss = [
        point for point in points if point.varied != "length" and point.loss_per_word is not None
    ]
    figure, axes = single_figure(SIZE, "loss per word ℓ", Y_LABEL)
    _draw(axes, along_loss, lambda point: point.loss_per_word or 0.0, PAPER_LOSSES[0])
    axes.legend(**LEGEND)
    return figure


def per_document(points: Sequence[Point]) -> Figure:
    """Draw the best model's F1 over the loss per document, on a logarithmic axis."""
    label = "loss per document; for words n·ℓ (lines: along ℓ, dotted: along n)"
    figure, axes = single_figure(WIDE, label, Y_LABEL)
    axes.set_xscale("log")
    _draw(axes, points, lambda point: point.loss_per_document, PAPER_LOSSES[1])
    if any(point.mechanism == "document" for point in points):
        for name, loss, f1 in PUBLISHED:
            label = f"{name}: {f1:.3g} at {loss:,g}"
            axes.errorbar([loss], [f1], fmt="h", ms=9, color=GREY, label=label)
    axes.legend(**LEGEND, loc="center left", bbox_to_anchor=(1.02, 0.5))
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda loss, _: f"{loss:,.0f}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    return figure


def _draw(
    axes: Axes, points: Sequence[Point], loss: Callable[[Point], float], published: float
) -> None:
    best = best_models(points)
    largest = max([*(loss(point) for point in best if isfinite(loss(point))), published])
    edge = largest * (1.5 if axes.get_xscale() == "log" else 1.1)
    for curve, (colour, marker) in STYLES.items():
        style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 5}
        name: str | None = CURVE_NAMES[curve]
        lines: dict[tuple[Any, ...], list[tuple[float, float, float]]] = {}
        for point in best:
            if point.curve == curve:
                place = (min(loss(point), edge), point.f1, point.f1_std or 0.0)
                lines.setdefault(_line_key(point), []).append(place)
        for (varied, *_), places in lines.items():
            x, y, spread = zip(*sorted(places), strict=True)
            line = "" if x[0] == edge else LINES[varied]
            axes.errorbar(x, y, spread, ls=line, label=name, capsize=2, **style)
            name = None  # only once in the legend
    axes.axhline(TARGET_F1, color=GREY, lw=0.8, ls="--")
    paper = f"the paper: {TARGET_F1:.2f} at {published:,g}"
    axes.errorbar([published], [TARGET_F1], fmt="*", ms=11, color="black", label=paper)
    if any(not isfinite(loss(point)) for point in best):
        axes.axvline(edge, color=GREY, lw=0.8, ls=":")
        top = axes.get_xaxis_transform()
        axes.text(edge, 1.0, "∞", transform=top, ha="center", va="bottom", color=GREY)
    axes.set_ylim(bottom=0)


def _line_key(point: Point) -> tuple[Any, ...]:
    """Return what the points of a line share: all but the varied setting and M, which follows ℓ.

    For whole documents, everything else follows from the loss too.
    """
    if point.loss_per_word is None:
        return (point.varied,)
    return (point.varied, point.k, point.epsilon if point.varied == "length" else point.length)
