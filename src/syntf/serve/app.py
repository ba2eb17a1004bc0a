"""The service: `POST /v1/rows` for programs and, on this machine alone, a page for people.

*Guarantee.* Every answer of ``POST /v1/rows`` is a release of its own: it is drawn anew, and losses
add up. Nothing of a request is logged, not even its path; an unexpected error is logged by its type
and its place in the code, because its message may quote a text. Status, headers and errors depend
on the number of texts and on ids, and never on what a text says.
"""

import asyncio
import logging
import tempfile
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hmac import compare_digest
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, FastAPI, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from syntf import __version__
from syntf.core.errors import Refused, SyntfError
from syntf.inputs.sequences import as_texts
from syntf.ledger import Ledger
from syntf.rows import build, draw, guarantee
from syntf.serve.jobs import Desk, sentence
from syntf.serve.page import add_page
from syntf.settings import Settings

LARGEST_BODY = 8 << 20
"""Bytes of a request. A file that is chosen on the page may be larger."""
MOST_TEXTS = 1000
"""Texts in one request."""

EXPECTED = (
    f'send JSON such as {{"texts": ["a text"]}}, with 1 to {MOST_TEXTS:,} texts; /openapi.json '
    "describes what else a request may hold"
)

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine. A page on another name that points here is an attack (DNS rebinding)."""

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}

QUIET: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans"), False)
"""OpenTelemetry, where it is set up, would record paths and messages of errors."""

log = logging.getLogger("syntf.serve")


class Texts(BaseModel):
    """Texts to release, each a document of its own; null is an empty document."""

    model_config = ConfigDict(extra="forbid")
    # Any, not str: a text that is no valid Unicode must not stop a request.
    texts: Annotated[
        list[Any],
        Field(
            min_length=1, max_length=MOST_TEXTS,
            json_schema_extra={"items": {"type": ["string", "null"]}},
        ),
    ]  # fmt: skip
    ids: list[str | int] | None = Field(None, description="For a ledger: the id of each document.")
    authors: list[str | int | None] | None = Field(
        None, description="For a ledger with a budget for authors: who wrote each document."
    )


class Released(BaseModel):
    """What is released of each text, and the guarantee, as in guarantee.json.

    `answers` and `topics` are null if the method releases words alone.
    """

    answers: list[list[int]] | None
    topics: list[str] | None
    terms: list[list[str]]
    counts: list[list[int]]
    guarantee: dict[str, Any]


class Service:
    """Draw for texts; several threads may do so at once.

    ledger : is charged for every text before anything is drawn.
    """

    def __init__(self, settings: Settings, ledger: Ledger | None = None) -> None:
        self._rows = build(settings)
        self._scheme = self._rows.scheme(None)
        self._ledger = ledger

    def release(self, body: Texts) -> dict[str, Any]:
        """Release texts. Each call draws anew and spends their loss."""
        texts, ids, authors = as_texts(body.texts), body.ids, body.authors
        for name, given in (("ids", ids), ("authors", authors)):
            if given is not None and self._ledger is None:
                raise SyntfError(f"{name} are for a ledger: leave them out, or start one")
            if given is not None and len(given) != len(texts):
                raise SyntfError(f"there are {len(given):,} {name} for {len(texts):,} texts")
        encoded = self._rows.encode(texts)
        promise = guarantee(self._rows, [self._scheme], documents=len(texts))
        if self._ledger is not None:
            names = self._ledger.names("text" if ids is None else "id", authors=bool(authors))
            names.add(texts if ids is None else ids, authors)
            self._ledger.charge(promise, names, note="POST /v1/rows")
        drawn = draw(self._scheme, encoded)
        counts, listed = drawn.counts(), self._scheme.listed
        words = np.asarray(self._scheme.terms, dtype=object)[counts.indices]
        return {
            "answers": drawn.answers.tolist() if listed else None,
            "topics": drawn.names() if listed else None,
            "terms": [each.tolist() for each in np.split(words, counts.indptr[1:-1])],
            "counts": [each.tolist() for each in np.split(counts.data, counts.indptr[1:-1])],
            "guarantee": promise.as_dict(),
        }


class Guard:
    """Check every request before its body is read, and protect every answer."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def protected(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        try:
            answer = refusal(Request(scope), self._token) or self._app
            await answer(scope, receive, protected)
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # also panics of polars, which may quote a text
            place = traceback.extract_tb(error.__traceback__)[-1]
            log.error("%s at %s:%s", type(error).__name__, place.filename, place.lineno)
            if not begun:
                await problem(500, sentence(error))(scope, receive, protected)


def create_app(
    settings: Settings,
    *,
    token: str | None = None,
    ledger: Ledger | None = None,
    loopback: bool = True,
) -> FastAPI:
    """Return the application.

    Parameters
    ----------
    settings : the method of the service, and the first choice of the page.
    token : what requests to ``/v1/`` must carry. There is a page without it alone.
    ledger : is charged for every text, and for every document of a release.
    loopback : whether this machine alone can reach the service.
    """
    service = Service(settings, ledger)
    home = tempfile.TemporaryDirectory(prefix="syntf-serve-")  # its owner alone can open it
    desk = Desk(Path(home.name))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with home:
            yield
            desk.close()

    app = FastAPI(
        title="syntf", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan,
        summary="Turn texts into synthetic term frequencies with a privacy guarantee.",
        telemetry=QUIET,
    )  # fmt: skip
    secured = [Security(HTTPBearer(auto_error=False))] if token else []  # Guard checks it

    @app.post("/v1/rows", response_model=Released, dependencies=secured)
    def rows(body: Texts) -> dict[str, Any]:
        """Release one row for each text. Every answer is a release of its own: losses add up."""
        return service.release(body)

    @app.get("/health")
    def health() -> dict[str, str]:
        """Say that the service runs."""
        return {"status": "ok", "version": __version__}

    if loopback and token is None:
        static = Path(str(files("syntf.serve").joinpath("static")))
        router = APIRouter(include_in_schema=False)
        add_page(router, desk, static / "page.html", settings, ledger.path if ledger else None)
        app.include_router(router)
        app.mount("/static", StaticFiles(directory=static))

    app.add_middleware(Guard, token=token)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=LOOPBACK if loopback else ["*"])

    @app.exception_handler(SyntfError)
    @app.exception_handler(OSError)
    def refused(request: Request, error: Exception) -> JSONResponse:
        status = (
            409 if isinstance(error, Refused) else 422 if isinstance(error, SyntfError) else 507
        )
        return problem(status, sentence(error))

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return problem(422, EXPECTED)  # the error itself quotes what was sent

    return app


def refusal(request: Request, token: str | None) -> JSONResponse | None:
    """Return why a request is refused by its header, if it is."""
    sent, needed = request.headers.get("authorization", ""), f"Bearer {token}"
    is_api, size = request.url.path.startswith("/v1/"), request.headers.get("content-length", "")
    if not token and request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return problem(403, "the service does not answer other pages")
    if token and is_api and not compare_digest(sent.encode(), needed.encode()):
        return problem(401, "send the token of the service: Authorization: Bearer TOKEN")
    if request.method == "POST" and not (size.isdecimal() and int(size) <= LARGEST_BODY):
        return problem(
            413, f"a request has at most {LARGEST_BODY:,} bytes and says how many (Content-Length)"
        )
    return None


def problem(status: int, detail: str) -> JSONResponse:
    """Return an answer that says in one sentence what is wrong."""
    return JSONResponse({"detail": detail}, status)
