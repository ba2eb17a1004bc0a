"""The list of topics or words that the pilot of an earlier release led to, for later documents.

The list is computed from what the pilot has released, so it is public. Documents that come one at a
time, in a service or a stream, have no pilot of their own and can answer from this list.
"""

import json
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntf.codebook.encoder import Encoder
from syntf.codebook.lists import EntryList
from syntf.codebook.plan import Plan
from syntf.core.errors import SyntfError
from syntf.mechanism import subsets
from syntf.pipeline.document import DocumentMechanism
from syntf.privacy.guarantee import DocumentUnit
from syntf.releases.contents.prototypes import PILOT, PROTOTYPES


def read_earlier_list(folder: str | PathLike[str], encoder: Encoder, loss: float) -> EntryList:
    """Derive the sharpened list of a release from the rows of its pilot.

    Parameters
    ----------
    folder : the folder of a release of the document unit, made with a pilot.
    encoder : the encoder of the later documents; it must have the codebook of the release.
    loss : the loss per document of the later documents; it must be that of the release.

    Raises
    ------
    SyntfError
        If the folder has no such list, or a list that does not fit.
    """
    place = Path(folder)
    unit = _read_unit(place, loss)
    if unit.codebook != f"sha256:{encoder.codebook.digest}":
        raise SyntfError(f"{place} was made with another codebook: use the same one")
    plan = Plan(
        "topics" if unit.kind == "topics" else "words",
        unit.draws, unit.loss_per_draw, unit.entries, unit.size,
        unit.pilot, unit.sharpened_entries, unit.sharpened_size,
    )  # fmt: skip
    mechanism = DocumentMechanism(encoder, loss, plan)
    derived = mechanism.sharpen(_pilot_answers(place, mechanism.general))
    if unit.sharpened != f"sha256:{derived.digest}":
        raise SyntfError(
            f"the rows of the pilot in {place} do not lead to the list of its guarantee: run "
            "syntf verify"
        )
    return derived


def _read_unit(folder: Path, loss: float) -> DocumentUnit:
    """Read how a release spent its loss, and check that its list may be used."""
    try:
        record = json.loads((folder / "guarantee.json").read_text(encoding="utf-8"))
        unit = None if record.get("document") is None else DocumentUnit(**record["document"])
        private, found_loss = bool(record["private"]), float(record["loss_per_document"])
    except OSError as error:
        raise SyntfError(f"{folder} is not a release: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SyntfError(f"{folder} is not a release that this version of syntf knows") from None
    if unit is None:
        raise SyntfError(f"{folder} is a release of the words unit, which has no list of topics")
    if not private:
        raise SyntfError(f"{folder} is not private, so its list may not be used")
    if not unit.pilot:
        raise SyntfError(
            f"{folder} was made without a pilot, so it has no list of its own: leave the list out"
        )
    if found_loss != loss:
        raise SyntfError(
            f"{folder} was made with a loss of {found_loss:g} per document, not {loss:g}: its list "
            "serves the same loss"
        )
    return unit


def _pilot_answers(folder: Path, general: EntryList) -> NDArray[np.int64]:
    files = sorted([*folder.glob("documents*.parquet"), *folder.glob("data/*.parquet")])
    try:
        rows = pl.concat(
            [
                pl.scan_parquet(file).filter(pl.col(PILOT)).select(PROTOTYPES).collect()
                for file in files
            ]
        )
        sets = np.array(rows[PROTOTYPES].to_list(), dtype=np.int64).reshape(-1, general.size)
    except (OSError, ValueError, pl.exceptions.PolarsError):
        raise SyntfError(f"{folder} has no readable rows of a pilot: run syntf verify") from None
    if sets.size and (sets.min() < 0 or sets.max() >= len(general)):
        raise SyntfError(f"{folder} has answers that are not in its list: run syntf verify")
    return subsets.rank(sets) if general.size > 1 else sets.ravel()
