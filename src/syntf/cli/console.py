"""What the commands share: a console for results, progress on the error stream."""

import io
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from syntf.stages import Stages, silent

for stream in (sys.stdout, sys.stderr):
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # ε and █ on a terminal that lacks them


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


def emit(record: Mapping[str, Any]) -> None:
    """One JSON object on standard output, in letters that any terminal has."""
    click.echo(json.dumps(record, indent=2, allow_nan=False))


@contextmanager
def progress(quiet: bool = False) -> Iterator[Stages]:
    """Progress bars with rate and time left, on a terminal; silence elsewhere."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield silent
        return
    from syntf.cli import bars  # here: nobody else waits for it to be imported

    with bars.shown(console) as stages:
        yield stages


@contextmanager
def resumable() -> Iterator[None]:
    """Whatever interrupts what is inside is told with the way to go on."""
    try:
        yield
    except BaseException as error:
        error.add_note("what is done is kept, and the same command goes on from there")
        raise
