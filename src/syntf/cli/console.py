"""Everything that commands print: text, tables, JSON and progress bars."""

import io
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich import markup
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from syntf.core.errors import printable
from syntf.core.progress import Advance, shown_by

__all__ = ["emit", "escape", "notify", "progress", "say", "screen", "table", "warn"]

for _stream in (sys.stdout, sys.stderr):
    if isinstance(_stream, io.TextIOWrapper):
        _stream.reconfigure(errors="replace")  # for terminals that cannot show ε or █


class _Output(Console):
    """A console that leaves a closed pipe to :mod:`syntf.cli.ends`."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def screen() -> Console:
    """Return the console on standard output."""
    return _Output(highlight=False, emoji=False)


def escape(text: object) -> str:
    """Return a text in which rich finds no markup."""
    return markup.escape(str(text))


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


def table(
    rows: Iterable[Sequence[str]], headers: Sequence[str] = (), *, right: Iterable[int] = ()
) -> None:
    """Print rows of cells, with rich's markup, in columns.

    headers : names of the columns; none are shown by default.
    right : numbers of the columns that are aligned to the right.
    """
    cells = [list(row) for row in rows]
    made = Table(box=None, show_header=bool(headers), padding=(0, 2, 0, 0))
    for number in range(max(map(len, [headers, *cells]), default=0)):
        header = headers[number] if headers else ""
        made.add_column(header, justify="right" if number in [*right] else "left", overflow="fold")
    for row in cells:
        made.add_row(*row)
    screen().print(made)


@contextmanager
def progress(quiet: bool = False) -> Iterator[None]:
    """Show progress bars with the time left on a terminal, and nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    columns = (
        TextColumn("{task.description:<12}"), BarColumn(bar_width=24), TaskProgressColumn(),
        TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:

        @contextmanager
        def listen(name: str, total: int) -> Iterator[Advance]:
            task = bars.add_task(name, total=total or None)
            try:
                yield lambda steps: bars.advance(task, steps)
            finally:
                bars.remove_task(task)

        with shown_by(listen):
            yield
