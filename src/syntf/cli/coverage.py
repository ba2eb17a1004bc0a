"""`syntf coverage`: what a vocabulary knows of the texts, shown to their owner and to nobody else.

Kept apart from `syntf anonymize`, so that no figure of it can end up beside a release.
"""

from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from syntf.cli import console
from syntf.inputs import columns, corpus
from syntf.pipeline.prepare import reading
from syntf.pipeline.settings import Settings
from syntf.vocabulary.coverage import coverage

HEADING = "For the owner of the texts; not part of any release. Do not publish."


def run(
    input: Path, text: str, settings: Settings, *, as_json: bool = False, quiet: bool = False
) -> None:
    texts = columns.texts(corpus.read(input), text)
    with console.progress(quiet) as stages:
        analyzer, _, vocabulary = reading(settings, stages=stages)
    found = coverage(texts, analyzer, vocabulary.inputs)
    if as_json:
        console.emit({"note": HEADING, **asdict(found), "tokens": found.tokens})
        return
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    table.add_column(justify="right")
    table.add_row("documents", f"{found.documents:,}")
    table.add_row(
        "  without a known word", f"{found.empty:,}", _share(found.empty, found.documents)
    )
    table.add_row("tokens", f"{found.tokens:,}")
    for name, count in (
        ("  known", found.known),
        ("  unknown", found.unknown),
        ("  left out (stop words, numbers)", found.left_out),
    ):
        table.add_row(name, f"{count:,}", _share(count, found.tokens))
    console.out.print(HEADING)
    console.show(table)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"
