"""How long work tells of its progress: named stages, each counting up to a total."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Advance = Callable[[int], None]
Stages = Callable[[str, int], AbstractContextManager[Advance]]
"""Called with a stage's name and total, gives a context in which to report steps done."""


@contextmanager
def silent(name: str, total: int) -> Iterator[Advance]:
    """Tell nobody."""
    yield lambda steps: None
