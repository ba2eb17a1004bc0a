"""Where random bits come from.

*Guarantee.* The private path uses :func:`system` and nothing else: every call
asks the operating system, no state is kept, so a forked or pickled worker has
no stream to repeat. If the system cannot answer, ``os.urandom`` raises and
nothing is released.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Source = Callable[[int], bytes]
"""A source of random bits: called with a number of bytes, returns that many."""


def system(size: int) -> bytes:
    """`size` bytes from the operating system."""
    return os.urandom(size)


@dataclass
class Seeded:
    """A repeatable source for tests and documentation. What it draws is NOT PRIVATE."""

    seed: int
    _calls: int = field(default=0, repr=False)

    def __call__(self, size: int) -> bytes:
        self._calls += 1
        return hashlib.shake_256(f"{self.seed}/{self._calls}".encode()).digest(size)


def integers(source: Source, count: int, bits: int) -> NDArray[np.int64]:
    """`count` integers, uniform on [0, 2**bits), from eight bytes each; bits < 64.

    The total is a power of two, so taking the top bits is exact: no modulo, no
    rejection, and the number of bytes used depends on `count` alone.
    """
    return (words(source, count) >> np.uint64(64 - bits)).astype(np.int64)


def words(source: Source, count: int) -> NDArray[np.uint64]:
    """`count` times eight bytes of the source, all of their bits."""
    raw = source(8 * count)
    if len(raw) != 8 * count:
        raise RuntimeError(f"the entropy source gave {len(raw)} bytes instead of {8 * count}")
    return np.frombuffer(raw, dtype="<u8").astype(np.uint64, copy=False)


def permutation(source: Source, count: int) -> NDArray[np.intp]:
    """A uniform order of `count` things: the order of as many 63-bit integers."""
    return np.argsort(integers(source, count, 63), kind="stable")
