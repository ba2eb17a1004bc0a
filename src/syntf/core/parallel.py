"""Long work in blocks, on all cores or on as many as it may have."""

import os
import signal
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError

if TYPE_CHECKING:
    from joblib import Parallel

Progress = Callable[[int], None]
"""Called with the number of rows, or of draws, just done."""

BLOCK = 1 << 20  # entries a worker holds at once

_most: ContextVar[int] = ContextVar("threads that share work")


def threads() -> int:
    """How many threads share work here: one a core, unless :func:`at_most` says otherwise."""
    return _most.get(_cores())


@contextmanager
def at_most(jobs: int | None) -> Iterator[None]:
    """Have no more threads than this share the work inside, with this thread's own work.

    As scikit-learn counts jobs: -1 for one a core, -2 for one less. None changes nothing.
    """
    if jobs is not None and (not isinstance(jobs, Integral) or jobs == 0):
        raise SyntfError(
            "jobs must be a whole number, at least 1 or negative to count from the number of "
            f"cores, not {jobs!r}"
        )
    before = threads()
    most = before if jobs is None else jobs if jobs > 0 else max(1, _cores() + 1 + jobs)
    token = _most.set(most)
    try:
        yield
    finally:
        _most.reset(token)


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
    from threadpoolctl import threadpool_limits  # here: a run that has no table goes without it

    with threadpool_limits(1), ThreadPoolExecutor(threads()) as pool:
        for block, _ in zip(blocks, _each(pool, work, blocks), strict=True):
            if progress:
                progress(int(upto[block.stop] - upto[block.start]))


def processes(jobs: int, **options: Any) -> "Parallel":
    """joblib's, fresh ones: not forks of this one, which may have threads.

    joblib replaces a process that has grown large, as by a model of spaCy, and warns of it: where
    warnings are errors, that would end the thread that minds them all.
    """
    from joblib import Parallel

    warnings.filterwarnings("ignore", "A worker stopped while some jobs")
    return Parallel(jobs, backend="loky", initializer=_undisturbed, **options)


def _undisturbed() -> None:
    """For a process that works for another: Ctrl-C, which reaches all, is the other's to heed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _cores() -> int:
    """Those this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
