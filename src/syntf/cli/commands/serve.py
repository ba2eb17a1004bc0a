"""`syntf serve`: prepare the service and run it until it is stopped."""

import logging
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syntf.cli import output
from syntf.cli.options import (
    FILE,
    LARGE_RUNS,
    PRIVACY,
    Command,
    option,
    setting_options,
    settings_from,
    unit_notices,
)
from syntf.core.errors import SyntfError
from syntf.core.extras import needed_for

if TYPE_CHECKING:
    from syntf.core.progress import Stages
    from syntf.ledger.ledger import Ledger
    from syntf.pipeline.settings import Settings
    from syntf.serve.charging import Charger
    from syntf.serve.config import Config
    from syntf.serve.document_playground import DocumentPlayground
    from syntf.serve.document_service import DocumentService
    from syntf.serve.guard import Guard
    from syntf.serve.playground import Playground
    from syntf.serve.service import Service

TOKEN_VARIABLE = "SYNTF_TOKEN"  # nosec B105
"""Environment variable with the token: unlike an option, other users cannot see it."""


@click.command("serve", cls=Command)
@option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8470,
    show_default=True,
    help="Port to listen on; 0 selects a free port.",
)
@option(
    "--token-file",
    type=FILE,
    metavar="FILE",
    help="File with the token that clients must send; replaces $SYNTF_TOKEN. Required if "
    "other machines can reach the service.",
)
@option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="Another host name that requests may use, such as that of a reverse proxy.",
)
@option(
    "--page/--no-page",
    default=True,
    show_default=True,
    help="Serve the demonstration page. It is never served with a token or a ledger.",
)
@option(
    "--ledger",
    type=FILE,
    metavar="FILE",
    group=PRIVACY,
    help="Charge the loss of every document to this ledger.",
)
@option(
    "--max-body",
    type=click.IntRange(min=1),
    default=1 << 20,
    show_default=True,
    group=LARGE_RUNS,
    help="Largest request, in bytes.",
)
@option(
    "--max-documents",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    group=LARGE_RUNS,
    help="Largest number of documents in a request.",
)
@option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    default=100,
    show_default=True,
    group=LARGE_RUNS,
    help="Requests per second accepted from one address.",
)
@option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    group=LARGE_RUNS,
    help="Processes that answer requests and share the ledger; more than cores gain nothing.",
)
@option("--quiet", "-q", is_flag=True, help="Log only errors.")
@option(
    "--list",
    "list_from",
    type=FILE,
    metavar="RELEASE",
    group=PRIVACY,
    help="Folder of an earlier release with a pilot: answer from the list that its pilot led to. "
    "The list is public. [default: the general list of the codebook]",
)
@setting_options("preset", "document_loss", "codebook", "encoder")
@setting_options("length", "loss", "epsilon", "neighbours", "spelling", "language", "morphology")
@setting_options(
    "analyzer", "vocabulary", "max_size", "synsets", "vectors", "weights", "draws", "numbers"
)
def command(
    host: str,
    port: int,
    token_file: Path | None,
    allow_host: tuple[str, ...],
    page: bool,
    ledger: Path | None,
    max_body: int,
    max_documents: int,
    rate: float,
    workers: int,
    quiet: bool,
    list_from: Path | None,
    **options: Any,
) -> None:
    """Run a service on this machine that anonymises texts, with a page that shows the method.

    Clients post texts to /v1/anonymize. The page is at /. No text is stored or logged.
    Needs pip install 'syntf[serve]'.

    \b
    Example:
      syntf serve
      curl localhost:8470/v1/anonymize --json '{"text": "The library is closed."}'
    """
    with needed_for("syntf serve", "serve"):
        from syntf.serve.app import create_app
        from syntf.serve.config import Config
        from syntf.serve.metrics import Metrics
        from syntf.serve.server import bind, listen
        from syntf.serve.workers import Workers
    from syntf.ledger.ledger import Ledger

    notices = () if quiet else unit_notices(options)
    settings = settings_from(options)
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
    with ExitStack() as opened:
        bound = [opened.enter_context(each) for each in bind(config, workers)]
        with output.progress(quiet) as stages:
            service, playground = prepare(settings, config, budget, stages, list_from)
        output.notify(notices)
        metrics = Metrics(workers)

        def make_app(charger: "Charger | None" = None) -> "Guard":
            return create_app(service, config, playground, metrics=metrics, charger=charger)

        logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
        logging.getLogger("syntf.serve").setLevel(logging.WARNING if quiet else logging.INFO)
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{bound[0].getsockname()[1]}"
        _welcome(address, service, token=bool(config.token), page=playground is not None)
        if workers == 1:
            listen(make_app(), bound[0])
        elif not Workers(make_app, bound, budget, service.loss).run():
            raise SyntfError("a worker did not stop by itself: see the log")


