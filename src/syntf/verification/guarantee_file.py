"""Read ``guarantee.json`` of an untrusted release.

A record passes if it has the fields of its format, each with a value that syntf could have
written, a right checksum, and exactly the bytes that syntf writes for these values. Whether the
values are true is for the other checks.
"""

import json
from dataclasses import dataclass
from typing import Any

from syntf import __version__
from syntf.core.errors import SyntfError
from syntf.privacy.guarantee import (
    CHECKSUM,
    FORMAT,
    DocumentUnit,
    Guarantee,
    Language,
    Losses,
    Valid,
    canonical_json,
    checksum,
    declared_fields,
    is_digest,
    is_text,
)
from syntf.verification.result import NotCheckedError, one_line

LARGEST = 1 << 26
"""Bytes of a record at most; one with a hundred thousand shards is far smaller."""

FORMATS = {"0.1.0": 1, __version__: FORMAT}
"""The format of the releases of each version that this program knows."""


@dataclass(frozen=True)
class GuaranteeFile:
    """A well-formed ``guarantee.json``: the guarantee, and the checksum that the file states."""

    guarantee: Guarantee
    checksum: str


def read_guarantee(raw: bytes) -> GuaranteeFile:
    """Parse ``guarantee.json``.

    Raises
    ------
    NotCheckedError
        If the release is of a version that this program does not know.
    SyntfError
        If the file is not byte for byte what syntf writes.
    """
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        raise SyntfError("this is not JSON: the file is damaged or was changed") from None
    if not isinstance(record, dict):
        raise SyntfError("this is not a JSON object")
    format = _known_format(record)
    valid = valid_fields(format)
    if record.keys() != valid.keys():
        names = ", ".join(sorted(map(ascii, record.keys() ^ valid.keys()))[:3])
        raise SyntfError(f"fields were added or are missing: {names}")
    for name, is_valid in valid.items():
        if not is_valid(record[name]):
            raise SyntfError(f"{name} has a value that syntf never writes")
    stated = record[CHECKSUM]
    record = {name: record[name] for name in valid if name != CHECKSUM}
    if checksum(record) != stated:
        raise SyntfError("the checksum does not match: a field was changed")
    if canonical_json({**record, CHECKSUM: stated}).encode() != raw:
        raise SyntfError("the bytes are not those that syntf writes for these values")
    if record["loss_per_word"] is not None:
        record["loss_per_word"] = Losses(**record["loss_per_word"])
    if record.get("document") is not None:
        record["document"] = DocumentUnit(**record["document"])
    if record.get("language") is not None:
        record["language"] = Language(**record["language"])
    known = {name: record[name] for name in record if name != "caveats"}
    return GuaranteeFile(Guarantee(**{"format": format, **known}), stated)


def valid_fields(format: int) -> dict[str, Valid]:
    """Return the fields of a format in the order of the file, each with its check."""
    found: dict[str, Valid] = {}
    for declared in declared_fields(format):
        if format == 1 and declared.name == "version":  # sentences, in the wording of 0.1.0
            found["caveats"] = lambda value: isinstance(value, list) and all(map(is_text, value))
        found[declared.name] = declared.metadata["valid"]
    return {**found, CHECKSUM: is_digest}


def _known_format(record: dict[str, Any]) -> int:
    version, format = record.get("version"), record.get("format", 1)
    if not isinstance(version, str) or type(format) is not int:
        raise SyntfError("version or format is missing, or has a value that syntf never writes")
    if version not in FORMATS:
        raise NotCheckedError(
            f"written by syntf {one_line(version)}, which syntf {__version__} does not know: "
            "install a version of syntf that does"
        )
    if FORMATS[version] != format:
        raise SyntfError(f"syntf {version} does not write format {format}")
    return format
