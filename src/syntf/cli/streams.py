"""What the commands say and show, whether or not anybody looks: no screen is needed for it.

Apart from :mod:`syntf.cli.console`, as what draws on a screen takes long to import.
"""

import io
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from syntf.core.progress import Stages, silent

for stream in (sys.stdout, sys.stderr):
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # ε and █ on a terminal that lacks them


def emit(record: Mapping[str, Any]) -> None:
    """One JSON object on standard output, in letters that any terminal has."""
    click.echo(json.dumps(record, indent=2, allow_nan=False))


@contextmanager
def progress(quiet: bool = False) -> Iterator[Stages]:
    """Progress bars with rate and time left, on a terminal; silence elsewhere."""
    if quiet:
        yield silent
        return
    from rich.console import Console  # here: nobody else waits for it to be imported

    console = Console(stderr=True)
    if not console.is_terminal:
        yield silent
        return
    from syntf.cli import bars

    with bars.shown(console) as stages:
        yield stages
