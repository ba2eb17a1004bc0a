"""``guarantee.json`` read as the record of a stranger: its bytes, its checksum, its fields.

Whatever passes is one :class:`~syntf.privacy.guarantee.Guarantee` with the values that syntf could
have
written, in the only bytes it would have written them in. Whether they are true is for
:mod:`syntf.verification.verify`.
"""

import json
import re
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from math import isfinite
from typing import Any, get_args

from syntf.core.choices import SPACY, Draws, Morphology, Weighting
from syntf.core.errors import SyntfError
from syntf.privacy.guarantee import CHECKSUM, Guarantee, Inputs, Losses
from syntf.text.tokenizer import Analyzer
from syntf.vocabulary.vocabulary import Provenance

LARGEST = 1 << 26
"""Bytes of a record: far above one with a hundred thousand shards."""

SUPPLIED = ("vocabulary", "vectors", "stop_words", "wordnet", "analyzer")
ORIGINS = ("vocabulary", "vectors", "stop_words", "idf")


def read(raw: bytes) -> Guarantee:
    """The guarantee that these bytes are, refused unless they are all as syntf writes them."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        raise SyntfError("not JSON: the file is damaged, or was changed") from None
    if not isinstance(found, dict):
        raise SyntfError("not a record of fields")
    _same_fields(found)
    for name, well_formed in FIELDS.items():
        if not well_formed(found[name]):
            raise SyntfError(f"{name} is not a value that syntf writes")
    stated = found.pop(CHECKSUM)
    found["loss_per_word"] = Losses(**found["loss_per_word"])
    guarantee = Guarantee(**found)
    if guarantee[CHECKSUM] != stated:
        raise SyntfError("the checksum is that of another record: something in it was changed")
    if guarantee.as_json().encode() != raw:
        raise SyntfError("not byte for byte as syntf writes these values")
    return guarantee


def _same_fields(found: dict[str, Any]) -> None:
    version = found.get("version")
    by = f"syntf {version}" if _text(version) and str(version).isprintable() else "an unknown syntf"
    if CHECKSUM not in found and "mechanism" in found:
        raise SyntfError(
            f"no checksum: a release by {by} from before releases could be verified, or changed; "
            "ask for a new one"
        )
    known = {field.name for field in fields(Guarantee)} | {CHECKSUM}
    if found.keys() != known:
        names = ", ".join(sorted(map(ascii, found.keys() ^ known))[:3])
        raise SyntfError(
            f"fields added or missing ({names}): changed, or of another version ({by})"
        )


def _text(value: Any) -> bool:
    """Any text that can be written."""
    return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)


def _one_of(*values: Any) -> Callable[[Any], bool]:
    return lambda value: type(value) is str and value in values


def _flag(value: Any) -> bool:
    return type(value) is bool


def _count(value: Any) -> bool:
    return type(value) is int and 1 <= value < 1 << 62


def _positive(value: Any) -> bool:
    return type(value) is float and isfinite(value) and value > 0


def _loss(value: Any) -> bool:
    return type(value) is float and isfinite(value) and value >= 0


def _digest(value: Any) -> bool:
    return type(value) is str and re.fullmatch("sha256:[0-9a-f]{64}", value) is not None


def _texts(value: Any) -> bool:
    return type(value) is list and all(map(_text, value))


def _supplied(value: Any) -> bool:
    """Some of the names, in their order."""
    return _texts(value) and value == [name for name in SUPPLIED if name in value]


def _ratio(value: Any) -> bool:
    if type(value) is not str or not re.fullmatch("[0-9]{1,40}(/[0-9]{1,40})?", value):
        return False
    try:
        return Fraction(value) >= 1
    except ZeroDivisionError:
        return False


def _mapping(
    keys: Callable[[list[str]], bool], values: Callable[[Any], bool]
) -> Callable[[Any], bool]:
    return lambda found: (
        type(found) is dict and keys(list(found)) and all(map(values, found.values()))
    )


FIELDS: dict[str, Callable[[Any], bool]] = {
    "mechanism": _text,
    "epsilon": _positive,
    "neighbours": lambda value: value is None or _count(value),
    "spelling": lambda value: type(value) is float and 0 <= value <= 1,
    "length": lambda value: _count(value) and value <= 1 << 20,
    "morphology": _one_of(*get_args(Morphology)),
    "synsets": _flag,
    "analyzer": lambda value: value == Analyzer.name or (_text(value) and value.startswith(SPACY)),
    "weights": _one_of(*get_args(Weighting)),
    "draws": _one_of(*get_args(Draws)),
    "vocabulary_size": _count,
    "inputs": _one_of(*get_args(Inputs)),
    "input_size": _count,
    "loss_per_word": _mapping(lambda keys: keys == [field.name for field in fields(Losses)], _loss),
    "loss_ratio": _ratio,
    "loss_per_document": _loss,
    "provenance": _mapping(lambda keys: keys == [*ORIGINS], _one_of(*get_args(Provenance))),
    "supplied": _supplied,
    "seeded": _flag,
    "kept_columns": _texts,
    "shuffled": _flag,
    "digest": _digest,
    "vocabulary_digest": _digest,
    "vectors_digest": _digest,
    "private": _flag,
    "caveats": _texts,
    "version": _text,
    "files": _mapping(lambda names: all(map(_text, names)), _digest),
    CHECKSUM: _digest,
}
"""What each field may hold; an unknown field is refused."""
