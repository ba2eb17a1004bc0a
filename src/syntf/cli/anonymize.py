"""`syntf anonymize`: run the job of :mod:`syntf.releases.job` and print what it did."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from syntf.cli import streams
from syntf.core.errors import SyntfError, printable
from syntf.ledger.ledger import UNIT
from syntf.pipeline.settings import Settings
from syntf.releases import job


def settings(**options: Any) -> Settings:
    """Settings from options, where ε and the loss exclude each other."""
    if None not in (options.get("epsilon"), options.get("loss")):
        raise SyntfError("give --epsilon or --loss, not both")
    return Settings.from_preset(**options)


def run(inputs: Sequence[str], out: Path, *, as_json: bool, quiet: bool, **options: Any) -> None:
    """Make a release, and print a summary or one JSON object; nothing if `quiet`."""
    with streams.progress(quiet) as progress:
        release = job.release(inputs, out, progress=progress, **options)
    if not quiet:
        _warn_of_skipped_rows(release)
    with suppress(OSError):  # the release is complete even if its summary cannot be printed
        if as_json:
            streams.emit(_record(release))
        elif not quiet:
            from syntf.cli import summary  # imported here: rich takes long to import

            summary.show(release)


def _warn_of_skipped_rows(release: job.Release) -> None:
    """Print which rows were left out to standard error: this can depend on texts."""
    if count := release.skipped_rows:
        rows = "1 broken row was" if count == 1 else f"{count:,} broken rows were"
        click.echo(f"syntf: {rows} left out:", err=True)
        for place in release.skipped:
            click.echo(f"  {printable(place)}", err=True)


def _record(release: job.Release) -> dict[str, Any]:
    """Describe a release for programs; `guarantee` is the content of ``guarantee.json``."""
    run = release.ledger_run
    return {
        "out": str(release.path),
        "documents": release.documents,
        "terms_without_vector": release.terms_without_vector,
        "notes": list(release.notes),
        "ledger": run and {"run": run.number, "loss": run.loss / UNIT, "head": run.hash},
        "guarantee": release.guarantee.as_dict(),
    }
