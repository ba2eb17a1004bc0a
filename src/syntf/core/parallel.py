"""Do work in blocks on several threads, as many as there are cores or as were allowed."""

import os
import signal
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import chain, islice
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError

if TYPE_CHECKING:
    from joblib import Parallel

S = TypeVar("S")
T = TypeVar("T")

Progress = Callable[[int], None]
"""Called with the number of rows, or of draws, just done."""

BLOCK = 1 << 20
"""Entries of a table that a thread holds at once."""

MOST_AHEAD = 4
"""Threads that work ahead. More of them would wait for the caller, which takes the things."""

_allowed: ContextVar[int] = ContextVar("the number of threads allowed")


def threads() -> int:
    """Return the number of threads to use: one per core, unless :func:`at_most` limits it."""
    return _allowed.get(None) or _cores()


@contextmanager
def at_most(jobs: int | None) -> Iterator[None]:
    """Use at most this number of threads inside the context, for work that this thread starts.

    `jobs` counts as in scikit-learn: -1 for one per core, -2 for one less. None changes nothing.
    """
    if jobs is not None and (not isinstance(jobs, Integral) or jobs == 0):
        raise SyntfError(
            "jobs must be a whole number, at least 1 or negative to count from the number of "
            f"cores, not {jobs!r}"
        )
    if jobs is None:
        yield
        return
    token = _allowed.set(int(jobs) if jobs > 0 else max(1, _cores() + 1 + int(jobs)))
    try:
        yield
    finally:
        _allowed.reset(token)


def in_blocks(work: Callable[[slice], T], count: int, size: int) -> Iterator[T]:
    """Call `work` for `count` things in blocks of `size`, on several threads; yield in order."""
    size = max(1, size)
    blocks = [slice(a, min(a + size, count)) for a in range(0, count, size)]
    workers = min(len(blocks), threads())
    if workers < 2:
        yield from map(work, blocks)
        return
    with _pool(workers) as pool:
        yield from pool.map(work, blocks)


def ahead(
    work: Callable[[S], T],
    things: Iterable[S],
    *,
    quick: bool = True,
    matrix_products: bool = True,
) -> Iterator[tuple[S, T]]:
    """Yield each thing with the result of `work`, in order.

    While the caller uses one result, other threads work on the next ones, each on one of them,
    unless one thread is allowed. The things themselves are taken by the caller's thread. If there
    is only one, the caller's thread works on it.

    quick : whether `work` takes seconds at most. Ctrl-C does not end the work of another thread,
        so slow work is left to the caller's thread.
    matrix_products : whether `work` multiplies matrices with NumPy. Their threads are then limited
        here, because another thread must not do so while this one imports (:func:`beside`).
    """
    if threads() < 2 or not quick:
        yield from ((thing, work(thing)) for thing in things)
        return
    stream = iter(things)
    first_two = list(islice(stream, 2))
    if len(first_two) < 2:
        yield from ((thing, work(thing)) for thing in first_two)
        return
    workers = min(threads(), MOST_AHEAD)
    products = _one_thread_per_product() if matrix_products else nullcontext()
    with products, ThreadPoolExecutor(workers) as pool:
        waiting = deque[tuple[S, Future[T]]]()
        for thing in chain(first_two, stream):
            context = copy_context()
            context.run(_allowed.set, 1)
            waiting.append((thing, pool.submit(context.run, work, thing)))
            if len(waiting) > 2 * workers:
                first, begun = waiting.popleft()
                yield first, begun.result()
        for first, begun in waiting:
            yield first, begun.result()


def _pool(workers: int) -> ThreadPoolExecutor:
    """Return threads of which each may use no others: they are as many as were allowed."""
    return ThreadPoolExecutor(workers, initializer=_allowed.set, initargs=(1,))


def beside(work: Callable[[], T], *, quick: bool = True) -> Callable[[], T]:
    """Begin `work` on another thread; return a function that waits for its result and returns it.

    An error of `work` is raised where the result is asked for. If only one thread is allowed,
    `work` begins when its result is asked for.

    `work` must not limit the threads of matrix products: threadpoolctl holds the lock of the
    dynamic loader and waits for Python's lock, while a thread that imports a compiled module holds
    Python's lock and waits for that of the loader. Both would wait for ever.

    quick : whether `work` takes seconds at most. Ctrl-C does not end the work of another thread,
        so slow work is left to the caller's thread.
    """
    if threads() < 2 or not quick:
        return cache(work)
    pool = ThreadPoolExecutor(1)
    begun = pool.submit(copy_context().run, work)
    pool.shutdown(wait=False)  # the thread ends after this work
    return begun.result


def for_each_block(work: Callable[[slice], None], count: int, size: int) -> None:
    """Call `work` for `count` things in blocks of `size`, on several threads of this program.

    Meanwhile matrix products use one thread: threads of their own wait for each other by spinning,
    which takes longer than small products do.
    """
    if count <= size:
        if count:
            work(slice(0, count))
        return
    with _one_thread_per_product():
        for _ in in_blocks(work, count, size):
            pass


def in_parallel(
    work: Callable[[slice], None],
    rows: int,
    width: int,
    progress: Progress | None,
    done: NDArray[np.intp] | None = None,
    *,
    matrix_products: bool = True,
) -> None:
    """Call `work` for all rows of a table with `width` columns, in blocks on several threads.

    Matrix products inside a thread use that thread alone. `progress` is told the number of rows
    done, or, with `done`, an increase of ``done[r]`` after the first r rows.

    matrix_products : whether `work` multiplies matrices with NumPy. If not, this function may run
        beside other threads that import modules (:func:`beside`).
    """
    upto = range(rows + 1) if done is None else done
    size = max(1, BLOCK // width)
    blocks = [slice(a, min(a + size, rows)) for a in range(0, rows, size)]
    products = _one_thread_per_product() if matrix_products else nullcontext()
    with products, _pool(threads()) as pool:
        for block, _ in zip(blocks, _each(pool, work, blocks), strict=True):
            if progress:
                progress(int(upto[block.stop] - upto[block.start]))


_limiting = threading.Lock()
_limited = ExitStack()
_limited_by = 0


@contextmanager
def _one_thread_per_product() -> Iterator[None]:
    """Let each matrix product use the thread that it was called from alone.

    Several threads may be inside at once. The last one that leaves removes the limit: if each
    removed its own, the first one would do so while the others still need it.
    """
    global _limited_by
    with _limiting:
        if not _limited_by:
            from threadpoolctl import threadpool_limits  # imported here: short runs have one block

            _limited.enter_context(threadpool_limits(1))
        _limited_by += 1
    try:
        yield
    finally:
        with _limiting:
            _limited_by -= 1
            if not _limited_by:
                _limited.close()


def processes(jobs: int, **options: Any) -> "Parallel":
    """Return joblib's processes: new ones, not forks of this process, which may have threads.

    joblib replaces a process that has grown large, for instance by a spaCy model, and warns. Where
    warnings are errors, this would end the thread that supervises all processes.
    """
    from joblib import Parallel

    warnings.filterwarnings("ignore", "A worker stopped while some jobs")
    return Parallel(jobs, backend="loky", initializer=_ignore_interrupts, **options)


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C in a worker: it reaches all processes, and the main one handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _cores() -> int:
    """Return the number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _each(
    pool: ThreadPoolExecutor, work: Callable[[slice], None], blocks: list[slice]
) -> Iterator[None]:
    """Yield results in order. The first failure, or Ctrl-C, cancels all work that has not begun."""
    futures = [pool.submit(work, block) for block in blocks]
    try:
        for future in futures:
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
