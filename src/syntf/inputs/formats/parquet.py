"""Read Parquet and Arrow files in batches, each file after a trial in a process of its own.

On some damaged files polars panics, and on others it aborts the process: it believes a header that
promises 2^60 values. So another process reads the file first, in silence. Only a file that it
survives is read here.
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
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # write no image of the memory
except ImportError:
    pass
import polars as pl
def read_all(source, batch, format="parquet"):
    table = (pl.scan_parquet if format == "parquet" else pl.scan_ipc)(source, glob=False)
    rows = table.select(pl.len()).collect().item()
    for start in range(0, rows, batch):
        table.slice(start, batch).collect()
if __name__ == "__main__":
    read_all(sys.argv[1], int(sys.argv[2]), sys.argv[3])
"""
"""The program of the other process: it reads as :func:`frames` does."""


def frames(source: Path, batch: int, format: str = "parquet") -> Iterator[pl.DataFrame]:
    """Yield the rows of a file, `batch` at a time. The format is parquet or arrow."""
    scan = pl.scan_parquet if format == "parquet" else pl.scan_ipc
    table = scan(source, glob=False)  # a name with wildcards is one file
    rows = table.select(pl.len()).collect().item()
    for start in range(0, rows, batch):
        yield table.slice(start, batch).collect()


def survives(source: Path, batch: int, format: str = "parquet") -> bool:
    """Return whether another process can read the whole file."""
    with source.open("rb"):
        pass  # a missing or unreadable file is another error, raised here
    command = [sys.executable, "-c", TRIAL, str(source.absolute()), str(batch), format]
    silent = subprocess.DEVNULL
    # This interpreter, with the path as an argument, and no shell.
    trial = subprocess.run(  # nosec B603
        command, stdin=silent, stdout=silent, stderr=silent, check=False
    )
    return trial.returncode == 0
