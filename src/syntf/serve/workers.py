"""Serve with several processes that share one port, one ledger and the counters of the metrics.

The first process prepares everything and forks the workers, so they share its memory. It answers
no request itself. It charges the ledger for all workers: what they ask while one transaction is
written is the next transaction. So the ledger has one writer, whatever the number of workers.

*Guarantee.* A worker draws only for what this process has charged. If a worker is killed, its
charges stay, and another takes its place. If this process is killed, the workers finish and stop.
"""

import asyncio
import logging
import multiprocessing
import signal
import socket
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

from syntf.ledger.ledger import Ledger
from syntf.ledger.session import Session
from syntf.serve.charging import Charger, charge_for_pipes
from syntf.serve.guard import Guard
from syntf.serve.server import listen

log = logging.getLogger("syntf.serve")

RESTART_SECONDS = 1.0
"""Time before a worker that ended by itself is replaced."""

GATHER_SECONDS = 0.002
"""Time for other workers to ask, too, before a transaction begins, which takes longer."""

SIGNALS = (signal.SIGTERM, signal.SIGINT)

MakeApp = Callable[[Charger | None], Guard]


class Workers:
    """Processes that serve on one socket each.

    Parameters
    ----------
    make_app : makes the application in a worker, given what charges the ledger there.
    ledger, loss : what to charge for each document; without a ledger nothing is charged.
    """

    def __init__(
        self, make_app: MakeApp, bound: Sequence[socket.socket], ledger: Ledger | None, loss: float
    ) -> None:
        self._context = multiprocessing.get_context("fork")
        self._make_app = make_app
        self._bound = bound
        self._key = b"" if ledger is None else ledger.name_key()
        self._session = None if ledger is None else Session(ledger)
        self._loss = loss
        self._pipes: dict[int, Connection] = {}
        self._processes: dict[int, BaseProcess] = {}
        self._stopping = False

    def run(self) -> bool:
        """Serve until SIGTERM or SIGINT, and return when all workers have stopped.

        Returns whether every worker has stopped by itself.
        """
        for each in SIGNALS:
            signal.signal(each, self._stop)
        for number in range(len(self._bound)):
            if not self._stopping:
                self._start(number)
        clean = True
        while self._processes:
            ready = set(wait(self._waited_for()))
            if self._session is not None and ready.intersection(self._pipes.values()):
                time.sleep(GATHER_SECONDS)
                asking = [pipe for pipe in self._pipes.values() if pipe.poll()]
                charge_for_pipes(self._session, self._loss, asking)
            for number, process in list(self._processes.items()):
                if process.sentinel in ready:
                    clean = self._ended(number, process) and clean
        return clean

    def _waited_for(self) -> list[Any]:
        sentinels = [process.sentinel for process in self._processes.values()]
        return [*self._pipes.values(), *sentinels]

    def _start(self, number: int, delay: float = 0.0) -> None:
        ours, theirs = self._context.Pipe()
        self._pipes[number] = ours
        process = self._context.Process(target=self._serve, args=(number, theirs, delay))
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # until the worker has its own handlers
        process.start()
        self._processes[number] = process
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        theirs.close()

    def _ended(self, number: int, process: BaseProcess) -> bool:
        """Replace a worker that has ended, unless the service stops; return whether it was well."""
        process.join()
        self._pipes.pop(number).close()
        del self._processes[number]
        if self._stopping:
            return process.exitcode in (0, *(-each for each in SIGNALS))
        log.error("worker %d ended with code %s and is replaced", number, process.exitcode)
        self._start(number, RESTART_SECONDS)
        return True

    def _stop(self, signal_number: int, frame: FrameType | None) -> None:
        self._stopping = True
        for bound in self._bound:  # or connections would wait for a worker that has stopped
            bound.close()
        for process in list(self._processes.values()):
            process.terminate()

    def _serve(self, number: int, pipe: Connection, delay: float) -> None:
        """Serve in a worker."""
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        time.sleep(delay)
        for other in self._pipes.values():  # so that the pipe ends when the first process ends
            other.close()
        for place, bound in enumerate(self._bound):
            if place != number:
                bound.close()
        charger = None if self._session is None else Charger.of_pipe(pipe, self._key)
        app = self._make_app(charger)
        app.metrics.worker = number
        listen(app, self._bound[number], stop_with_parent)


def stop_with_parent(stop: Callable[[], None]) -> None:
    """Call `stop` in the event loop when the first process has ended."""
    first = multiprocessing.parent_process()
    if first is not None:
        loop = asyncio.get_running_loop()

        def ended() -> None:
            loop.remove_reader(first.sentinel)
            stop()

        loop.add_reader(first.sentinel, ended)
