"""Play a forger: change a release, and recompute its digests and its checksum."""

from contextlib import suppress
from dataclasses import replace

import polars as pl

from syntf.core import tables
from syntf.core.errors import SyntfError
from syntf.core.release_names import CARD_FILE
from syntf.releases.contents import folder as release_folder
from syntf.releases.contents.croissant import render_card
from syntf.verification.guarantee_file import read_guarantee
from syntf.verification.result import FAILED


def status(result):
    return {check.name: check.status for check in result.checks}


def failed(result):
    """The names of the checks that failed."""
    assert not result.verified
    assert result.verdict == "failed"
    return [check.name for check in result.with_status(FAILED)]


def stated(folder):
    return read_guarantee((folder / "guarantee.json").read_bytes()).guarantee


def forge(folder, *, files=None, card=True, **changed):
    """Other fields, with digests of the files as they are and the checksum recomputed.

    card : write croissant.json again for these files, too, if the release has one.
    """
    (folder / "guarantee.json").rename(folder.parent / "old.json")
    guarantee = read_guarantee((folder.parent / "old.json").read_bytes()).guarantee
    if card and files is None and (folder / CARD_FILE).is_file():
        with suppress(pl.exceptions.PolarsError, OSError, SyntfError):  # it cannot be read
            forge_card(folder, replace(guarantee, **changed))
    named = release_folder.digests(folder) if files is None else files
    guarantee = replace(guarantee, files=named, **changed)
    (folder / "guarantee.json").write_text(guarantee.as_json())
    return guarantee


def forge_card(folder, guarantee):
    """Write croissant.json for the files as they are."""
    parts = sorted(folder.glob("documents*.parquet"))
    schema = tables.types(tables.from_polars(pl.read_parquet(parts[0])))
    documents = sum(pl.scan_parquet(part).select(pl.len()).collect().item() for part in parts)
    counts = sorted(path.name for path in folder.glob("vectors*"))[0].replace("-00000", "-*")
    files = release_folder.digests(folder)
    (folder / CARD_FILE).write_bytes(render_card(guarantee, documents, schema, counts, files))
