"""The service as a FastAPI application, behind its guard."""

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

PAGE = {
    "/": ("index.html", "text/html"),
    "/docs": ("docs.html", "text/html"),
    "/static/page.css": ("page.css", "text/css"),
    "/static/page.js": ("page.js", "text/javascript"),
    "/static/docs.js": ("docs.js", "text/javascript"),
    "/static/theme.js": ("theme.js", "text/javascript"),
    "/favicon.ico": ("icon.svg", "image/svg+xml"),
}
UNSEEN: Any = dict.fromkeys(
    ("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False
)
"""OpenTelemetry would be told paths, words among them, and messages of exceptions: nothing is."""

FIELDS = frozenset(
    ["body", "path", "query", "word", "top"]
    + [name for model in (schemas.Document, schemas.Documents, schemas.Play)
       for name in model.model_fields]
)  # fmt: skip


SHAPES = frozenset({"Document", "Documents"})
"""The two shapes of a request, one of which it must have: no part of it."""


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The answers other than 200 that a route may give, for the description."""
    meanings = {
        400: "The body is no JSON.",
        401: "The token is missing or wrong.",
        403: "The request is from a page of another origin, or came through a proxy.",
        408: "The request took too long to arrive.",
        409: "The ledger refuses: nothing was spent or drawn.",
        413: "Too many bytes, or too many documents.",
        421: "The service does not go by that name.",
        422: "The request is not as described here.",
        429: "Too many requests from this address.",
        500: "Something went wrong in the service.",
        503: "The ledger cannot be used: nothing was drawn.",
    }
    return {
        code: {"model": schemas.Problem, "description": meanings[code]}
        for code in sorted({401, 403, 421, 429, 500, *codes})
    }


def create_app(
    service: Service,
    config: Config,
    playground: Playground | None = None,
) -> Guard:
    """All routes; those of the page only with a playground, and where the config allows it."""
    metrics = Metrics()
    app = FastAPI(
        title="syntf",
        version=__version__,
        summary="Texts in, synthetic term frequencies with a privacy guarantee out.",
        docs_url=None,
        redoc_url=None,
        telemetry=UNSEEN,
    )

    @app.post(
        "/v1/anonymize",
        response_model=schemas.Release,
        responses=problems(400, 408, 409, 413, 422, 503),
    )
    def anonymize(body: schemas.Document | schemas.Documents) -> Response:
        """Draw n words for each text. Every answer is a release, and losses add up."""
        documents = [body] if isinstance(body, schemas.Document) else body.documents
        if len(documents) > config.max_documents:
            raise HTTPException(413, f"a request may have {config.max_documents:,} documents")
        ids = names([one.id for one in documents])
        authors = names([one.author for one in documents])
        if service.ledger is None and (ids or authors):
            raise HTTPException(409, "ids and authors are for a ledger, and there is none")
        if service.ledger is not None:
            try:
                service.ledger.check_authors(authors is not None)
            except SyntfError:
                wanted = "wants" if authors is None else "has no budget for"
                raise HTTPException(409, f"the ledger {wanted} authors") from None
        answer = service.anonymize([one.text for one in documents], ids, authors)
        metrics.drawn(len(documents))
        run = answer.run
        return JSONResponse(
            {
                "documents": [
                    {"counts": counts, "words": list(repeated(counts))} for counts in answer.counts
                ],
                "guarantee": service.guarantee,
                "charged": None if run is None else {"run": run.number, "head": run.hash},
            }
        )

    @app.get(
        "/v1/explain/{word}",
        response_model=schemas.Explanation,
        response_model_exclude_none=True,
        responses=problems(422),
    )
    def explain(
        word: Annotated[str, Path(min_length=1, max_length=100, examples=["library"])],
        top: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> dict[str, Any]:
        """What becomes of a word, whatever the document: a property of the table alone."""
        return service.explain(word, top)

    @app.get("/v1/guarantee", responses=problems())
    async def guarantee() -> dict[str, Any]:
        """What is promised of every document, as guarantee.json of a release."""
        return service.guarantee

    @app.get("/healthz", response_model=schemas.Health)
    async def health() -> dict[str, str]:
        """That the service runs. Needs no token."""
        return {"status": "ok", "version": __version__}

    @app.get("/metrics", responses=problems(), response_class=Response)
    def prometheus() -> Response:
        """Counters and durations for Prometheus; nothing of any text."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    if playground is not None and config.shows_page:
        add_page(app, playground)

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        return problem(422, described(error.errors()))

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        return problem(error.status_code, error.detail, error.headers)

    @app.exception_handler(BudgetError)
    def over_budget(request: Request, error: BudgetError) -> Response:
        # No more than that: what is left of a budget tells who was released before.
        return problem(409, "the ledger refuses this request: nothing was spent or drawn")

    @app.exception_handler(SyntfError)
    def unusable(request: Request, error: SyntfError) -> Response:
        return problem(503, "the ledger cannot be charged for this: see syntf ledger verify")

    return Guard(app, config, metrics)


def add_page(app: FastAPI, playground: Playground) -> None:
    """The page and what it asks for, which is not part of the API."""
    folder = files("syntf.serve").joinpath("static")
    for path, (name, kind) in PAGE.items():
        content = folder.joinpath(name).read_bytes()
        app.add_api_route(path, serving(content, kind), include_in_schema=False)

    @app.get("/page/start", include_in_schema=False)
    def start() -> dict[str, Any]:
        return playground.start

    @app.post("/page/draw", include_in_schema=False)
    def draw(body: schemas.Play) -> Response:
        chosen = body.model_dump(exclude={"texts"})
        drawn = json.dumps(playground.draw(body.texts, **chosen))  # half a character is escaped
        return Response(drawn, media_type="application/json")


def serving(content: bytes, kind: str) -> Any:
    """A route that answers with a file."""

    async def serve() -> Response:
        return Response(content, media_type=kind)

    return serve


def names(given: list[str | None]) -> list[str] | None:
    """All ids or authors of a request, or None if it has none; some with and some without: 409."""
    found = [name for name in given if name is not None]
    if found and len(found) < len(given):
        raise HTTPException(409, "give an id, or an author, for every document or for none")
    return found or None


def repeated(counts: dict[str, int]) -> Iterable[str]:
    """Each word as often as it was counted."""
    return (word for word, count in counts.items() for _ in range(count))


def described(errors: Iterable[Any]) -> str:
    """Where a request is wrong and how, by the names of this service and by numbers alone.

    >>> described([{"loc": ("body", "secret", 3), "msg": "Field required", "input": "secret"}])
    'body.….3: Field required'
    """
    found = []
    for error in errors:
        named = (part for part in error["loc"] if part not in SHAPES)
        where = (str(part) if isinstance(part, int) or part in FIELDS else "…"
                 for part in named)  # fmt: skip
        found.append(f"{'.'.join(where)}: {error['msg']}")
    return "; ".join(list(dict.fromkeys(found))[:5])


def problem(status: int, detail: str, headers: Any = None) -> Response:
    return JSONResponse({"detail": detail}, status, headers)
