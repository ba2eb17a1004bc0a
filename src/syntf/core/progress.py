"""How long work reports its progress: in named stages, each of which counts up to a total."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Advance = Callable[[int], None]
"""Called with the number of steps just done."""

Stages = Callable[[str, int], AbstractContextManager[Advance]]
"""Called with the name and the total of a stage; returns a context that reports its steps."""


def silent(name: str, total: int) -> AbstractContextManager[Advance]:
    """Report nothing."""
    return nullcontext(lambda steps: None)
