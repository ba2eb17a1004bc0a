"""Everything that commands print: text, tables, JSON and progress bars.

rich is imported when something is printed with it, so commands with ``--quiet`` or ``--json`` do
not wait for it.
"""

import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TextIO

import click

from syntf.core.errors import printable
from syntf.core.progress import Advance, Stages, silent

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

for stream in (sys.stdout, sys.stderr):
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # for terminals that cannot show ε or █


def emit(record: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output, in ASCII."""
    click.echo(json.dumps(record, indent=2, allow_nan=False))


def say(text: str = "", *, wrap: bool = True) -> None:
    """Print a line with rich's markup; without `wrap` it may be wider than the terminal."""
    screen().print(text, soft_wrap=not wrap)


def warn(text: str) -> None:
    """Print a line of plain text with a yellow exclamation mark before it."""
    say(f"[yellow]![/] {escape(text)}")


def notify(notices: Iterable[str]) -> None:
    """Print sentences for the owner of the texts on standard error; they may depend on texts."""
    for notice in notices:
        click.echo(f"syntf: {printable(notice)}", err=True)


def escape(text: object) -> str:
    """Return a text in which rich finds no markup."""
    from rich.markup import escape

    return escape(str(text))


@cache
def screen(width: int | None = None) -> "Console":
    """Return the console on standard output; `width` is that of the terminal by default."""
    from rich.console import Console

    class Output(Console):
        """A console that leaves a closed pipe to :mod:`syntf.cli.exits`."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Output(highlight=False, emoji=False, width=width)


def table(
    rows: Iterable[Sequence[str]],
    headers: Sequence[str] = (),
    *,
    right: Iterable[int] = (),
    padding: int = 2,
) -> None:
    """Print rows of cells, with rich's markup, in columns.

    Parameters
    ----------
    rows : rows of cells
    headers : names of the columns; none are shown by default
    right : numbers of the columns that are aligned to the right
    padding : blanks after each column
    """
    from rich.table import Table

    made = Table(box=None, show_header=bool(headers), padding=(0, padding, 0, 0))
    cells = [list(row) for row in rows]
    for number in range(max(map(len, [headers, *cells]), default=0)):
        header = headers[number] if headers else ""
        made.add_column(header, justify="right" if number in [*right] else "left")
    for row in cells:
        made.add_row(*row)
    show(made)


def is_terminal(stream: TextIO | None) -> bool:
    """Tell whether a stream shows colours and moving bars, as rich does, without importing it.

    stream : None if it was closed when the program started
    """
    return stream is not None and (stream.isatty() or bool(os.environ.get("FORCE_COLOR")))


def facts(rows: Sequence[Sequence[str]], styles: Mapping[str, str] = MappingProxyType({})) -> None:
    """Print rows of plain text in columns.

    On a terminal, the first cell has the colour that `styles` gives it. Elsewhere the last column
    is not folded, and nothing waits for rich.
    """
    if is_terminal(sys.stdout):
        marked = [[escape(cell) for cell in row] for row in rows]
        for cells in marked:
            if cells[0] in styles:
                cells[0] = f"[{styles[cells[0]]}]{cells[0]}[/]"
        table(marked)
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(padded).rstrip())


def conclude(headline: str, style: str, rest: str) -> None:
    """Print the last sentences of a command, whose first words say how it ended."""
    if is_terminal(sys.stdout):
        say(f"[{style}]{headline}[/]{escape(rest)}")
    else:
        click.echo(headline + rest)


def show(table: "Table") -> None:
    """Print a table, folding cells between words to fit the terminal; no number is ever cut.

    If the longest words do not fit either, the table is wider than the terminal.
    """
    from rich.measure import Measurement

    out = screen()
    unbounded = out.options.update(max_width=10_000)
    _, right, _, left = table.padding
    minima, widths = [], []
    for column in table.columns:
        cells = [*([column.header] if table.show_header else []), *column.cells]
        sizes = [Measurement.get(out, unbounded, cell) for cell in cells]
        minima.append(max((size.minimum for size in sizes), default=0))
        widths.append(max((size.maximum for size in sizes), default=0))
    space = out.width - len(widths) * (left + right)
    while sum(widths) > space and widths != minima:
        loosest = max(range(len(widths)), key=lambda number: widths[number] - minima[number])
        widths[loosest] -= 1
    for column, width in zip(table.columns, widths, strict=True):
        column.width = width
    needed = sum(widths) + len(widths) * (left + right)
    (out if out.width >= needed else screen(needed)).print(table)


@contextmanager
def progress(quiet: bool = False) -> Iterator[Stages]:
    """Show progress bars with rate and time left on a terminal, and nothing elsewhere."""
    if quiet or not is_terminal(sys.stderr):
        yield silent
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class RateColumn(ProgressColumn):
        """Steps per second."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            shown = f"{speed or 0:,.0f}/s"
            return Text("" if shown == "0/s" else shown, style="progress.data.speed")

    description = TextColumn("{task.description:<18}")
    columns = (description, BarColumn(bar_width=24), TaskProgressColumn(), RateColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bars:

        @contextmanager
        def stage(name: str, total: int) -> Iterator[Advance]:
            task = bars.add_task(name, total=total)
            try:
                yield lambda steps: bars.advance(task, steps)
            finally:
                bars.remove_task(task)

        yield stage
