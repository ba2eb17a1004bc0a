"""What people hand to a transformer: texts, and the names of documents and authors."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from syntf.ledger.names import Names


def as_texts(X: Iterable[Any]) -> list[str]:
    """Any iterable of strings as a list; bytes are decoded and missing values are empty."""
    check_several(X)
    return [_as_text(value) for value in X]


def check_several(X: Iterable[Any]) -> None:
    if isinstance(X, str | bytes):
        raise ValueError("expected an iterable of texts, got a single one: put it in a list")


def as_names(
    texts: Sequence[str], ids: Iterable[Any] | None, authors: Iterable[Any] | None
) -> Names:
    """Whom a ledger charges for these texts; a missing name is the empty one."""
    named = texts if ids is None else _as_strings(ids)
    if len(named) != len(texts):
        raise ValueError(f"expected as many ids as texts, {len(texts)}, got {len(named)}")
    writers = None if authors is None else _as_strings(authors)
    return Names(named, writers, "text" if ids is None else "id")


def _as_strings(values: Iterable[Any]) -> list[str]:
    return [_as_name(value) for value in values]


def _as_name(value: Any) -> str:
    """The same name for 17, 17.0 and b"17"; what names nobody for certain is refused."""
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
    """NaN, or pandas' NaT and NA: what does not equal itself."""
    try:
        return np.ndim(value) == 0 and bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True
