"""Listen on a socket with uvicorn, and stop when everything that was charged is answered."""

import errno
import logging
import os
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from threadpoolctl import threadpool_limits

from syntf.core.errors import SyntfError
from syntf.serve.config import Config
from syntf.serve.guard import Guard

FLUSH_SECONDS = 20
"""Time that clients have to read the last answers before their connections are closed."""

MAX_CONNECTIONS = 512
"""uvicorn answers 503 above this number."""


def bind(config: Config, count: int = 1) -> list[socket.socket]:
    """Open a listening socket for each worker, all on one port.

    Call this before the slow preparation, so that clients can queue. The system distributes new
    connections over the sockets. A port that another program uses already is refused.
    """
    if count > 1 and not (hasattr(os, "fork") and hasattr(socket, "SO_REUSEPORT")):
        raise SyntfError("--workers needs a system that can fork processes: leave it out")
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    address = config.host, config.port
    try:
        first = socket.create_server(address, family=family, backlog=MAX_CONNECTIONS)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise SyntfError(
            f"port {config.port} is in use by another program: choose another one with --port, or "
            "any free one with --port 0"
        ) from None
    bound = [first]
    if count > 1:
        address = config.host, first.getsockname()[1]
        first.close()  # it was alone on the port; sockets that share a port must say so at once
        bound = [
            socket.create_server(address, family=family, backlog=MAX_CONNECTIONS, reuse_port=True)
            for _ in range(count)
        ]
    for each in bound:
        # asyncio sets TCP_NODELAY only on sockets created with IPPROTO_TCP, which these are not.
        # Without it an answer in two packets waits 40 ms for the first to be acknowledged.
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound


def listen(
    app: Guard,
    bound: socket.socket,
    when_running: Callable[[Callable[[], None]], None] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish the running requests and return.

    `when_running` is called in the event loop, with a function that stops the service.
    """
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # it may quote exceptions
    threadpool_limits(1)  # threads of a small matrix product would wait for each other by spinning
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, proxy_headers=False,
        ws="none", limit_concurrency=MAX_CONNECTIONS, timeout_graceful_shutdown=FLUSH_SECONDS,
        backlog=MAX_CONNECTIONS,
    )  # fmt: skip
    _Server(config, app, when_running).run(sockets=[bound])


class _Server(uvicorn.Server):
    """A server that answers what has begun, and refuses what has not, before it stops."""

    def __init__(
        self,
        config: uvicorn.Config,
        guard: Guard,
        when_running: Callable[[Callable[[], None]], None] | None,
    ) -> None:
        super().__init__(config)
        self._guard = guard
        self._when_running = when_running

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop after SIGTERM or SIGINT; a second signal changes nothing."""
        self.stop()

    def stop(self) -> None:
        """Ask the server to stop."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to serve."""
        await super().startup(sockets)
        if self._when_running is not None:
            self._when_running(self.stop)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer the running requests, with 503 those that come meanwhile, then close."""
        await self._guard.finish()
        await super().shutdown(sockets)
