"""Listening, and stopping so that nobody is left without an answer."""

import logging
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from syntf.serve.config import Config
from syntf.serve.guard import Guard

PATIENCE = 20
"""Seconds that requests under way have to finish once the service is told to stop."""

CONNECTIONS = 512
"""Above as many, uvicorn answers 503."""


def listen(app: Guard, config: Config, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; `ready` hears the address once it can be reached."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    with socket.create_server((config.host, config.port), family=family, backlog=512) as bound:
        name = f"[{config.host}]" if ":" in config.host else config.host
        ready(f"http://{name}:{bound.getsockname()[1]}")
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
