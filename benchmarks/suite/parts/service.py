"""Measure how many requests `syntf serve` answers, and how long the slowest wait."""

from suite.figures import Figure, plain
from suite.place import Place
from suite.process import worker
from suite.rows import Results, Row

TITLE = "The service: 200 connections, one text in each request"
NOTE = """\
`syntf serve --workers 2` answers for three seconds in each round, on the same cores as the program
that sends the requests. *Slowest of a hundred*: 99 % of the requests are answered within this time.
Processor time and memory are those of the service. `python benchmarks/serve.py` prints more."""

SERVICES = {
    "document": ("default settings", ["document"]),
    "document-ledger": ("default settings, with a ledger", ["document", "ledger"]),
    "words": ("preset words", ["words"]),
    "words-ledger": ("preset words, with a ledger", ["words", "ledger"]),
}


def groups(place: Place) -> list[list[Row]]:
    return [
        [
            Row(
                f"service/{key}", f"`syntf serve`, {title}", worker("answer", *arguments), "kept",
                place.few, env=place.env,
            )
        ]
        for key, (title, arguments) in SERVICES.items()
    ]  # fmt: skip


def figures(found: Results) -> list[Figure]:
    made = []
    for key, (title, _) in SERVICES.items():
        row = found[f"service/{key}"]
        made += plain(
            f"service/{key}-rate", f"service, {title}: requests a second", row,
            of="per_second", unit="", better="more", must=3000,
        )  # fmt: skip
        made += plain(
            f"service/{key}-slowest", f"service, {title}: slowest of a hundred", row,
            of="slowest", unit="ms", must=100,
        )  # fmt: skip
    return made
