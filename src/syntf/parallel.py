"""Long work over the rows of a table, in blocks on all cores."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

Progress = Callable[[int], None]
"""Called with the number of rows, or of draws, just done."""

BLOCK = 1 << 20  # entries a worker holds at once

_cores = os.cpu_count()


def in_parallel(
    work: Callable[[slice], None],
    rows: int,
    width: int,
    progress: Progress | None,
    done: NDArray[np.intp] | None = None,
) -> None:
    """Do all rows, each of `width` entries; products run single-threaded inside a worker.

    Once rows 0 … r are done, progress has been told ``done[r + 1]`` in all; without `done`,
    the number of rows.
    """
    upto = range(rows + 1) if done is None else done
    size = max(1, BLOCK // width)
    blocks = [slice(a, min(a + size, rows)) for a in range(0, rows, size)]
    with threadpool_limits(1), ThreadPoolExecutor(_cores) as pool:
        for block, _ in zip(blocks, _each(pool, work, blocks), strict=True):
            if progress:
                progress(int(upto[block.stop] - upto[block.start]))


def one_thread() -> None:
    """For a process that is given one core, as a task of a cluster is."""
    global _cores
    _cores = 1


def undisturbed() -> None:
    """For a process that works for another: Ctrl-C, which reaches all, is the other's to heed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _each(
    pool: ThreadPoolExecutor, work: Callable[[slice], None], blocks: list[slice]
) -> Iterator[None]:
    """Results in order; the first failure, or Ctrl-C, cancels what has not begun."""
    futures = [pool.submit(work, block) for block in blocks]
    try:
        for future in futures:
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
