"""Take texts, names and released columns from a table, each value by itself."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from syntf.core.errors import SyntfError, suggestion
from syntf.inputs.encodings import Undecodable
from syntf.inputs.rows import Rows, Values

if TYPE_CHECKING:  # the functions import it, once there is a series
    import polars as pl

NAMES_OF_TEXTS = (
    "text", "body", "content", "message", "comment", "review", "description", "document", "post",
    "answer", "article", "abstract", "note", "feedback", "tweet", "mail", "email",
)  # fmt: skip
"""What columns with texts are often called, the likeliest first."""

LISTED_COLUMNS = 20
"""How many columns an error message lists."""


def texts(table: "pl.DataFrame | Rows", column: str) -> list[str]:
    """Return the texts of a column; a null is an empty text."""
    values = text_column(_column(table, column), column)
    return values if isinstance(values, list) else values.to_list()


def text_column(values: Values, column: str, undecodable: Undecodable = "replace") -> Values:
    """Return a column as strings without nulls: a null is an empty text.

    Bytes are decoded as UTF-8; those that do not fit are replaced or refused.
    """
    if isinstance(values, list):
        return values
    import polars as pl

    if values.dtype == pl.String and not values.null_count():
        return values
    if values.dtype == pl.Binary:
        errors = "replace" if undecodable == "replace" else "strict"
        try:
            decoded = [(value or b"").decode("utf-8", errors) for value in values.to_list()]
        except UnicodeDecodeError:
            raise SyntfError(
                f"column {column!r} holds bytes that are not UTF-8: decode the column first, or "
                "replace such bytes with --undecodable replace"
            ) from None
        return pl.Series(column, decoded, pl.String)
    try:
        if not values.dtype.is_nested():
            return values.cast(pl.String).fill_null("")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        pass  # a type without a text form, such as a duration, or a date beyond all calendars
    # Name the kind of type alone: the fields of a structure and the values of an enumeration are
    # data.
    raise SyntfError(f"column {column!r} holds {values.dtype.base_type()}, not text")


def names(table: "pl.DataFrame | Rows", column: str) -> list[str]:
    """Return the ids or authors in a column, for a ledger; a null is the empty name.

    The same number must be the same name in every file. A column of whole numbers with a gap is
    often stored as decimals, so 17.0 is the name 17. Other decimals, true and false are refused.
    """
    values = _column(table, column)
    if isinstance(values, list):
        return values
    import polars as pl

    if values.dtype == pl.Boolean:
        raise SyntfError(f"column {column!r} holds true and false, which identify nothing")
    if not values.dtype.is_float():
        return texts(table, column)
    numbers = values.drop_nulls().drop_nans()
    if not ((numbers == numbers.floor()) & (numbers.abs() < 2**53)).all():
        raise SyntfError(f"column {column!r} holds decimals: names must be whole numbers or text")
    return values.fill_nan(None).cast(pl.Int64).cast(pl.String).fill_null("").to_list()


def without_categories(values: Values) -> Values:
    """Turn categories into strings: their order would tell the order of the input."""
    if isinstance(values, list):
        return values
    kind = _without_categories(values.dtype)
    return values if kind == values.dtype else values.cast(kind)


def require(columns: Sequence[str], existing: Sequence[str]) -> None:
    """Refuse columns that do not exist, and list those that do, unless these look like texts."""
    for column in columns:
        if column not in existing:
            found = (
                "the first line looks like data, not column names: add a header row, or check the "
                "name if there is one"
            )
            if all(map(_looks_like_a_name, existing)):
                listed = ", ".join(existing[:LISTED_COLUMNS])
                if len(existing) > LISTED_COLUMNS:
                    listed += f" and {len(existing) - LISTED_COLUMNS} more"
                found = f"the columns are: {listed}{_suggested(column, existing)}"
                if any("\ufffd" in name for name in existing):
                    found += (
                        "; some of these names could not be decoded: name the encoding of the file "
                        "by --encoding, for example cp1252"
                    )
                if names := _joined_names(column, existing):
                    found = f"these are several columns: --keep takes names with a space: {names}"
                if column == "text":  # the name that is looked for unless --text gives another
                    start = " Name" if found.endswith("?") else "; name"
                    found += f"{start} the column of the texts with --text"
            raise SyntfError(f"no column {column!r}; {found}")


def _joined_names(column: str, existing: Sequence[str]) -> str:
    """Return the names of columns that somebody joined by commas or semicolons, else nothing.

    >>> _joined_names("topic,author", ["text", "author", "topic"]), _joined_names("a,b", ["a"])
    ('topic author', '')
    """
    names = [name.strip() for name in column.replace(";", ",").split(",")]
    return " ".join(names) if len(names) > 1 and set(names) <= set(existing) else ""


def _column(table: "pl.DataFrame | Rows", column: str) -> Values:
    require([column], table.columns)
    return table.values[column] if isinstance(table, Rows) else table[column]


def _suggested(column: str, existing: Sequence[str]) -> str:
    """Suggest a column of a similar name, or one of a usual name in place of the usual 'text'."""
    if found := suggestion(column, existing):
        return found
    usual = {name.casefold(): name for name in existing}
    fitting = [usual[name] for name in NAMES_OF_TEXTS if name in usual]
    return f"; did you mean {fitting[0]!r}?" if column == "text" and fitting else ""


def _without_categories(kind: Any) -> Any:
    import polars as pl

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
    return short and column.isprintable() and not set(column) & set('{}"<>')
