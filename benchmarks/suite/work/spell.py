"""Words drawn one after the other, for as long as a round lasts."""

import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROUND = 2.0
"""Seconds of processor time that the words of a round take at least."""


def read_words(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").split()


def batched(words: Sequence[str], size: int) -> list[Sequence[str]]:
    return [words[start : start + size] for start in range(0, len(words), size)]


def spell(
    words: Sequence[str], draw: Callable[[Sequence[str]], object], batch: int = 1
) -> Callable[[], dict[str, float]]:
    """A round that draws for `batch` words at a time, and goes on where the last one ended."""
    batches = itertools.cycle(batched(words, batch))

    def once() -> dict[str, float]:
        start, drawn = time.process_time(), 0
        while time.process_time() - start < ROUND:
            some = next(batches)
            draw(some)
            drawn += len(some)
        return {"amount": drawn}

    return once
