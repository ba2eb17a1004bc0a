"""`syntf serve`: its options."""

from typing import Any

import click

from syntf.cli.options import FILE, parameters


@click.command("serve", short_help="Run a local anonymisation service with a demonstration page.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8470,
    show_default=True,
    help="Port to listen on; 0 selects a free port.",
)
@click.option(
    "--token-file",
    type=FILE,
    metavar="FILE",
    help="File with the token that clients must send; replaces $SYNTF_TOKEN. Required if "
    "other machines can reach the service.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="Another host name that requests may use, such as that of a reverse proxy.",
)
@click.option(
    "--page/--no-page",
    default=True,
    show_default=True,
    help="Serve the demonstration page. It is never served with a token or a ledger.",
)
@click.option(
    "--ledger", type=FILE, metavar="FILE", help="Charge the loss of every document to this ledger."
)
@click.option(
    "--max-body",
    type=click.IntRange(min=1),
    default=1 << 20,
    show_default=True,
    help="Largest request, in bytes.",
)
@click.option(
    "--max-documents",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Largest number of documents in a request.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    default=100,
    show_default=True,
    help="Requests per second accepted from one address.",
)
@click.option("--quiet", "-q", is_flag=True, help="Log only errors.")
@parameters("preset", "length", "loss", "epsilon", "neighbours", "spelling", "morphology")
@parameters(
    "analyzer", "vocabulary", "max_size", "synsets", "vectors", "weights", "draws", "numbers"
)
def command(**options: Any) -> None:
    """Run a service on this machine that anonymises texts, with a page that shows the method.

    Clients post texts to /v1/anonymize. The page is at /. No text is stored or logged.
    Needs pip install 'syntf[serve]'.

    \b
    Example:
      syntf serve
      curl localhost:8470/v1/anonymize --json '{"text": "The library was closed."}'
    """
    from syntf.cli import anonymize, serve

    names = ("host", "port", "token_file", "allow_host", "page", "ledger", "max_body",
             "max_documents", "rate", "quiet")  # fmt: skip
    own = {name: options.pop(name) for name in names}
    serve.run(anonymize.settings(**options), **own)
