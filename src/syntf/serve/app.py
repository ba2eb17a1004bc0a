"""The HTTP routes of the service, as a FastAPI application behind its guard."""

import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Annotated, Any

from fastapi import FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from syntf import __version__
from syntf.core.errors import BudgetError, SyntfError
from syntf.serve import schemas
from syntf.serve.config import Config
from syntf.serve.guard import Guard
from syntf.serve.metrics import Metrics
from syntf.serve.playground import Playground
from syntf.serve.service import Service

STATIC_FILES = {
    "/": ("index.html", "text/html"),
    "/docs": ("docs.html", "text/html"),
    "/static/page.css": ("page.css", "text/css"),
    "/static/page.js": ("page.js", "text/javascript"),
    "/static/docs.js": ("docs.js", "text/javascript"),
    "/static/theme.js": ("theme.js", "text/javascript"),
    "/favicon.ico": ("icon.svg", "image/svg+xml"),
}
TELEMETRY_OFF: Any = dict.fromkeys(
    ("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False
)
"""OpenTelemetry would record paths, which contain words, and messages of exceptions."""

FIELD_NAMES = frozenset(
    ["body", "path", "query", "word", "top"]
    + [name for model in (schemas.Document, schemas.Documents, schemas.PageDraw)
       for name in model.model_fields]
)  # fmt: skip
"""Names that an error message may repeat, because they are ours and not from the request."""

BODY_MODELS = frozenset({"Document", "Documents"})
"""Alternatives for a request body: pydantic adds their names to the place of an error."""

STATUS_DESCRIPTIONS = {
    400: "The body is not JSON, or a header was sent twice.",
    401: "The token is missing or wrong.",
    403: "The request comes from a page of another origin, or through a proxy.",
    408: "The request took too long to arrive.",
    409: "The ledger refuses: nothing was charged or drawn.",
    413: "The request has too many bytes or too many documents.",
    421: "The service does not answer to this host name.",
    422: "The request does not match this description.",
    429: "Too many requests from this address.",
    500: "Internal error.",
    503: "The ledger cannot be used: nothing was drawn.",
}


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the error statuses of a route: those given, and those that every route has."""
    return {
        status: {"model": schemas.Problem, "description": STATUS_DESCRIPTIONS[status]}
        for status in sorted({400, 401, 403, 421, 429, 500, *statuses})
    }


def create_app(
    service: Service,
    config: Config,
    playground: Playground | None = None,
) -> Guard:
    """Build the application.

    The page is added if there is a playground, the configuration allows it, and the service has
    no ledger: the page draws without charging.
    """
    metrics = Metrics()
    app = FastAPI(
        title="syntf",
        version=__version__,
        summary="Turn texts into synthetic term frequencies with a privacy guarantee.",
        docs_url=None,
        redoc_url=None,
        telemetry=TELEMETRY_OFF,
    )

    @app.post(
        "/v1/anonymize",
        response_model=schemas.Release,
        responses=error_responses(408, 409, 413, 422, 503),
    )
    def anonymize(body: schemas.Document | schemas.Documents) -> Response:
        """Draw n words for each text. Every answer is a release, and losses add up."""
        documents = [body] if isinstance(body, schemas.Document) else body.documents
        if len(documents) > config.max_documents:
            raise HTTPException(413, f"a request may have {config.max_documents:,} documents")
        ids = all_or_none("id", [document.id for document in documents])
        authors = all_or_none("author", [document.author for document in documents])
        if service.ledger is None and (ids or authors):
            raise HTTPException(409, "remove id and author: the service has no ledger")
        if service.ledger is not None:
            try:
                service.ledger.check_authors(authors is not None)
            except SyntfError:
                advice = "send an author for" if authors is None else "remove the author of"
                raise HTTPException(
                    409, f"{advice} every document: see the budgets of the ledger"
                ) from None
        answer = service.anonymize([document.text for document in documents], ids, authors)
        metrics.count_documents(len(documents))
        run = answer.run
        return JSONResponse(
            {
                "documents": [
                    {"counts": counts, "words": list(words(counts))} for counts in answer.counts
                ],
                "guarantee": service.guarantee,
                "charged": None if run is None else {"run": run.number, "head": run.hash},
            }
        )

    @app.get(
        "/v1/explain/{word}",
        response_model=schemas.Explanation,
        response_model_exclude_none=True,
        responses=error_responses(422),
    )
    def explain(
        word: Annotated[str, Path(min_length=1, max_length=100, examples=["library"])],
        top: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> dict[str, Any]:
        """Show the words that replace a word. The answer is the same for every document."""
        return service.explain(word, top)

    @app.get("/v1/guarantee", responses=error_responses())
    async def guarantee() -> dict[str, Any]:
        """Return the guarantee for every document: the fields of guarantee.json."""
        return service.guarantee

    @app.get("/healthz", response_model=schemas.Health, responses=error_responses())
    async def health() -> dict[str, str]:
        """Report that the service runs. Needs no token."""
        return {"status": "ok", "version": __version__}

    @app.get("/metrics", responses=error_responses(), response_class=Response)
    def prometheus() -> Response:
        """Return counters and durations for Prometheus; they contain no text."""
        return Response(metrics.as_text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    if playground is not None and config.shows_page and service.ledger is None:
        add_page(app, playground)

    @app.exception_handler(RequestValidationError)
    def invalid_request(request: Request, error: RequestValidationError) -> Response:
        return problem(422, describe_errors(error.errors()))

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        return problem(error.status_code, error.detail, error.headers)

    @app.exception_handler(BudgetError)
    def over_budget(request: Request, error: BudgetError) -> Response:
        # Say no more: the remaining budget would reveal what was released before.
        return problem(409, "the ledger refuses this request: nothing was charged or drawn")

    @app.exception_handler(SyntfError)
    def unusable_ledger(request: Request, error: SyntfError) -> Response:
        return problem(503, "the ledger cannot be charged: run syntf ledger verify")

    return Guard(app, config, metrics)


def add_page(app: FastAPI, playground: Playground) -> None:
    """Add the page, its files and its two routes, which are not part of the API."""
    folder = files("syntf.serve").joinpath("static")
    for path, (name, media_type) in STATIC_FILES.items():
        content = folder.joinpath(name).read_bytes()
        app.add_api_route(path, file_route(content, media_type), include_in_schema=False)

    @app.get("/page/start", include_in_schema=False)
    def start() -> dict[str, Any]:
        return playground.start

    @app.post("/page/draw", include_in_schema=False)
    def draw(body: schemas.PageDraw) -> Response:
        parameters = body.model_dump(exclude={"texts"})
        drawn = json.dumps(playground.draw(body.texts, **parameters))  # escapes lone surrogates
        return Response(drawn, media_type="application/json")


def file_route(content: bytes, media_type: str) -> Any:
    """Make a route that answers with the content of a file."""

    async def answer() -> Response:
        return Response(content, media_type=media_type)

    return answer


def all_or_none(field: str, values: list[str | None]) -> list[str] | None:
    """Return the ids or authors of all documents, or None if no document has one.

    Raises an HTTPException if only some documents have one.
    """
    present = [value for value in values if value is not None]
    if present and len(present) < len(values):
        raise HTTPException(409, f"send {field} for every document or for no document")
    return present or None


def words(counts: dict[str, int]) -> Iterable[str]:
    """Repeat each word as often as it was counted."""
    return (word for word, count in counts.items() for _ in range(count))


def describe_errors(errors: Iterable[Any]) -> str:
    """Say where a request is wrong and how, without repeating anything that was sent.

    >>> describe_errors([{"loc": ("body", "secret", 3), "msg": "Field required", "input": "x"}])
    'body.….3: Field required'
    """
    found = []
    for error in errors:
        parts = (part for part in error["loc"] if part not in BODY_MODELS)
        place = (str(part) if isinstance(part, int) or part in FIELD_NAMES else "…"
                 for part in parts)  # fmt: skip
        found.append(f"{'.'.join(place)}: {error['msg']}")
    return "; ".join(list(dict.fromkeys(found))[:5])


def problem(status: int, detail: str, headers: Any = None) -> Response:
    """Make an error response."""
    return JSONResponse({"detail": detail}, status, headers)
