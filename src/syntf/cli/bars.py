"""Progress bars, for a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager

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

from syntf.core.progress import Advance, Stages


class RateColumn(ProgressColumn):
    """Steps a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "", style="progress.data.speed")


@contextmanager
def shown(console: Console) -> Iterator[Stages]:
    """A bar for each stage of the work, gone when all is done."""
    columns = (
        TextColumn("{task.description:<18}"),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        RateColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bars:

        @contextmanager
        def stage(name: str, total: int) -> Iterator[Advance]:
            task = bars.add_task(name, total=total)
            try:
                yield lambda steps: bars.advance(task, steps)
            finally:
                bars.remove_task(task)

        yield stage
