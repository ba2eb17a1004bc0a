"""Columns that are released as they are: which are refused, and which the owner is warned of.

Kept columns stand outside the guarantee. A column of e-mail addresses beside the counts tells more
than any count can. Warnings are computed from kept columns alone, never from texts.
"""

import re
from collections.abc import Sequence
from datetime import date

import polars as pl

from syntf.core.errors import SyntfError

RESERVED = ("document", "pilot", "answer", "released_topic")
"""Columns that a release has of its own."""

LOOKED_AT = 1000
"""At most so many rows are looked at, the first ones."""
FEWEST = 20
"""Of fewer values it is not said that they are nearly unique, or look like names."""
SHARE = 0.1
"""Share of values that must look like an address or a number for a warning."""
UNIQUE = 0.9
"""Share of distinct values from which a column is nearly unique."""
LONG = 5
"""Words of a usual value from which a column of mostly distinct values is free text."""

UNDECODABLE = "\ufffd"
"""The character in place of bytes that do not fit the encoding."""

_EPOCH = date(1970, 1, 1).toordinal()
EMAIL = r"[^@\s]+@[^@\s]+\.[^\W\d_]{2,}"
PHONE = r"^(\+|00?[1-9]|\(\+?\d+\) ?|\d{2,4}[-/ ]\d{3})[\d ()/-]{4,}\d$"
IBAN = r"^[A-Z]{2}\d{2}[A-Z0-9 ]{11,40}$"
FULL_NAME = r"^\p{Lu}[\w'’-]*\.?,?( \p{Lu}[\w'’-]*\.?){1,3}$"
_DAYS = (date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH)
"""The days that Python has, counted from the first of January 1970."""
_UNITS_OF_A_DAY = {"d": 1, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
_WORD_OF_NAME = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*")
_PERSONS = frozenset(
    "author user username sender recipient from to cc bcc customer client patient employee person "
    "contact owner student teacher member firstname lastname fullname surname forename vorname "
    "nachname nickname login signature".split()
)
"""Words in the name of a column that stands for persons."""
_PARTS = frozenset("first last full given family middle maiden display real nick user".split())
"""Words that make the name of a person of the word "name" in the name of a column."""
_OTHERS = frozenset("id count number type date time year".split())
"""Words in the name of a column that stands for something else about persons."""


def columns_to_keep(
    text: str, id: str | None, keep: Sequence[str], author: str | None = None
) -> list[str]:
    """Return the columns that are released as they are, the id first.

    Columns that cannot be released, and an author that cannot be read, are refused.
    """
    if isinstance(keep, str):
        raise SyntfError(f"keep is a list of columns: keep=[{keep!r}]")
    columns = list(dict.fromkeys([*([id] if id else []), *keep]))
    if text in columns:
        raise SyntfError(f"the text column {text!r} cannot be released: leave it out of --keep")
    if author == text:
        raise SyntfError(f"the text column {text!r} cannot name authors: give another --author")
    for name in (*columns, author or "", text):
        if name.startswith("^") and name.endswith("$"):
            raise SyntfError(f"polars takes the column {name!r} for a pattern: rename it")
    for name in columns:
        if name in RESERVED:
            raise SyntfError(
                f"a release has a column {name!r} of its own: rename your column to keep it"
            )
    return columns


def check_values(kept: pl.DataFrame) -> None:
    """Refuse columns with values that no file can hold, before anything is charged or drawn."""
    for name in kept.columns:
        values = kept[name]
        kind = values.dtype
        if isinstance(kind, pl.Struct) and not kind.fields:
            raise SyntfError(f"the column {name!r} holds structures without fields: do not keep it")
        if isinstance(kind, pl.Date | pl.Datetime):
            unit = kind.time_unit if isinstance(kind, pl.Datetime) else "d"
            if not (values.to_physical() // _UNITS_OF_A_DAY[unit]).is_between(*_DAYS).all():
                raise SyntfError(
                    f"the column {name!r} holds a date outside the years 1 to 9999, such as "
                    "infinity in a database: correct it, or do not keep the column"
                )


def warnings(kept: pl.DataFrame, *, id: str | None = None, shuffle: bool = False) -> list[str]:
    """Return a sentence for everything in kept columns that the owner should think about.

    kept : the first rows of the columns that are released, in the order of the input.
    id : the column that identifies a document. It is meant to be unique, so nothing says so.

    >>> warnings(pl.DataFrame({"who": ["ann@example.org", "bob@example.org"]}))
    ["the column 'who' looks like e-mail addresses, and it is released as it is"]
    """
    found = []
    for name in kept.columns:
        values = kept[name].head(LOOKED_AT).drop_nulls()
        called = f"the {'id' if name == id else 'column'} {name!r}"
        likeness = _likeness(name, values)
        distinct = values.n_unique() / max(1, len(values)) if _is_plain(values) else 0.0
        if likeness:
            found.append(f"{called} looks like {likeness}, and it is released as it is")
        elif name != id and len(values) >= FEWEST and distinct >= UNIQUE:
            found.append(
                f"{called} is nearly unique: whoever knows its values elsewhere finds the documents"
            )
        if values.dtype == pl.String and values.str.contains(UNDECODABLE, literal=True).any():
            found.append(
                f"{called} holds characters that could not be decoded: if the input is not in "
                "UTF-8, name its encoding by --encoding, for example cp1252"
            )
        if shuffle and len(values) >= 5 and distinct > 0.5 and _in_order(values):
            found.append(f"{called} is in the order of the input, which undoes the random order")
    return found


def _in_order(values: pl.Series) -> bool:
    """Tell whether values are in order, up or down; m9 may stand before m10."""
    orders = [values]
    if values.dtype == pl.String:
        orders.append(values.str.pad_start(max(map(len, values), default=0), "\0"))
    return any(one.is_sorted() or one.is_sorted(descending=True) for one in orders)


def _is_plain(values: pl.Series) -> bool:
    return not values.dtype.is_nested() and values.dtype != pl.Object


def _likeness(name: str, values: pl.Series) -> str:
    """Return what the values of a column look like; empty if they look like nothing special."""
    if values.dtype != pl.String:
        return ""
    texts = values.str.strip_chars()
    texts = texts.filter(texts != "")
    if not len(texts):
        return ""

    def share(pattern: str) -> float:
        return float(texts.str.contains(pattern).sum()) / len(texts)

    for pattern, likeness in (
        (EMAIL, "e-mail addresses"), (IBAN, "bank accounts (IBAN)"), (PHONE, "phone numbers"),
    ):  # fmt: skip
        if share(pattern) >= SHARE:
            return likeness
    distinct = texts.n_unique() / len(texts)
    words = texts.str.count_matches(r"\S+").sort()
    if words[len(words) // 2] >= LONG and distinct > 0.5:
        return "free text"
    full_names = share(FULL_NAME) > 0.5 and distinct > 0.5 and len(texts) >= FEWEST
    return "names of persons" if full_names or _names_persons(name) else ""


def _names_persons(column: str) -> bool:
    """Tell whether the name of a column says that its values are persons.

    >>> [_names_persons(name) for name in ("author", "firstName", "name", "file_name", "user_id")]
    [True, True, True, False, False]
    """
    words = {word.lower() for word in _WORD_OF_NAME.findall(column)}
    parts = words & _PERSONS or words == {"name"} or ("name" in words and words & _PARTS)
    return bool(parts) and not words & _OTHERS
