"""Read texts, ids and authors from Python sequences, such as lists and columns of data frames."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from syntf.ledger.names import Names


def as_texts(X: Iterable[Any]) -> list[str]:
    """Return texts as a list of str. Bytes are decoded; missing values become empty texts.

    `X` may be a table with one column: a data frame of pandas or polars, an Arrow table, or an
    array with two dimensions.
    """
    return [_as_text(value) for value in text_values(X)]


def text_values(X: Any) -> Iterable[Any]:
    """Return the values of texts, or of a table with one column.

    Refuse a single text, and tables with more or fewer columns: going through a data frame would
    give the names of its columns, and through rows would give one text for all documents.
    """
    refuse_single_text(X)
    names = getattr(X, "column_names", None)  # Arrow
    names = getattr(X, "columns", None) if names is None else names
    if names is not None:
        if callable(names) or len(names) != 1:
            shown = "" if callable(names) else f" with {len(names)} columns"
            raise ValueError(
                f"expected one column of texts, got a table{shown}: choose the column, for example "
                "X['text']"
            )
        X = X.column(0) if hasattr(X, "column_names") else X[names[0]]
    elif len(getattr(X, "shape", ())) > 1:
        if len(X.shape) != 2 or X.shape[1] != 1:
            raise ValueError(f"expected one column of texts, got an array of shape {X.shape}")
        X = X[:, 0]
    values: Iterable[Any] = X.to_pylist() if hasattr(X, "to_pylist") else X
    return values


def refuse_single_text(X: Iterable[Any]) -> None:
    """Raise ValueError for a single text: it would be read letter by letter."""
    if isinstance(X, str | bytes):
        raise ValueError("expected an iterable of texts, got a single text: put it in a list")


def as_names(
    texts: Sequence[str], ids: Iterable[Any] | None, authors: Iterable[Any] | None
) -> Names:
    """Return the documents and authors that a ledger charges; a missing name becomes empty."""
    documents = texts if ids is None else [_as_name(value) for value in ids]
    if len(documents) != len(texts):
        raise ValueError(f"expected {len(texts)} ids, one per text, got {len(documents)}")
    writers = None if authors is None else [_as_name(value) for value in authors]
    return Names(documents, writers, "text" if ids is None else "id")


def _as_name(value: Any) -> str:
    """Return the same name for 17, 17.0 and b"17"; refuse values whose name is ambiguous."""
    if value is None or _is_missing(value):
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, float | np.floating | bool | np.bool_):
        raise ValueError(f"ids and authors must be texts or whole numbers, not {value!r}")
    return str(value)


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or _is_missing(value):
        return ""
    raise ValueError(f"expected texts (str or bytes), got {type(value).__name__}")


def _is_missing(value: Any) -> bool:
    """Tell whether a value is NaN, or NaT or NA of pandas: these do not equal themselves."""
    try:
        return np.ndim(value) == 0 and bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True
