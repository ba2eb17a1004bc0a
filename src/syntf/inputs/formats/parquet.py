"""Read Parquet and Arrow files in batches, each file after a trial in a process of its own.

On some damaged files polars panics, and on others it aborts the process: it believes a header that
promises 2^60 values. So another process reads the file first, in silence. Only a file that it
survives is read here. ``syntf verify`` tries the Parquet files of a release in the same way
(:mod:`syntf.verification.parquet_file`).
"""

import os
import subprocess  # nosec B404
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

WHOLE = 0
"""The batch of a file that is read at once."""

TRIAL = """
import os
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # write no image of the memory
except ImportError:
    pass
import polars as pl
def read_all(source, batch, format="parquet"):
    table = (pl.scan_parquet if format == "parquet" else pl.scan_ipc)(source, glob=False)
    if not batch:
        table.collect()
        return
    rows = table.select(pl.len()).collect().item()
    for start in range(0, rows, batch):
        table.slice(start, batch).collect()
if __name__ == "__main__":
    for source in os.fsdecode(sys.stdin.buffer.read()).split("\\0"):
        read_all(source, int(sys.argv[1]), sys.argv[2])
        print(flush=True)
"""
"""The program of the other process: it reads as :func:`frames` does, and counts files by lines."""


def frames(source: Path, batch: int, format: str = "parquet") -> "Iterator[pl.DataFrame]":
    """Yield the rows of a file, `batch` at a time. The format is parquet or arrow."""
    import polars as pl

    scan = pl.scan_parquet if format == "parquet" else pl.scan_ipc
    table = scan(source, glob=False)  # a name with wildcards is one file
    rows = table.select(pl.len()).collect().item()
    for start in range(0, rows, batch):
        yield table.slice(start, batch).collect()


def survives(source: Path, batch: int, format: str = "parquet") -> bool:
    """Return whether another process can read the whole file."""
    return len(try_files([source], TRIAL, str(batch), format)) == 1


def try_files(sources: Sequence[Path], program: str, *arguments: str) -> list[bytes]:
    """Let another process read files, one after the other, until one ends it.

    program : a Python program, which gets `arguments`, and the paths as its input. It prints a line
        for every file that it has read.

    Returns these lines.
    """
    for source in sources:
        with source.open("rb"):
            pass  # a missing or unreadable file is another error, raised here
    pipe, silent = subprocess.PIPE, subprocess.DEVNULL
    # This interpreter, and no shell. With -P it imports no module from the current folder, where a
    # stranger's files may be.
    trial = subprocess.run(  # nosec B603
        [sys.executable, "-P", "-c", program, *arguments],
        input=os.fsencode("\0".join(str(source.absolute()) for source in sources)),
        stdout=pipe, stderr=silent, check=False,
    )  # fmt: skip
    return trial.stdout.splitlines()
