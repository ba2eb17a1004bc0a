"""Checks that every request passes before it reaches a route, and the request log.

*Guarantee.* A log line holds the time, the route (never the path), the status and the duration.
An unexpected error is logged by its type and the line of code that raised it. Messages of
exceptions and tracebacks are never logged, because they may quote a text.
"""

import asyncio
import json
import logging
import re
import time
import zlib
from collections.abc import Iterable
from hmac import compare_digest
from math import ceil
from traceback import extract_tb

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from syntf.ledger.store import WAIT
from syntf.serve.config import Config
from syntf.serve.metrics import OTHER_ROUTE, Metrics
from syntf.serve.rate import RateLimiter

log = logging.getLogger("syntf.serve")

HEALTH_PATH = "/healthz"
"""Answers anyone at any rate: it only says that the service runs."""

OPEN_PATHS = ("/docs", "/favicon.ico", "/static/")
"""Beginnings of paths that need no token: an empty page that asks for the token, and its files."""

BODY_SECONDS = 30.0
"""Time limit for a request to arrive, so that slow clients do not hold connections."""

STOP_SECONDS = 20.0
"""Time limit for requests that are still arriving when the service was asked to stop."""

LEDGER_SECONDS = WAIT + 5.0
"""Time in which every charge has succeeded or failed."""

SECURITY_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
PROXY_HEADERS = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip", b"via")
"""Headers that only a proxy adds. Other machines can then reach the service: require a token."""

SINGLE_HEADERS = (b"host", b"origin", b"authorization", b"content-length", b"content-encoding")
"""Headers that decide whether a request is accepted. A request may send each only once."""

_ENCODED_HEADERS = [(name.lower().encode(), value.encode()) for name, value in
                    SECURITY_HEADERS.items()]  # fmt: skip

_GZIP = 16 + zlib.MAX_WBITS  # zlib's code for a gzip header

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:\s]+))(?::[0-9]{1,5})?", re.IGNORECASE)


