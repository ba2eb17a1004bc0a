"""Charge the ledger without keeping other requests waiting: in a thread, or in another process."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection

from syntf.core.errors import BudgetError, SyntfError
from syntf.ledger.ledger import Ledger
from syntf.ledger.session import Due, Session
from syntf.ledger.store import Run

Charged = list[Run | BudgetError]
"""For each request the run that was charged, or why the ledger refuses it."""


class Charger:
    """Charge the ledger for several requests at once, while a thread waits for the disk.

    Parameters
    ----------
    key : names are hashed under this key before they are passed on.
    begin : begins to charge requests, and returns a function that waits for the result. An error
        means that none of the requests may be drawn for.
    """

    def __init__(self, key: bytes, begin: Callable[[list[Due]], Callable[[], Charged]]) -> None:
        self.key = key
        self._begin = begin
        self._thread = ThreadPoolExecutor(1, "ledger")

    @classmethod
    def of_ledger(cls, ledger: Ledger, loss: float) -> "Charger":
        """Charge a ledger in this process, which is the only one that serves."""
        session = Session(ledger)
        return cls(ledger.name_key(), lambda dues: partial(session.spend_each, loss, dues))

    @classmethod
    def of_pipe(cls, pipe: Connection, key: bytes) -> "Charger":
        """Ask the process at the other end to charge; it does so for all workers together."""

        def receive() -> Charged:
            try:
                answer: Charged | SyntfError = pipe.recv()
            except (EOFError, OSError) as error:
                raise lost() from error
            if isinstance(answer, SyntfError):
                raise answer
            return answer

        def begin(dues: list[Due]) -> Callable[[], Charged]:
            try:
                pipe.send(dues)
            except OSError as error:
                raise lost() from error
            return receive

        return cls(key, begin)

    async def charge(self, dues: list[Due]) -> Charged:
        """Charge the requests, one call at a time; an error means: draw for none of them."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._begin(dues))


def lost() -> SyntfError:
    """Return the error for a charge that may or may not have been made."""
    return SyntfError("the process that charges the ledger has ended")


def charge_for_pipes(session: Session, loss: float, pipes: Sequence[Connection]) -> None:
    """Charge what arrived in all these pipes in one transaction, and answer each pipe.

    A pipe whose worker was killed is left alone: what the worker had charged stays charged.
    """
    asked: list[tuple[Connection, list[Due]]] = []
    for pipe in pipes:
        try:
            asked.append((pipe, pipe.recv()))
        except (EOFError, OSError):
            continue
    if not asked:
        return
    result: Charged | SyntfError
    try:
        result = session.spend_each(loss, [due for _, dues in asked for due in dues])
    except SyntfError as error:
        result = SyntfError(str(error))
    start = 0
    for pipe, dues in asked:
        end = start + len(dues)
        with suppress(OSError):
            pipe.send(result[start:end] if isinstance(result, list) else result)
        start = end
