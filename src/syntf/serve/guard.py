"""What stands before every request: names, origins, rates, tokens, sizes; and what is logged.

*Guarantee.* A log line has the time, the route (not the path), the status and the duration. An
error that nobody expected is logged by its kind and the line of code it came from: the messages
of exceptions, and tracebacks with them, may quote a text.
"""

import asyncio
import json
import logging
import time
from collections.abc import Iterable
from hmac import compare_digest
from math import ceil
from traceback import extract_tb

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from syntf.serve.config import Config
from syntf.serve.metrics import OTHER, Metrics
from syntf.serve.rate import Rate

log = logging.getLogger("syntf.serve")

OPEN = "/healthz"
"""Answers anyone, at any rate: it says no more than that the service runs."""

BODY_SECONDS = 30.0
"""A request must have arrived by then: slow ones do not hold a place for ever."""

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
PROXIED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers that only a proxy adds: then others can reach the service, and it takes a token."""


class Refused(Exception):
    """A request that goes no further, with the answer it gets."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        self.status = status
        self.detail = detail
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Guard:
    """An ASGI application around another one, which it lets few requests reach."""

    def __init__(self, app: ASGIApp, config: Config, metrics: Metrics) -> None:
        self._app = app
        self._config = config
        self._metrics = metrics
        self._rate = Rate(config.rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1003})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], *_encoded(HEADERS.items())]}
            await send(message)

        try:
            self._check(scope)
            await self._app(scope, await self._body(scope, receive), sending)
        except Refused as refused:
            await _refuse(refused, sending)
        except Exception as error:
            log.error("%s at %s", type(error).__name__, _line(error))
            if not status:
                await _refuse(Refused(500, "something went wrong in the service"), sending)
        finally:
            route = getattr(scope.get("route"), "path", None)
            seconds = time.perf_counter() - began
            self._metrics.answered(route, status, seconds)
            log.info("%s %d %.1f ms", route or OTHER, status, 1000 * seconds)

    def _check(self, scope: Scope) -> None:
        """Refuse whom the service is not for, before anything of the body is read."""
        headers = {name.decode("latin-1"): value for name, value in scope["headers"]}
        host = headers.get("host", b"").decode("latin-1")
        known = self._config.known_names
        if known is not None and name_of(host) not in known:
            raise Refused(421, "this service does not go by that name (syntf serve --allow-host)")
        origin = headers.get("origin")
        if origin is not None and origin.decode("latin-1").partition("://")[2] != host:
            raise Refused(403, "requests from pages of other origins are not answered")
        if self._config.token is None and any(name in headers for name in PROXIED):
            raise Refused(403, "behind a proxy the service needs a token (SYNTF_TOKEN)")
        if scope["path"] == OPEN:
            return
        client = scope.get("client")
        seconds = self._rate.wait(client[0] if client else "")
        if seconds:
            raise Refused(429, "too many requests: try again later", retry_after=str(ceil(seconds)))
        if self._config.token is not None:
            sent = headers.get("authorization", b"")
            if not compare_digest(sent, f"Bearer {self._config.token}".encode()):
                raise Refused(401, "send the token: Authorization: Bearer …",
                              www_authenticate="Bearer")  # fmt: skip

    async def _body(self, scope: Scope, receive: Receive) -> Receive:
        """The whole body, read before anything is done with it, unless it is too large."""
        most = self._config.max_body
        too_large = Refused(413, f"a request may have {most:,} bytes", connection="close")
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > most:
            raise too_large
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        break
                    body += message.get("body", b"")
                    if len(body) > most:
                        raise too_large
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            raise Refused(408, "the request took too long to arrive", connection="close") from None
        whole: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def replay() -> Message:
            return whole.pop() if whole else await receive()

        return replay


def name_of(host: str) -> str:
    """The name in a Host header, without the port.

    >>> [name_of(host) for host in ("LOCALHOST:8470", "[::1]:8470", "127.0.0.1", "evil.example")]
    ['localhost', '::1', '127.0.0.1', 'evil.example']
    """
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return name.lower()


def _line(error: BaseException) -> str:
    """The line of code an error came from: no values."""
    frames = extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "?"


async def _refuse(refused: Refused, send: Send) -> None:
    body = json.dumps({"detail": refused.detail}).encode()
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        **refused.headers,
    }
    start = {"status": refused.status, "headers": _encoded(headers.items())}
    await send({"type": "http.response.start", **start})
    await send({"type": "http.response.body", "body": body})


def _encoded(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers]