class RequestRefused(Exception):
    """Ends a request with this status, message and headers."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        self.status = status
        self.detail = detail
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Guard:
    """ASGI middleware that checks, limits and logs every request to the service."""

    def __init__(self, app: ASGIApp, config: Config, metrics: Metrics) -> None:
        self.metrics = metrics
        self._app = app
        self._config = config
        self._allowed_hosts = config.host_names
        self._limiter = RateLimiter(config.rate)
        self._running = 0
        self._arriving: set[asyncio.Timeout] = set()
        self._stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1003})

    async def finish(self) -> None:
        """Refuse new requests, and return when all others are answered.

        A request that is still arriving has STOP_SECONDS left for it. Charging the ledger can take
        LEDGER_SECONDS more. Who does not read the answer by then does not get it.
        """
        self._stopping = True
        loop = asyncio.get_running_loop()
        latest = loop.time() + STOP_SECONDS
        for arriving in self._arriving:
            arriving.reschedule(min(latest, arriving.when() or latest))
        while self._running and loop.time() < latest + LEDGER_SECONDS:
            await asyncio.sleep(0.01)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = time.perf_counter()
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message["headers"], *_ENCODED_HEADERS]
                if self._stopping:
                    headers.append((b"connection", b"close"))
                message = {**message, "headers": headers}
            await send(message)

        self._running += 1
        try:
            if self._stopping:
                raise RequestRefused(503, "the service is about to stop: ask again later")
            self._check(scope)
            await self._app(scope, await self._read_body(scope, receive), send_with_headers)
        except RequestRefused as refused:
            await _refuse(refused, send_with_headers)
        except Exception as error:
            log.error("%s at %s", type(error).__name__, _raised_at(error))
            if not status:
                await _refuse(RequestRefused(500, "internal error"), send_with_headers)
        finally:
            self._running -= 1
            route = getattr(scope.get("route"), "path", None)
            self.metrics.count_request(route, status or 500)
            seconds = time.perf_counter() - start
            log.info("%s %d %.1f ms", route or OTHER_ROUTE, status, 1000 * seconds)

    def _check(self, scope: Scope) -> None:
        """Refuse requests that the service is not meant for, before any of the body is read."""
        headers = dict(scope["headers"])
        if len(headers) < len(scope["headers"]):
            sent = [name for name, _ in scope["headers"]]
            if any(sent.count(name) > 1 for name in SINGLE_HEADERS):
                raise RequestRefused(400, "a header that may be sent once was sent more than once")
        host = headers.get(b"host", b"").decode("latin-1")
        allowed = self._allowed_hosts
        if allowed is not None and host_name(host) not in allowed:
            raise RequestRefused(
                421, "the service does not answer to this host name (syntf serve --allow-host)"
            )
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").partition("://")[2] != host:
            raise RequestRefused(403, "the service does not answer pages of other origins")
        if self._config.token is None and any(name in headers for name in PROXY_HEADERS):
            raise RequestRefused(403, "behind a proxy the service needs a token (SYNTF_TOKEN)")
        if scope["path"] == HEALTH_PATH:
            return
        client = scope.get("client")
        seconds = self._limiter.take(client[0] if client else "")
        if seconds:
            retry_after = str(ceil(seconds))
            raise RequestRefused(429, "too many requests: try again later", retry_after=retry_after)
        if self._config.token is not None and not scope["path"].startswith(OPEN_PATHS):
            expected = f"Bearer {self._config.token}".encode()
            if not compare_digest(headers.get(b"authorization", b""), expected):
                raise RequestRefused(
                    401, "send the token as Authorization: Bearer TOKEN", www_authenticate="Bearer"
                )

    async def _read_body(self, scope: Scope, receive: Receive) -> Receive:
        """Read the whole body within its limits and return a `receive` that replays it."""
        limit = self._config.max_body
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > limit:
            raise _too_large(limit)
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS) as arriving:
                self._arriving.add(arriving)
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise RequestRefused(400, "the connection was closed before the body ended")
                    body += message.get("body", b"")
                    if len(body) > limit:
                        raise _too_large(limit)
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            late = "the request took too long to arrive"
            raise RequestRefused(408, late, connection="close") from None
        finally:
            self._arriving.discard(arriving)
        content = bytes(body)
        encoding = headers.get(b"content-encoding", b"identity").strip().lower()
        if encoding != b"identity":
            content = _unpack(content, encoding, limit)
        whole: list[Message] = [{"type": "http.request", "body": content, "more_body": False}]

        async def replay() -> Message:
            return whole.pop() if whole else await receive()

        return replay


def _unpack(packed: bytes, encoding: bytes, limit: int) -> bytes:
    """Unpack a gzipped body, but never more of it than a request may have."""
    if encoding != b"gzip":
        raise RequestRefused(415, "send the body as it is, or with Content-Encoding: gzip")
    unpacker = zlib.decompressobj(_GZIP)
    try:
        content = unpacker.decompress(packed, limit + 1)
    except zlib.error:
        raise RequestRefused(400, "the body is not gzip, as Content-Encoding says") from None
    if len(content) > limit:
        raise _too_large(limit)
    if not unpacker.eof or unpacker.unused_data:
        raise RequestRefused(400, "the gzipped body is not complete, or more follows it")
    return content


def _too_large(limit: int) -> RequestRefused:
    return RequestRefused(413, f"a request may have {limit:,} bytes", connection="close")


def host_name(header: str) -> str:
    """Return the name in a Host header without the port; empty if the header is malformed.

    >>> [host_name(host) for host in ("LOCALHOST:8470", "[::1]:8470", "127.0.0.1")]
    ['localhost', '::1', '127.0.0.1']
    >>> host_name("[::1].evil.example")
    ''
    """
    match = _HOST.fullmatch(header)
    return (match[1] or match[2]).lower() if match else ""


def _raised_at(error: BaseException) -> str:
    """Return file and line of the code that raised an error, without any values."""
    frames = extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "?"


async def _refuse(refused: RequestRefused, send: Send) -> None:
    body = json.dumps({"detail": refused.detail}).encode()
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        **refused.headers,
    }
    start = {"status": refused.status, "headers": _encode(headers.items())}
    await send({"type": "http.response.start", **start})
    await send({"type": "http.response.body", "body": body})


def _encode(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers]
