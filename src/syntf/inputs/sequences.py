"""Read texts from Python: lists, columns of data frames, arrays, generators."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from syntf.core.errors import SyntfError
from syntf.inputs.encodings import without_surrogates


def as_texts(X: Iterable[Any]) -> pl.Series:
    """Return texts as a series of strings. Bytes are decoded; missing values are empty texts.

    `X` may be a table with one column: a data frame of pandas or polars, an Arrow table, or an
    array with two dimensions.

    >>> as_texts(["A cat.", None, b"caf\\xc3\\xa9"]).to_list()
    ['A cat.', '', 'café']
    """
    values = _one_column(X)
    if isinstance(values, pl.Series) and values.dtype in (pl.String, pl.Null):
        return values.cast(pl.String).fill_null("").alias("text")
    return pl.Series("text", [_as_text(value) for value in values], pl.String)


def _one_column(X: Any) -> Iterable[Any]:
    """Return the values of texts, or of a table with one column.

    Refuse a single text, and tables with more or fewer columns: going through a data frame would
    give the names of its columns, and through rows would give one text for all documents.
    """
    if isinstance(X, str | bytes | dict) or hasattr(X, "collect"):  # or a frame that is not read
        raise SyntfError(
            f"expected an iterable of texts, got {type(X).__name__}: give a list, or one column"
        )
    shape = getattr(X, "shape", ())
    if len(shape) > 1:
        if shape[1:] != (1,):
            raise SyntfError(
                f"expected one column of texts, got a table of shape {shape}: choose the column, "
                "for example X['text']"
            )
        X = np.asarray(X, dtype=object)[:, 0]
    values: Iterable[Any] = X.to_pylist() if hasattr(X, "to_pylist") else X
    return values


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or _is_missing(value):
        return ""
    raise SyntfError(
        f"expected texts (str or bytes), got {type(value).__name__}: give the column of the texts"
    )


def _is_missing(value: Any) -> bool:
    """Tell whether a value is NaN, or NaT or NA of pandas: these do not equal themselves."""
    try:
        return np.ndim(value) == 0 and bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True
