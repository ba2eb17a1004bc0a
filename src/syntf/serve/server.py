"""Listen on a socket with uvicorn, and shut down gracefully."""

import logging
import signal
import socket
from types import FrameType

import uvicorn

from syntf.serve.config import Config
from syntf.serve.guard import Guard

SHUTDOWN_SECONDS = 20
"""Time that running requests have to finish after the service was asked to stop."""

MAX_CONNECTIONS = 512
"""uvicorn answers 503 above this number."""


def bind(config: Config) -> socket.socket:
    """Open the listening socket; call it before the slow preparation, so clients can queue."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    bound = socket.create_server((config.host, config.port), family=family, backlog=MAX_CONNECTIONS)
    # asyncio sets TCP_NODELAY only on sockets created with IPPROTO_TCP, which this one is not.
    # Without it an answer in two packets waits 40 ms for the first to be acknowledged.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound


def listen(app: Guard, bound: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT, then finish the running requests and return."""
    server = uvicorn.Server(
        uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, proxy_headers=False,
            ws="none", limit_concurrency=MAX_CONNECTIONS,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )  # fmt: skip
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # it may quote exceptions
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _ignore_signal)  # uvicorn raises the signal again after it stopped
    server.run(sockets=[bound])


def _ignore_signal(number: int, frame: FrameType | None) -> None:
    """Do nothing: the service has already stopped."""
