"""`syntf serve`: a page that takes a file to a release, and a service."""

import os
import signal
import socket
import threading
import webbrowser
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import click

from syntf.cli import console
from syntf.cli.options import FILE, Command, combine, option, setting_option, settings_from
from syntf.core.errors import SyntfError
from syntf.core.extras import needed_for


@click.command("serve", cls=Command)
@option("--host", default="127.0.0.1", show_default=True, help="IP address to listen on.")
@option(
    "--port", type=click.IntRange(0, 65535), default=8470, show_default=True,
    help="Port to listen on; 0 for any free one.",
)  # fmt: skip
@option(
    "--token-file", type=FILE, metavar="FILE",
    help="File with the token that requests must carry, in place of $SYNTF_TOKEN. Needed if other "
    "machines can reach the address. With a token there is no page.",
)  # fmt: skip
@option("--ledger", type=FILE, metavar="FILE", help="Ledger to charge for every text.")
@option("--no-browser", is_flag=True, help="Do not open the page in the browser.")
@combine(*map(setting_option, ("preset", "document_loss", "word_loss", "codebook", "language")))
def command(
    host: str, port: int, token_file: Path | None, ledger: Path | None, no_browser: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Open a page that takes a file to a release, and serve POST /v1/rows to programs.

    Everything stays on this machine. /openapi.json describes the service. Ctrl-C ends it and
    deletes its files.
    """
    with needed_for("syntf serve", "serve"):
        import uvicorn

        from syntf.serve.app import create_app
    from syntf.ledger import Ledger

    token = os.environ.get("SYNTF_TOKEN")
    if token_file is not None:
        token = token_file.read_text(encoding="utf-8").strip()
    if token is not None and not (len(token) >= 16 and token.isascii()):
        raise SyntfError("a token has 16 ASCII characters or more: openssl rand -hex 32")
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        raise SyntfError(f"--host must be an IP address such as 127.0.0.1, not {host!r}") from None
    if token is None and not loopback:
        raise SyntfError(
            f"other machines can reach {host}, so the service needs a token: set SYNTF_TOKEN, or "
            "give --token-file"
        )
    budget = None if ledger is None else Ledger(ledger)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        opened = socket.create_server((host, port), family=family)
    except OSError as error:
        raise SyntfError(f"cannot listen on {host}, port {port}: {error}") from None
    with opened, suppress(KeyboardInterrupt):
        app = create_app(settings_from(options), token=token, ledger=budget, loopback=loopback)
        name = f"[{host}]" if ":" in host else host
        url = f"http://{name}:{opened.getsockname()[1]}"
        console.say(f"{url} is ready. Ctrl-C ends it and deletes its files.", wrap=False)
        if token is None and not no_browser:
            threading.Thread(target=webbrowser.open, args=[url], daemon=True).start()
        if hasattr(signal, "SIGHUP"):  # the terminal was closed
            signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
        config = uvicorn.Config(app, access_log=False, log_level=30, timeout_graceful_shutdown=5)
        uvicorn.Server(config).run(sockets=[opened])
