"""Warn the owner of kept columns that may name a person or undo a shuffle.

Kept columns are released as they are, outside the guarantee. A column of e-mail addresses beside
the counts tells more than any count can.

Guarantee
---------
None is needed: warnings are for the owner alone, and a release holds no trace of them. They are
computed from columns that are released anyway, never from texts, and quote no value.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from syntf.core.errors import SyntfError
from syntf.core.release_names import ROW_NUMBER
from syntf.inputs.rows import STRING, Rows

LOOKED_AT = 1000
"""At most so many rows are looked at, the first ones."""
LONGEST = 200
"""At most so many characters of a value are looked at."""
FEWEST = 20
"""Of fewer values it is not said that they are nearly unique, or look like names."""
FEWEST_IN_ORDER = 5
"""Fewer values are too often in order by chance."""
SHARE = 0.1
"""Share of values that must look like an address or a number for a warning."""
UNIQUE = 0.9
"""Share of distinct values from which a column is nearly unique."""
LONG = 5
"""Words of a usual value from which a column of mostly distinct values is free text."""
UNDECODABLE = "\ufffd"
"""The character in place of bytes that do not fit the encoding."""

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^\W\d_]{2,}")
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_PHONE = re.compile(r"(?:\+|\(\+?\d+\) ?|00?[1-9]|\d{2,4}[-./ ]\d{2,4}[-./ ])[\d ()./-]{3,}\d")
_DATE = re.compile(r"\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ]\d{2,4}")
_FULL_NAME = re.compile(r"[^\W\d_a-z]\w*\.?,?(?: [^\W\d_a-z][\w'-]*\.?){1,3}")
_WORD_OF_NAME = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*")

_PERSONS = frozenset(
    "author user username sender recipient from to cc bcc customer client patient employee person "
    "contact owner student teacher member firstname lastname fullname surname forename vorname "
    "nachname nickname login signature".split()
)
"""Words in the name of a column that stands for persons."""
_PARTS = frozenset("first last full given family middle maiden display real nick user".split())
"""Words that make a name of a person of the word "name" in the name of a column."""


def released(text: str, id: str | None, keep: Sequence[str]) -> list[str]:
    """Return the columns that are released as they are; refuse those that cannot be."""
    columns = list(dict.fromkeys([*([id] if id else []), *keep]))
    if text in columns:
        raise SyntfError(f"the text column {text!r} cannot be released: leave it out of --keep")
    if ROW_NUMBER in columns:
        raise SyntfError(
            f"the column {ROW_NUMBER!r} of a release numbers its documents: rename your own column "
            "of that name to release it"
        )
    return columns


def warnings(kept: Rows, *, id: str | None = None, shuffle: bool = False) -> list[str]:
    """Return a sentence for everything in the kept columns that the owner should think about.

    kept : the first rows of the columns that are released, in the order of the input.
    id : the column that identifies a document. It is meant to be unique, so no warning says so.
    shuffle : whether the documents are released in random order.

    >>> addresses = Rows({"who": ["ann@example.org", "bob@example.org"]}, 2)
    >>> warnings(addresses)[0]
    "the column 'who' looks like e-mail addresses, and it is released as it is"
    """
    found = []
    for name, kind in kept.types:
        present = [value for value in list(kept.values[name][:LOOKED_AT]) if value is not None]
        text = kind == STRING
        values = [value for value in (str(value).strip()[:LONGEST] for value in present) if value]
        likeness = _kind(name, values, text=text)
        called = f"the {'id' if name == id else 'column'} {name!r}"
        if likeness:
            found.append(f"{called} looks like {likeness}, and it is released as it is")
        elif name != id and len(values) >= FEWEST and _distinct(values) >= UNIQUE:
            found.append(
                f"{called} is nearly unique: whoever knows its values elsewhere finds the documents"
            )
        if text and any(UNDECODABLE in value for value in present):
            found.append(
                f"{called} holds characters that could not be decoded: if the input is not in "
                "UTF-8, name its encoding by --encoding, for example cp1252"
            )
        if shuffle and _in_order(present, text=text):
            found.append(f"{called} is in the order of the input, which undoes the random order")
    return found


def _kind(name: str, values: Sequence[str], *, text: bool) -> str:
    """Return what the values of a column look like; empty if they look like nothing special.

    text : whether the values are strings. Numbers are neither names nor addresses.
    """
    if not text or not values:
        return ""
    if _share(values, lambda value: _EMAIL.search(value) is not None) >= SHARE:
        return "e-mail addresses"
    if _share(values, _is_iban) >= SHARE:
        return "bank accounts (IBAN)"
    if _share(values, _is_phone) >= SHARE:
        return "phone numbers"
    words = sorted(len(value.split()) for value in values)
    if words[len(words) // 2] >= LONG and _distinct(values) > 0.5:
        return "free text"
    if _names_persons(name) and _share(values, lambda value: not value.isdigit()) > 0.5:
        return "names of persons"
    full = _share(values, lambda value: _FULL_NAME.fullmatch(value) is not None)
    if full > 0.5 and _distinct(values) > 0.5 and len(values) >= FEWEST:
        return "names of persons"
    return ""


def _share(values: Sequence[str], holds: Callable[[str], bool]) -> float:
    return sum(map(holds, values)) / len(values)


def _distinct(values: Sequence[str]) -> float:
    return len(set(values)) / len(values)


def _is_iban(value: str) -> bool:
    """Tell whether a value is an IBAN with the right check digits."""
    plain = value.replace(" ", "").upper()
    if not _IBAN.fullmatch(plain):
        return False
    return int("".join(str(int(digit, 36)) for digit in plain[4:] + plain[:4])) % 97 == 1


def _is_phone(value: str) -> bool:
    digits = sum(map(str.isdigit, value))
    return 7 <= digits <= 15 and bool(_PHONE.fullmatch(value)) and not _DATE.match(value)


def _names_persons(column: str) -> bool:
    """Tell whether the name of a column says that its values are persons.

    >>> [_names_persons(name) for name in ("author", "firstName", "name", "file_name", "topic")]
    [True, True, True, False, False]
    """
    words = {word.lower() for word in _WORD_OF_NAME.findall(column)}
    if words & {"id", "count", "number", "type", "date", "time", "year"}:
        return False
    return words == {"name"} or bool(words & _PERSONS) or ("name" in words and bool(words & _PARTS))


def _in_order(values: list[Any], *, text: bool) -> bool:
    """Tell whether values are in order, up or down, and mostly distinct.

    Strings are also in order if they are when sorted by their length first: m9 before m10.
    """
    if len(values) < FEWEST_IN_ORDER:
        return False
    try:
        if len(set(values)) / len(values) <= 0.5:
            return False
        orders = [values]
        if text:
            orders.append([(len(value), value) for value in values])
        return any(order in (sorted(order), sorted(order, reverse=True)) for order in orders)
    except TypeError:  # lists and structures have no order
        return False
