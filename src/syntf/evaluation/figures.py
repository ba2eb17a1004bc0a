"""The common style of all figures, and how they are saved."""

from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from syntf.core.errors import SyntfError

FORMATS = (".png", ".svg", ".pdf")
GREY = "#555555"
SMALL_FONT = 8


def single_figure(size: tuple[float, float], x: str, y: str) -> tuple[Figure, Axes]:
    """Create a figure with one panel: its size in inches and the labels of its axes."""
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    style_axes(axes)
    return figure, axes


def style_axes(axes: Axes) -> None:
    """Remove the top and right border of a panel and draw a light grid behind the data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)


def save_figure(figure: Figure, path: Path) -> None:
    """Save a figure in the format that the suffix of the file name asks for."""
    if path.suffix.lower() not in FORMATS:
        raise SyntfError(
            f"cannot save the figure as {path.name}: the name must end in {', '.join(FORMATS)}"
        )
    figure.savefig(path, dpi=150)


def save_figures(folder: Path, figures: Mapping[str, Figure]) -> None:
    """Save each figure under its name, as PNG and as SVG."""
    for name, figure in figures.items():
        for suffix in (".png", ".svg"):
            save_figure(figure, folder / f"{name}{suffix}")