def prepare(
    settings: "Settings",
    config: "Config",
    ledger: "Ledger | None",
    stages: "Stages",
    list_from: Path | None = None,
) -> "tuple[Service, Playground | None] | tuple[DocumentService, DocumentPlayground | None]":
    """Build the service, and the playground if the page will be shown."""
    shows_page = config.shows_page and ledger is None
    if settings.unit == "document":
        return prepare_documents(settings, shows_page, ledger, stages, list_from)
    if list_from is not None:
        raise SyntfError("--list needs the document unit: give --document-loss too")
    from syntf.mechanism.build import cached_neighbours
    from syntf.pipeline.anonymizer import Anonymizer
    from syntf.pipeline.prepare import load_words, rate_words
    from syntf.serve.playground import MAX_NEIGHBOURS, Playground, supports_page
    from syntf.serve.service import Service

    analyzer, vectors, vocabulary = load_words(settings, stages=stages)
    rating = rate_words(settings, vectors, vocabulary)
    anonymizer = Anonymizer.from_parts(
        settings, analyzer, vectors, vocabulary, stages=stages, rating=rating
    )
    service = Service(anonymizer, ledger)
    if not (shows_page and supports_page(settings)):
        return service, None
    with stages("finding neighbours", len(vocabulary.inputs)) as advance:
        count = min(MAX_NEIGHBOURS, len(vocabulary.outputs))
        return service, Playground(service, cached_neighbours(rating, count, advance))


def prepare_documents(
    settings: "Settings",
    shows_page: bool,
    ledger: "Ledger | None",
    stages: "Stages",
    list_from: Path | None,
) -> "tuple[DocumentService, DocumentPlayground | None]":
    """Build the service of the document unit, and its playground."""
    from syntf.pipeline.document import DocumentAnonymizer
    from syntf.releases.earlier_list import read_earlier_list
    from syntf.serve.document_playground import DocumentPlayground, supports_page
    from syntf.serve.document_service import DocumentService

    anonymizer = DocumentAnonymizer.build(settings, stages=stages)
    if list_from is not None:
        anonymizer.sharpened = read_earlier_list(list_from, anonymizer.encoder, anonymizer.loss)
    service = DocumentService(anonymizer, ledger)
    if not (shows_page and supports_page(settings)):
        return service, None
    return service, DocumentPlayground(service)


def _welcome(
    address: str, service: "Service | DocumentService", *, token: bool, page: bool
) -> None:
    """Print the address and the loss of every answer."""
    from syntf.core.exact import shown

    document = shown(service.guarantee["loss_per_document"], 2)
    losses = f"Loss per document {document}."
    if service.guarantee["loss_per_word"] is not None:
        word = shown(service.guarantee["loss_per_word"]["tight"], 4)
        losses = f"Loss per word {word}, per document {document}."
    charged = (
        "The ledger is charged for every document."
        if service.ledger
        else "No ledger: nothing limits the sum of losses."
    )
    lines = [
        f"Listening on {address}{' with the token' if token else ''}; stop with Ctrl-C.",
        f"{losses} {charged}",
        f"Page: {address}/  API: {address}/docs" if page else f"API: {address}/docs",
    ]
    output.say(output.escape("\n".join(lines)), wrap=False)
    sys.stdout.flush()


def read_token(file: Path | None) -> str | None:
    """Read the token from the file, or else from the environment; None if there is neither.

    An empty token is returned as it is; `Config` refuses it like any other short token.
    """
    if file is None:
        return os.environ.get(TOKEN_VARIABLE)
    return file.read_text(encoding="utf-8").strip()
