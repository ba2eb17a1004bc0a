"""`syntf serve`: its options."""

from typing import Any

import click

from syntf.cli.options import FILE, parameters


@click.command("serve", short_help="Anonymise at the source, and a page to see how.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8470,
    show_default=True,
    help="The port; 0 for a free one.",
)
@click.option(
    "--token-file",
    type=FILE,
    metavar="FILE",
    help="What clients must send, in place of $SYNTF_TOKEN. Needed beyond this machine.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="A further name that requests may be addressed to, as by a reverse proxy.",
)
@click.option(
    "--page/--no-page",
    default=True,
    show_default=True,
    help="The page that shows the method; never beyond this machine, nor with a token.",
)
@click.option("--ledger", type=FILE, metavar="FILE", help="Charge every document to this ledger.")
@click.option(
    "--max-body",
    type=click.IntRange(min=1),
    default=1 << 20,
    show_default=True,
    help="The most bytes of a request.",
)
@click.option(
    "--max-documents",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="The most documents of a request.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    default=100,
    show_default=True,
    help="Requests a second from one address.",
)
@click.option("--quiet", "-q", is_flag=True, help="Log errors alone.")
@parameters("preset", "length", "loss", "epsilon", "neighbours", "spelling", "morphology")
@parameters(
    "analyzer", "vocabulary", "max_size", "synsets", "vectors", "weights", "draws", "numbers"
)
def command(**options: Any) -> None:
    """Anonymise at the source: a service on this machine, and a page that shows the method.

    Texts are posted to /v1/anonymize; / shows what happens to them. Nothing of a text is kept
    or logged. Needs pip install 'syntf[serve]'.

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
