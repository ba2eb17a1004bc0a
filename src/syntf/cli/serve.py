"""`syntf serve`: the service, from its options to its last answer."""

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
    from syntf.serve.playground import MOST, Playground, playable
    from syntf.serve.server import bind, listen
    from syntf.serve.service import Service
except ImportError as error:
    raise SyntfError(
        f"syntf serve needs {error.name}, which is not installed: pip install 'syntf[serve]'"
    ) from error

VARIABLE = "SYNTF_TOKEN"
"""The variable with the token: unlike an option, it is not in the list of processes."""


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
        token=_token(token_file),
        names=frozenset(name.lower() for name in allow_host),
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
    """The service, and the playground where the page is shown."""
    analyzer, vectors, vocabulary = reading(settings, stages=stages)
    rating = rated(settings, vectors, vocabulary)
    anonymizer = Anonymizer.over(
        settings, analyzer, vectors, vocabulary, stages=stages, rating=rating
    )
    service = Service(anonymizer, ledger)
    if not (config.shows_page and playable(settings)):
        return service, None
    with stages("finding neighbours", len(vocabulary.inputs)) as advance:
        most = min(MOST, len(vocabulary.outputs))
        return service, Playground(service, cached_neighbours(rating, most, advance))


def _welcome(address: str, service: Service, config: Config, page: bool) -> None:
    """Where it is and what it spends."""
    word = shown(service.anonymizer.mechanism.loss, 4)
    document = shown(service.guarantee["loss_per_document"], 2)
    charged = "charged to the ledger" if service.ledger else "no ledger: losses add up unseen"
    lines = [
        f"Listening on {address}{' with the token' if config.token else ''}; stop with Ctrl-C.",
        f"Loss per word {word}, per document {document}; {charged}.",
    ]
    if page:
        lines.append(f"The page: {address}/  The API: {address}/docs")
    console.out.print(escape("\n".join(lines)), soft_wrap=True)
    sys.stdout.flush()


def _token(file: Path | None) -> str | None:
    """From a file, or from the environment; None without either. An empty one is none that serves:
    it is refused, as any that is too short."""
    return os.environ.get(VARIABLE) if file is None else file.read_text(encoding="utf-8").strip()
