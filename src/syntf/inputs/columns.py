"""Columns of a table: their names, the types that can be read as text, and a guess at their use."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from syntf.core.errors import SyntfError, suggestion

NAMES_OF_TEXTS = (
    "text", "body", "content", "message", "comment", "review", "description", "document", "post",
    "answer", "article", "abstract", "note", "feedback", "tweet", "mail", "email",
)  # fmt: skip
"""What columns with texts are often called, the likeliest first."""

NAMES_OF_LABELS = (
    "label", "topic", "category", "class", "subject", "section", "department", "sentiment",
    "rating", "stars", "type", "tag",
)  # fmt: skip
"""What columns to predict are often called, the likeliest first."""

NAMES_OF_AUTHORS = (
    "author", "user", "username", "user_id", "author_id", "sender", "from", "writer", "speaker",
    "customer", "customer_id", "person", "name",
)  # fmt: skip
"""What columns with authors are often called, the likeliest first."""

LISTED_COLUMNS = 20
"""How many columns an error message lists."""


def named(columns: Sequence[str], file: str) -> list[str]:
    """Return the names of columns; one without a name is named by its place.

    >>> named(["", "text"], "mails.csv")
    ['column_0', 'text']
    """
    names = [name or f"column_{place}" for place, name in enumerate(columns)]
    if len(set(names)) < len(names):
        raise SyntfError(
            f"{file} has two columns of the same name: rename one, or add a header row if its "
            "first line is data"
        )
    return names


def require(columns: Sequence[str], existing: Sequence[str]) -> None:
    """Refuse columns that do not exist, and list those that do, unless these look like texts."""
    for column in columns:
        if column not in existing:
            found = (
                "the first line looks like data, not column names: add a header row, or check "
                "--input-format and --encoding"
            )
            if all(map(_looks_like_a_name, existing)):
                listed = ", ".join(existing[:LISTED_COLUMNS])
                more = ", …" if len(existing) > LISTED_COLUMNS else ""
                hint = suggestion(column, existing)
                if column == "text":  # the name that is looked for unless --text gives another
                    usual = _usual(NAMES_OF_TEXTS, existing)
                    hint = hint or (f"; did you mean {usual!r}?" if usual else ".")
                    hint += " Name the column of the texts with --text"
                found = f"the columns are: {listed}{more}{hint}"
            raise SyntfError(f"no column {column!r}; {found}")


def as_texts(values: pl.Series) -> pl.Series:
    """Return a column as strings; a null stays null. Bytes are decoded as UTF-8 with replacement.

    Raises SyntfError for a type without a text form, such as lists or durations.
    """
    if values.dtype == pl.Binary:
        decoded = [None if value is None else value.decode("utf-8", "replace") for value in values]
        return pl.Series(values.name, decoded, pl.String)
    try:
        if not values.dtype.is_nested():
            return values.cast(pl.String)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        pass  # a duration, or a date beyond all calendars
    # Name the kind of type alone: the fields of a structure and the values of an enumeration are
    # data.
    raise SyntfError(f"column {values.name!r} holds {values.dtype.base_type()}, not text")


def as_names(values: pl.Series) -> pl.Series:
    """Return the ids or authors in a column as strings; a null is the empty name.

    The same number must be the same name in every file. A column of whole numbers with a gap is
    often stored as decimals, so 17.0 is the name 17. Other decimals, true and false are refused.

    >>> as_names(pl.Series("id", [17.0, None])).to_list()
    ['17', '']
    """
    if values.dtype == pl.Boolean:
        raise SyntfError(f"column {values.name!r} holds true and false, which identify nothing")
    if values.dtype.is_float():
        numbers = values.drop_nulls().drop_nans()
        if not ((numbers == numbers.floor()) & (numbers.abs() < 2**53)).all():
            raise SyntfError(
                f"column {values.name!r} holds decimals: names must be whole numbers or text"
            )
        values = values.fill_nan(None).cast(pl.Int64)
    return as_texts(values).fill_null("")


def without_categories(values: pl.Series) -> pl.Series:
    """Turn categories into strings: their order would tell the order of the input."""
    kind = _without_categories(values.dtype)
    return values if kind == values.dtype else values.cast(kind)


def guess(head: pl.DataFrame) -> dict[str, str | None]:
    """Guess which columns hold the text, the label and the author, by the first rows of a table.

    The text is a column of a usual name, or else the one with the longest strings. Labels and
    authors repeat, and their columns have usual names.

    >>> guess(pl.DataFrame({"who": ["a", "b"], "body": ["so it is", "yes"], "topic": ["x", "x"]}))
    {'text': 'body', 'label': 'topic', 'author': None}
    """
    strings = [name for name in head.columns if head.schema[name] == pl.String]
    lengths = {name: head[name].str.len_chars().mean() or 0 for name in strings}
    longest = max(strings, key=lengths.__getitem__, default=None)
    text = _usual(NAMES_OF_TEXTS, strings) or longest
    repeated = [
        name
        for name, values in head.to_dict().items()
        if name != text and not values.dtype.is_nested() and values.n_unique() < head.height
    ]
    return {
        "text": text,
        "label": _usual(NAMES_OF_LABELS, repeated),
        "author": _usual(NAMES_OF_AUTHORS, repeated),
    }


def _usual(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """Return the column that has the first of these names, in whatever case."""
    known = {column.casefold(): column for column in reversed(columns)}
    return next((known[name] for name in names if name in known), None)


def _without_categories(kind: Any) -> Any:
    if isinstance(kind, pl.Categorical | pl.Enum):
        return pl.String()
    if isinstance(kind, pl.List):
        return pl.List(_without_categories(kind.inner))
    if isinstance(kind, pl.Array):
        return pl.Array(_without_categories(kind.inner), kind.size)
    if isinstance(kind, pl.Struct):
        return pl.Struct({one.name: _without_categories(one.dtype) for one in kind.fields})
    return kind


def _looks_like_a_name(column: str) -> bool:
    """Return whether a name may be shown. The first line of a file without a header is a text."""
    short = len(column) <= 40 and len(column.split()) <= 4
    return short and column.isprintable() and not set(column) & set('{}"<>\ufffd')
