"""Lower limits: reading bytes, multiplying vectors, random bytes, hashing."""

import hashlib
import os
from collections.abc import Callable

import numpy as np

MB = 1 << 20
BYTES = 256 * MB
BLOCK = 512


def prepare(which: str, argument: str = "") -> Callable[[], dict[str, float]]:
    benchmark: Callable[[str], Callable[[], dict[str, float]]] = globals()[f"_{which}"]
    return benchmark(argument)


def _read(path: str) -> Callable[[], dict[str, float]]:
    def once() -> dict[str, float]:
        with open(path, "rb", buffering=0) as file:
            done = sum(map(len, iter(lambda: file.read(MB), b"")))
        return {"amount": done / 1e6}

    return once


def _product(count: str) -> Callable[[], dict[str, float]]:
    from suite.work.embedded import first_words

    _, matrix = first_words(int(count))
    floats = matrix.astype(np.float32)
    floats[:BLOCK] @ floats[:BLOCK].T  # start the threads of the library

    def once() -> dict[str, float]:
        for row in range(0, len(floats), BLOCK):
            floats[row : row + BLOCK] @ floats.T
        return {}

    return once


def _random(_: str) -> Callable[[], dict[str, float]]:
    def once() -> dict[str, float]:
        for _ in range(BYTES // MB):
            os.urandom(MB)
        return {"amount": BYTES / 1e6}

    return once


def _sha256(_: str) -> Callable[[], dict[str, float]]:
    block = bytes(MB)

    def once() -> dict[str, float]:
        digest = hashlib.sha256()
        for _ in range(BYTES // MB):
            digest.update(block)
        return {"amount": BYTES / 1e6}

    return once
