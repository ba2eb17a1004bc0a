"""Answer valid requests for releases without FastAPI, whose routing takes longer than the draws.

Every other request goes on to FastAPI: other routes, and requests that are not valid, so that all
refusals of invalid requests are written in one place.
"""

import json

from pydantic import TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from syntf.serve import schemas
from syntf.serve.answers import Answers, problem, respond

_BODY: TypeAdapter[schemas.Document | schemas.Documents] = TypeAdapter(schemas.Body)


class FastRoute:
    """ASGI application that answers POST requests to one route, and passes on all others."""

    def __init__(self, app: ASGIApp, answers: Answers, path: str, route: BaseRoute) -> None:
        self._app = app
        self._answers = answers
        self._path = path
        self._route = route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] != "http"
            or scope["path"] != self._path
            or scope["method"] != "POST"
            or (b"content-type", b"application/json") not in scope["headers"]
        ):
            await self._app(scope, receive, send)
            return
        message = await receive()
        try:
            body = _BODY.validate_python(json.loads(message["body"]))
        except (ValueError, RecursionError, ValidationError):
            await self._app(scope, _replay(message, receive), send)
            return
        scope["route"] = self._route
        try:
            response = respond(await self._answers.release(body), scope["headers"])
        except HTTPException as refused:
            response = problem(refused.status_code, refused.detail, refused.headers)
        await response(scope, receive, send)


def _replay(first: Message, receive: Receive) -> Receive:
    """Return a `receive` that repeats the first message."""
    messages = [first]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
