"""Parquet files, a batch at a time, each tried in a process of its own first.

On some damaged files polars panics, on others the process is aborted: a header that promises
2^60 values is believed. So a file is gone through once where nothing can be lost and where
nothing that is said can be heard; only a file that this survives is read.
"""

import subprocess  # nosec B404
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

TRIAL = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no copy of the texts
except ImportError:
    pass
import polars as pl
def gone_through(source, batch):
    table = pl.scan_parquet(source, glob=False)
    rows = table.select(pl.len()).collect().item()
    for start in range(0, rows, batch):
        table.slice(start, batch).collect()
if __name__ == "__main__":
    gone_through(sys.argv[1], int(sys.argv[2]))
"""
"""What the other process does: the same reading."""


def frames(source: Path, batch: int) -> Iterator[pl.DataFrame]:
    """The rows of a file, `batch` at a time."""
    # One file, never a pattern: nothing else is opened on its behalf.
    table = pl.scan_parquet(source, glob=False)
    rows = table.select(pl.len()).collect().item()
    for start in range(0, rows, batch):
        yield table.slice(start, batch).collect()


def survives(source: Path, batch: int) -> bool:
    """Whether a process that reads the file comes to its end."""
    with source.open("rb"):
        pass  # a file that is not there, or not ours to read, is another problem
    command = [sys.executable, "-c", TRIAL, str(source.absolute()), str(batch)]
    silent = subprocess.DEVNULL
    # This interpreter, with the path as an argument, and no shell.
    trial = subprocess.run(  # nosec B603
        command, stdin=silent, stdout=silent, stderr=silent, check=False
    )
    return trial.returncode == 0
