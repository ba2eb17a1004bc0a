"""The HTTP routes of the service, as a FastAPI application behind its guard."""

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Annotated, Any

from fastapi import FastAPI, Path, Query, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from minijinja import Environment
from starlette.exceptions import HTTPException

from syntf import __version__
from syntf.serve import schemas
from syntf.serve.answers import Answers, problem, respond
from syntf.serve.charging import Charger
from syntf.serve.config import Config
from syntf.serve.document_playground import DocumentPlayground
from syntf.serve.document_service import DocumentService
from syntf.serve.fast import FastRoute
from syntf.serve.guard import Guard
from syntf.serve.metrics import Metrics
from syntf.serve.playground import Playground
from syntf.serve.service import Service

RELEASE_PATH = "/v1/anonymize"

API_FILES = {
    "/docs": ("docs.html", "text/html"),
    "/static/page.css": ("page.css", "text/css"),
    "/static/common.js": ("common.js", "text/javascript"),
    "/static/docs.js": ("docs.js", "text/javascript"),
    "/static/theme.js": ("theme.js", "text/javascript"),
    "/favicon.ico": ("icon.svg", "image/svg+xml"),
}
"""A page that shows the description of the API. It needs no token, but the description does."""

PAGE_SCRIPTS = {"index.html": "page.js", "document.html": "document.js"}
TELEMETRY_OFF: Any = dict.fromkeys(
    ("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False
)
"""OpenTelemetry would record paths, which contain words, and messages of exceptions."""

FIELD_NAMES = frozenset(
    ["body", "path", "query", "word", "top"]
    + [name for model in (schemas.Document, schemas.Documents, schemas.PageDraw,
                          schemas.DocumentPageDraw)
       for name in model.model_fields]
)  # fmt: skip
"""Names that an error message may repeat, because they are ours and not from the request."""

BODY_MODELS = frozenset({"Document", "Documents"})
"""Alternatives for a request body: pydantic adds their names to the place of an error."""

STATUS_DESCRIPTIONS = {
    400: "The body is not JSON or not gzip, or a header was sent twice.",
    401: "The token is missing or wrong.",
    403: "The request comes from a page of another origin, or through a proxy.",
    408: "The request took too long to arrive.",
    409: "The ledger refuses, and the detail names the cause: nothing was charged or drawn.",
    413: "The request has too many bytes or too many documents.",
    415: "The body has a content encoding other than gzip.",
    421: "The service does not answer to this host name.",
    422: "The request does not match this description.",
    429: "Too many requests from this address.",
    500: "Internal error.",
    503: "The ledger cannot be used, or the service is about to stop: nothing was drawn.",
}


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the error statuses of a route: those given, and those that every route has."""
    return {
        status: {"model": schemas.Problem, "description": STATUS_DESCRIPTIONS[status]}
        for status in sorted({400, 401, 403, 421, 429, 500, *statuses})
    }


def create_app(
    service: Service | DocumentService,
    config: Config,
    playground: Playground | DocumentPlayground | None = None,
    *,
    metrics: Metrics | None = None,
    charger: Charger | None = None,
) -> Guard:
    """Build the application.

    The page is added if there is a playground, the configuration allows it, and the service has
    no ledger: the page draws without charging. By default the ledger is charged in a thread, and
    the metrics are those of this process.
    """
    metrics = metrics or Metrics()
    if charger is None and service.ledger is not None:
        charger = Charger.of_ledger(service.ledger, service.loss)
    answers = Answers(service, config, metrics, charger)
    token = HTTPBearer(auto_error=False, scheme_name="token")  # the guard checks it
    secured = [Security(token)] if config.token else []
    app = FastAPI(
        title="syntf",
        version=__version__,
        summary="Turn texts into synthetic term frequencies with a privacy guarantee.",
        docs_url=None,
        redoc_url=None,
        telemetry=TELEMETRY_OFF,
    )

    @app.post(
        RELEASE_PATH,
        response_model=(schemas.DocumentRelease if service.unit == "document" else schemas.Release),
        responses=error_responses(408, 409, 413, 415, 422, 503),
        dependencies=secured,
    )
    async def anonymize(body: schemas.Body, request: Request) -> Response:
        """Release each text. Every answer is a release of its own, and losses add up."""
        return respond(await answers.release(body), request.scope["headers"])

    if isinstance(service, DocumentService):
        add_prototypes(app, service, secured)
    else:
        add_explain(app, service, secured)

    @app.get(
        "/v1/guarantee",
        response_model=schemas.GuaranteeRecord,
        responses=error_responses(),
        dependencies=secured,
    )
    async def guarantee() -> Response:
        """Return the guarantee for every document: the fields of guarantee.json."""
        return JSONResponse(service.guarantee)

    @app.get("/healthz", response_model=schemas.Health, responses=error_responses())
    async def health() -> dict[str, str]:
        """Report that the service runs. Needs no token."""
        return {"status": "ok", "version": __version__}

    @app.get("/metrics", responses=error_responses(), response_class=Response, dependencies=secured)
    def prometheus() -> Response:
        """Return counters for Prometheus; none depends on a text."""
        return Response(metrics.as_text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    shows_page = playground is not None and config.shows_page and service.ledger is None
    add_files(app, API_FILES, page=shows_page)
    if playground is not None and shows_page:
        add_page(app, playground)

    @app.exception_handler(RequestValidationError)
    def invalid_request(request: Request, error: RequestValidationError) -> Response:
        return problem(422, describe_errors(error.errors()))

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        return problem(error.status_code, error.detail, error.headers)

    metrics.set_routes([route.path for route in app.routes if isinstance(route, APIRoute)])
    (release,) = (route for route in app.routes if getattr(route, "path", None) == RELEASE_PATH)
    return Guard(FastRoute(app, answers, RELEASE_PATH, release), config, metrics)


def add_explain(app: FastAPI, service: Service, secured: Sequence[Any]) -> None:
    """Add the route that explains a word, in the words unit."""

    @app.get(
        "/v1/explain/{word}",
        response_model=schemas.Explanation,
        response_model_exclude_none=True,
        responses=error_responses(422),
        dependencies=secured,
    )
    def explain(
        word: Annotated[str, Path(min_length=1, max_length=100, examples=["library"])],
        top: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> dict[str, Any]:
        """Show the words that replace a word. The answer is the same for every document."""
        return service.explain(word, top)


def add_prototypes(app: FastAPI, service: DocumentService, secured: Sequence[Any]) -> None:
    """Add the route that shows the public list, in the document unit."""

    @app.get(
        "/v1/prototypes",
        response_model=schemas.Prototypes,
        responses=error_responses(),
        dependencies=secured,
    )
    def prototypes() -> dict[str, Any]:
        """Show the public list that every text answers from. It depends on no text."""
        return service.prototypes()


def add_files(app: FastAPI, paths: Mapping[str, tuple[str, str]], *, page: bool) -> None:
    """Add static files, by path. HTML files are templates, which know whether there is a page."""
    folder = files("syntf.serve").joinpath("static")
    templates = Environment(
        loader=lambda name: folder.joinpath(name).read_text(encoding="utf-8"),
        undefined_behavior="strict",
    )
    for path, (name, media_type) in paths.items():
        if name.endswith(".html"):
            content = templates.render_template(name, page=page).encode()
        else:
            content = folder.joinpath(name).read_bytes()
        app.add_api_route(path, file_route(content, media_type), include_in_schema=False)


def add_page(app: FastAPI, playground: Playground | DocumentPlayground) -> None:
    """Add the page, its script and its two routes, which are not part of the API."""
    script = PAGE_SCRIPTS[playground.file]
    add_files(
        app,
        {
            "/": (playground.file, "text/html"),
            f"/static/{script}": (script, "text/javascript"),
        },
        page=True,
    )

    @app.get("/page/start", include_in_schema=False)
    def start() -> dict[str, Any]:
        return playground.start

    def answer(drawn: dict[str, Any]) -> Response:
        content = json.dumps(drawn)  # escapes lone surrogates
        return Response(content, media_type="application/json")

    if isinstance(playground, DocumentPlayground):

        @app.post("/page/draw", include_in_schema=False)
        def draw_documents(body: schemas.DocumentPageDraw) -> Response:
            return answer(playground.draw(body.texts, loss=body.loss))
    else:

        @app.post("/page/draw", include_in_schema=False)
        def draw_words(body: schemas.PageDraw) -> Response:
            parameters = body.model_dump(exclude={"texts"})
            return answer(playground.draw(body.texts, **parameters))


def file_route(content: bytes, media_type: str) -> Any:
    """Make a route that answers with the content of a file."""

    async def answer() -> Response:
        return Response(content, media_type=media_type)

    return answer


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
