"""Listening, and stopping so that nobody is left without an answer."""

import logging
import signal
import socket
from types import FrameType

import uvicorn

from syntf.serve.config import Config
from syntf.serve.guard import Guard

PATIENCE = 20
"""Seconds that requests under way have to finish once the service is told to stop."""

CONNECTIONS = 512
"""Above as many, uvicorn answers 503."""


def bind(config: Config) -> socket.socket:
    """The place to listen, taken before the long work; who connects meanwhile waits."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    bound = socket.create_server((config.host, config.port), family=family, backlog=CONNECTIONS)
    # asyncio sets this only on sockets that say they are TCP, which those from here do not; an
    # answer in two packets would then wait 40 ms for the first to be acknowledged.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound


def listen(app: Guard, bound: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT, then finish what was begun."""
    server = uvicorn.Server(
        uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, proxy_headers=False,
            ws="none", limit_concurrency=CONNECTIONS, timeout_graceful_shutdown=PATIENCE,
        )
    )  # fmt: skip
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # it may quote exceptions
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stopped)  # uvicorn raises them once more when it has stopped
    server.run(sockets=[bound])


def _stopped(number: int, frame: FrameType | None) -> None:
    """Nothing: the service has stopped by then."""
