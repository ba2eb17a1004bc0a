"""The paper's figures of the bounds, as pictures."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from syntf.core.errors import SyntfError
from syntf.privacy import bounds

SIZES = (2, 100, 30_000)
FORMATS = (".png", ".svg", ".pdf")


def loss_bounds(epsilon: float | None = None, tight: float | None = None) -> Figure:
    """Standard and improved bound on the loss of one word over ε, for L = 2, 100, 30000."""
    figure, axes = _axes("privacy parameter ε", "upper bound on the loss per word")
    grid = np.linspace(0.05, 60, 400)
    axes.plot(grid, grid, ":", color="black", label="standard: ε")
    for size, style in zip(SIZES, ("-", "--", "-."), strict=True):
        values = [bounds.improved_loss(x, size) for x in grid]
        axes.plot(grid, values, style, label=f"improved: ε + ln η, L = {size:,}")
    if epsilon is not None and tight is not None:
        axes.plot([epsilon], [tight], "o", color="black", label=f"tight, measured: {tight:.2f}")
    axes.legend(frameon=False)
    return figure


def necessary_epsilon() -> Figure:
    """The ε that a good output needs in half of all cases, over the number of outputs."""
    figure, axes = _axes("outputs |Z|", "necessary ε for a good output in half the draws")
    sizes = np.unique(np.logspace(1, 6, 200).astype(int))
    for good, style in zip((1, 10, 100), ("-", "--", "-."), strict=True):
        values = [bounds.necessary_epsilon(0.5, good, max(0, int(n) - good)) for n in sizes]
        axes.plot(sizes, values, style, label=f"{good} good output{'s' * (good > 1)}")
    axes.set_xscale("log")
    axes.legend(frameon=False)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format its name ends in."""
    if path.suffix.lower() not in FORMATS:
        raise SyntfError(f"cannot draw {path.name}: the name must end in {', '.join(FORMATS)}")
    figure.savefig(path, dpi=150)


def _axes(x: str, y: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
    return figure, axes
