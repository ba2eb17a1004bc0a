"""Do work in blocks on several threads. NumPy and SciPy work without Python's lock."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def cores() -> int:
    """Return the number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_blocks(work: Callable[[slice], T], count: int, size: int) -> Iterator[T]:
    """Call `work` for `count` things in blocks of `size`, on several threads; yield in order.

    The first error, or Ctrl-C, cancels all work that has not begun.

    >>> list(in_blocks(lambda block: block.stop - block.start, 10, 4))
    [4, 4, 2]
    """
    blocks = [slice(start, min(start + size, count)) for start in range(0, count, size)]
    if len(blocks) < 2 or cores() < 2:
        yield from map(work, blocks)
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), ThreadPoolExecutor(cores()) as pool:
        try:
            yield from pool.map(work, blocks)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
