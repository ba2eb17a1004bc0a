"""`syntf serve`: prepare the service and run it until it is stopped."""

import logging
import os
import sys
from pathlib import Path

from rich.markup import escape

from syntf.cli import console
from syntf.core.errors import SyntfError
from syntf.core.exact import shown
from syntf.core.progress import Stages
from syntf.ledger.ledger import Ledger
from syntf.mechanism.build import cached_neighbours
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.prepare import rated, reading
from syntf.pipeline.settings import Settings

try:
    from syntf.serve.app import create_app
    from syntf.serve.config import Config
    from syntf.serve.playground import MAX_NEIGHBOURS, Playground, supports_page
    from syntf.serve.server import bind, listen
    from syntf.serve.service import Service
except ImportError as error:
    raise SyntfError(
        f"syntf serve needs {error.name}, which is not installed: run pip install 'syntf[serve]'"
    ) from error

TOKEN_VARIABLE = "SYNTF_TOKEN"
"""Environment variable with the token: unlike an option, other users cannot see it."""


def run(
    settings: Settings,
    *,
    host: str,
    port: int,
    token_file: Path | None,
    allow_host: tuple[str, ...],
    page: bool,
    ledger: Path | None,
    max_body: int,
    max_documents: int,
    rate: float,
    quiet: bool,
) -> None:
    config = Config(
        host=host,
        port=port,
        token=read_token(token_file),
        allowed_hosts=frozenset(name.lower() for name in allow_host),
        page=page,
        max_body=max_body,
        max_documents=max_documents,
        rate=rate,
    )
    budget = None if ledger is None else Ledger(ledger)
    with bind(config) as bound:
        with console.progress(quiet) as stages:
            service, playground = prepare(settings, config, budget, stages)
        app = create_app(service, config, playground)
        logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
        logging.getLogger("syntf.serve").setLevel(logging.WARNING if quiet else logging.INFO)
        name = f"[{host}]" if ":" in host else host
        _welcome(f"http://{name}:{bound.getsockname()[1]}", service, config, playground is not None)
        listen(app, bound)


def prepare(
    settings: Settings, config: Config, ledger: Ledger | None, stages: Stages
) -> tuple[Service, Playground | None]:
    """Build the service, and the playground if the page will be shown."""
    analyzer, vectors, vocabulary = reading(settings, stages=stages)
    rating = rated(settings, vectors, vocabulary)
    anonymizer = Anonymizer.over(
        settings, analyzer, vectors, vocabulary, stages=stages, rating=rating
    )
    service = Service(anonymizer, ledger)
    if not (config.shows_page and ledger is None and supports_page(settings)):
        return service, None
    with stages("finding neighbours", len(vocabulary.inputs)) as advance:
        count = min(MAX_NEIGHBOURS, len(vocabulary.outputs))
        return service, Playground(service, cached_neighbours(rating, count, advance))


def _welcome(address: str, service: Service, config: Config, page: bool) -> None:
    """Print the address and the loss of every answer."""
    word = shown(service.anonymizer.mechanism.loss, 4)
    document = shown(service.guarantee["loss_per_document"], 2)
    charged = (
        "The ledger is charged for every document."
        if service.ledger
        else "No ledger: nothing limits the sum of losses."
    )
    lines = [
        f"Listening on {address}{' with the token' if config.token else ''}; stop with Ctrl-C.",
        f"Loss per word {word}, per document {document}. {charged}",
    ]
    if page:
        lines.append(f"Page: {address}/  API: {address}/docs")
    console.out.print(escape("\n".join(lines)), soft_wrap=True)
    sys.stdout.flush()


def read_token(file: Path | None) -> str | None:
    """Read the token from the file, or else from the environment; None if there is neither.

    An empty token is returned as it is; `Config` refuses it like any other short token.
    """
    return (
        os.environ.get(TOKEN_VARIABLE) if file is None else file.read_text(encoding="utf-8").strip()
    )
