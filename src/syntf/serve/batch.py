"""Draw for several requests at once: what waits while a batch is drawn is the next batch.

*Guarantee.* All requests of a batch are charged before any of them is drawn for, and a request
that the ledger refuses is not drawn for. Every document has draws of its own: a draw for several
texts is the same as a draw for each of them (`syntf.serve.service`). An error in one request leaves
the others alone, except that they are drawn for again; what was drawn before is never seen.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from syntf.core.errors import SyntfError
from syntf.ledger.names import Names
from syntf.ledger.session import Due
from syntf.ledger.store import Run
from syntf.serve.charging import Charger
from syntf.serve.document_service import DocumentService
from syntf.serve.service import Released, Service

BATCH_SIZE = 1 << 16
"""Largest batch: its characters, and DOCUMENT_SIZE for each document. It is drawn for without a
thread, to which switching would take longer. A larger request has a thread of its own."""

DOCUMENT_SIZE = 256
"""A document without a word takes about as long as this many characters."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What was released for the documents of a request, and the run that was charged, if any."""

    documents: list[Released]
    run: Run | None


@dataclass(eq=False)
class Waiting:
    """A request that waits for its answer. `due` is what the ledger will be charged, if any."""

    texts: Sequence[str]
    due: Due | None
    answer: asyncio.Future[Answer]
    run: Run | None = None

    @property
    def size(self) -> int:
        """How much of a batch the request takes."""
        return size_of(self.texts)

    def fail(self, error: Exception) -> None:
        """Let the request fail with this error, unless nobody waits for it any more."""
        if not self.answer.done():
            self.answer.set_exception(error)

    def succeed(self, documents: list[Released]) -> None:
        """Answer the request, unless nobody waits for it any more."""
        if not self.answer.done():
            self.answer.set_result(Answer(documents, self.run))


class Batcher:
    """Collect the requests that arrive while others are drawn for, and draw for them together.

    Parameters
    ----------
    service : draws for the texts.
    charger : charges the ledger of the service; None if it has none.
    """

    def __init__(self, service: Service | DocumentService, charger: Charger | None) -> None:
        if (service.ledger is None) != (charger is None):
            raise SyntfError("a service with a ledger needs a charger, and one without has none")
        self._service = service
        self._charger = charger
        self._waiting: deque[Waiting] = deque()
        self._task: asyncio.Task[None] | None = None
        self._drawing: set[asyncio.Task[None]] = set()

    async def anonymize(self, texts: Sequence[str], names: Names | None) -> Answer:
        """Charge the ledger, if there is one, and draw for each text.

        Raises
        ------
        BudgetError : the ledger refuses the documents; nothing was charged or drawn.
        """
        due = None
        if self._charger is not None:
            if names is None:
                raise SyntfError("name the documents that the ledger is charged for")
            due = Due.of(names, self._charger.key)
        loop = asyncio.get_running_loop()
        request = Waiting(texts, due, loop.create_future())
        self._waiting.append(request)
        if self._task is None:
            self._task = loop.create_task(self._work())
        return await request.answer

    async def _work(self) -> None:
        """Charge one batch after the other until nothing waits, and let each be drawn for.

        So the next batch is charged while this one is drawn for.
        """
        try:
            while batch := self._take():
                if self._charger is not None:
                    batch = await self._charge(self._charger, batch)
                drawing = asyncio.create_task(self._answer(batch))
                self._drawing.add(drawing)
                drawing.add_done_callback(self._drawing.discard)
        finally:
            self._task = None

    def _take(self) -> list[Waiting]:
        """Take a long request by itself, or as many short ones as fit into a batch."""
        batch: list[Waiting] = []
        size = 0
        while self._waiting:
            request = self._waiting[0]
            size += request.size
            if batch and (size > BATCH_SIZE or not self._service.is_quick):
                break
            self._waiting.popleft()
            if not request.answer.done():  # nobody waits for a request that was cancelled
                batch.append(request)
        return batch

    async def _charge(self, charger: Charger, batch: list[Waiting]) -> list[Waiting]:
        """Charge all requests; return those that were charged, and let the others fail."""
        dues = [request.due for request in batch if request.due is not None]
        try:
            results = await charger.charge(dues)
        except Exception as error:
            for request in batch:
                request.fail(error)
            return []
        charged = []
        for request, result in zip(batch, results, strict=True):
            if isinstance(result, Run):
                request.run = result
                charged.append(request)
            else:
                request.fail(result)
        return charged

    async def _answer(self, batch: list[Waiting]) -> None:
        """Draw for all requests together, or for one after the other if that fails."""
        try:
            documents = await self._draw([text for request in batch for text in request.texts])
        except Exception as error:
            if len(batch) == 1:
                batch[0].fail(_not_of_the_ledger(error))
            else:
                for request in batch:
                    await self._answer([request])
            return
        start = 0
        for request in batch:
            end = start + len(request.texts)
            request.succeed(documents[start:end])
            start = end

    async def _draw(self, texts: Sequence[str]) -> list[Released]:
        if not texts:
            return []
        if self._service.is_quick and size_of(texts) <= BATCH_SIZE:
            return self._service.draw(texts)
        return await asyncio.to_thread(self._service.draw, texts)


def _not_of_the_ledger(error: Exception) -> Exception:
    """Return an error of drawing, such as that of an encoder, as what it is.

    A SyntfError means that the ledger was not charged, and here it was.
    """
    if not isinstance(error, SyntfError):
        return error
    return RuntimeError("the draw failed").with_traceback(error.__traceback__)


def size_of(texts: Sequence[str]) -> int:
    """Return how much of a batch the texts take."""
    return sum(map(len, texts)) + DOCUMENT_SIZE * len(texts)
