"""Turn a request for a release into its answer: check it, anonymise, and write JSON.

*Guarantee.* An answer holds what was released, the guarantee and the head of the ledger, and
nothing of the request. So its bytes, also when compressed, are computed from the release alone:
their number reveals nothing that the release does not.
"""

import json
import re
import zlib
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from syntf.core.errors import BudgetError, NamingError, SyntfError
from syntf.ledger.names import Names
from syntf.serve import schemas
from syntf.serve.batch import Batcher
from syntf.serve.charging import Charger
from syntf.serve.config import Config
from syntf.serve.document_service import DocumentService
from syntf.serve.metrics import Metrics
from syntf.serve.service import Service

GZIP_FROM = 1000
"""Shorter answers are not compressed."""

_GZIP_ACCEPTED = re.compile(rb"\bgzip\b(?!\s*;\s*q\s*=\s*0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)
_GZIP = 16 + zlib.MAX_WBITS  # zlib's code for a gzip header, which holds no time
_FASTEST = 1

OVER_BUDGET = (
    "the ledger refuses: a document or an author of this request would lose more than their "
    "budget; nothing was charged or drawn"
)
"""Say no more: the remaining budget would reveal what was released before."""

OTHER_NAMES = (
    "the ledger refuses: send an id with every document, or with none, as in the requests before; "
    "nothing was charged or drawn"
)
UNUSABLE = "the ledger cannot be charged: run syntf ledger verify"


class Answers:
    """Answer requests for releases."""

    def __init__(
        self,
        service: Service | DocumentService,
        config: Config,
        metrics: Metrics,
        charger: Charger | None,
    ) -> None:
        self._service = service
        self._max_documents = config.max_documents
        self._metrics = metrics
        self._batcher = Batcher(service, charger)
        self._guarantee = _json(service.guarantee)

    async def release(self, body: schemas.Document | schemas.Documents) -> bytes:
        """Anonymise the texts of a request; return the JSON of the answer.

        Raises an HTTPException if the request is refused.
        """
        documents = [body] if isinstance(body, schemas.Document) else body.documents
        if len(documents) > self._max_documents:
            raise HTTPException(413, f"a request may have {self._max_documents:,} documents")
        texts = [document.text for document in documents]
        try:
            answer = await self._batcher.anonymize(texts, self._names(documents, texts))
        except NamingError:
            raise HTTPException(409, OTHER_NAMES) from None
        except BudgetError:
            raise HTTPException(409, OVER_BUDGET) from None
        except SyntfError:
            raise HTTPException(503, UNUSABLE) from None
        self._metrics.count_documents(len(documents))
        run = answer.run
        charged = None if run is None else {"run": run.number, "head": run.hash}
        return b'{"documents":%b,"guarantee":%b,"charged":%b}' % (
            _json(answer.documents), self._guarantee, _json(charged),
        )  # fmt: skip

    def _names(self, documents: list[schemas.Document], texts: list[str]) -> Names | None:
        """Return whom to charge; None without a ledger."""
        ids = all_or_none("id", [document.id for document in documents])
        authors = all_or_none("author", [document.author for document in documents])
        ledger = self._service.ledger
        if ledger is None:
            if ids or authors:
                raise HTTPException(409, "remove id and author: the service has no ledger")
            return None
        try:
            ledger.check_authors(authors is not None)
        except SyntfError:
            advice = "send an author for" if authors is None else "remove the author of"
            detail = f"{advice} every document: see the budgets of the ledger"
            raise HTTPException(409, detail) from None
        return Names(texts if ids is None else ids, authors, "text" if ids is None else "id")


def respond(content: bytes, headers: list[tuple[bytes, bytes]]) -> Response:
    """Make a response of JSON, compressed if the headers of the request say so."""
    sent = {"Vary": "Accept-Encoding"}
    if len(content) >= GZIP_FROM and accepts_gzip(headers):
        packer = zlib.compressobj(_FASTEST, zlib.DEFLATED, _GZIP)
        content = packer.compress(content) + packer.flush()
        sent["Content-Encoding"] = "gzip"
    return Response(content, headers=sent, media_type="application/json")


def accepts_gzip(headers: list[tuple[bytes, bytes]]) -> bool:
    """Return whether the headers of a request accept an answer in gzip.

    >>> [accepts_gzip([(b"accept-encoding", value)]) for value in
    ...  (b"gzip, br", b"br;q=1, gzip;q=0.5", b"gzip;q=0", b"gzip; q=0.000, br", b"identity")]
    [True, True, False, False, False]
    """
    return any(
        name == b"accept-encoding" and _GZIP_ACCEPTED.search(value) for name, value in headers
    )


def all_or_none(field: str, values: list[str | None]) -> list[str] | None:
    """Return the ids or authors of all documents, or None if no document has one.

    Raises an HTTPException if only some documents have one.
    """
    present = [value for value in values if value is not None]
    if present and len(present) < len(values):
        raise HTTPException(409, f"send {field} for every document or for no document")
    return present or None


def problem(status: int, detail: str, headers: Any = None) -> Response:
    """Make an error response."""
    return Response(_json({"detail": detail}), status, headers, media_type="application/json")


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
