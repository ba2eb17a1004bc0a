"""Draw words one after the other until the time of a round is over."""

import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROUND = 2.0
"""Processor seconds after which a round ends."""


def read_words(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").split()


def batched(words: Sequence[str], size: int) -> list[Sequence[str]]:
    return [words[start : start + size] for start in range(0, len(words), size)]


def spell(
    words: Sequence[str], draw: Callable[[Sequence[str]], object], batch: int = 1
) -> Callable[[], dict[str, float]]:
    """Return a round that draws for `batch` words at a time and continues where the last ended."""
    batches = itertools.cycle(batched(words, batch))

    def once() -> dict[str, float]:
        start, drawn = time.process_time(), 0
        while time.process_time() - start < ROUND:
            some = next(batches)
            draw(some)
            drawn += len(some)
        return {"amount": drawn}

    return once
