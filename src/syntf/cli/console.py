"""The screen that results are shown on; with what :mod:`syntf.cli.streams` has for all commands."""

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from syntf.cli.streams import emit, progress

__all__ = ["Output", "emit", "out", "progress", "show"]


class Output(Console):
    """A console that leaves the end of a command to :mod:`syntf.cli.exits`."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


out = Output(highlight=False, emoji=False)


def show(table: Table) -> None:
    """A table that folds its words to the terminal, but cuts none: digits are never left out.

    Where even that is too wide, the terminal wraps the lines.
    """
    unbounded = out.options.update(max_width=10_000)
    _, right, _, left = table.padding
    least, widths = [], []
    for column in table.columns:
        cells = [*([column.header] if table.show_header else []), *column.cells]
        sizes = [Measurement.get(out, unbounded, cell) for cell in cells]
        least.append(max((size.minimum for size in sizes), default=0))
        widths.append(max((size.maximum for size in sizes), default=0))
    space = out.width - len(widths) * (left + right)
    while sum(widths) > space and widths != least:
        loosest = max(range(len(widths)), key=lambda place: widths[place] - least[place])
        widths[loosest] -= 1
    for column, width in zip(table.columns, widths, strict=True):
        column.width = width
    needed = sum(widths) + len(widths) * (left + right)
    wide = out if out.width >= needed else Output(highlight=False, emoji=False, width=needed)
    wide.print(table)
