"""How long work reports its progress, in named stages, to whoever listens.

The command line listens with a progress bar, the service with a number for its page. Work only says
``with stage("reading", total) as advance: ... advance(steps)``; without a listener nothing happens.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

Advance = Callable[[int], None]
"""Called with the number of steps just done."""

Listener = Callable[[str, int], AbstractContextManager[Advance]]
"""Called with the name and the total of a stage; returns a context that reports its steps."""

_listener: ContextVar[Listener | None] = ContextVar("the listener of progress", default=None)


def stage(name: str, total: int) -> AbstractContextManager[Advance]:
    """Begin a stage of `total` steps; the context gives the function that reports steps done."""
    listener = _listener.get()
    return nullcontext(lambda steps: None) if listener is None else listener(name, total)


@contextmanager
def shown_by(listener: Listener) -> Iterator[None]:
    """Report the progress of all work inside this context to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
