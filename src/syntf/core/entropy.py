"""Where random bits come from.

*Guarantee.* Private releases use :func:`system` and nothing else. Every call asks the operating
system and keeps no state, so a forked or pickled worker cannot repeat a stream. If the system
cannot answer, ``os.urandom`` raises an error and nothing is released.
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
    """Return `size` bytes from the operating system."""
    return os.urandom(size)


@dataclass
class Seeded:
    """A repeatable source for tests and documentation. Draws from it are NOT PRIVATE."""

    seed: int
    _calls: int = field(default=0, repr=False)

    def __call__(self, size: int) -> bytes:
        self._calls += 1
        return hashlib.shake_256(f"{self.seed}/{self._calls}".encode()).digest(size)


def integers(source: Source, count: int, bits: int) -> NDArray[np.int64]:
    """Return `count` integers, uniform on [0, 2**bits), from eight bytes each; bits < 64.

    The range is a power of two, so the top bits are exactly uniform: there is no modulo and no
    rejection, and the number of bytes used depends on `count` alone.
    """
    return (words(source, count) >> np.uint64(64 - bits)).astype(np.int64)


def words(source: Source, count: int) -> NDArray[np.uint64]:
    """Return `count` integers of 64 random bits."""
    raw = source(8 * count)
    if len(raw) != 8 * count:
        raise RuntimeError(f"the entropy source gave {len(raw)} bytes instead of {8 * count}")
    return np.frombuffer(raw, dtype="<u8").astype(np.uint64, copy=False)


def permutation(source: Source, count: int) -> NDArray[np.intp]:
    """Return a uniformly random order of `count` things: the order of random 63-bit integers."""
    return np.argsort(integers(source, count, 63), kind="stable")
