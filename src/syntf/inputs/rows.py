"""Rows of an input, column by column: series of polars, or lists of strings.

Some readers make strings of Python, and documents are read from strings of Python. Texts on this
way stay as they are; a series would copy each of them twice, and importing polars takes long.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from sys import getsizeof
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

import numpy as np
from numpy.typing import NDArray

from syntf.core import tables
from syntf.core.errors import SyntfError

if TYPE_CHECKING:  # imported by readers that need it
    import polars as pl

Values: TypeAlias = "pl.Series | list[str]"
"""A column. The strings of a list are never None."""

STRING = "String"
"""The name of the type of strings, as polars calls it."""


@dataclass(frozen=True)
class Rows:
    """Some rows of an input.

    values : the columns by their names, in the order of the input.
    height : the number of rows, also if no column is wanted.
    """

    values: "Mapping[str, Values]"
    height: int

    @classmethod
    def of(cls, frame: "pl.DataFrame") -> "Rows":
        """Return the rows of a frame."""
        names = named(frame.columns, "the input")
        columns = zip(names, frame.get_columns(), strict=True)
        return cls({name: series.alias(name) for name, series in columns}, frame.height)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.values)

    @property
    def types(self) -> list[tuple[str, str]]:
        """The names of the columns with their types, as polars calls them, in their order."""
        return [
            (name, STRING if isinstance(values, list) else str(values.dtype))
            for name, values in self.values.items()
        ]

    @property
    def size(self) -> int:
        """The memory of all values in bytes."""
        return sum(
            sum(map(getsizeof, values))
            if isinstance(values, list)
            else int(values.estimated_size())
            for values in self.values.values()
        )

    @overload
    def __getitem__(self, which: str) -> "pl.Series": ...
    @overload
    def __getitem__(self, which: slice) -> "Rows": ...
    def __getitem__(self, which: str | slice) -> Any:
        """Return a column as a series, or some consecutive rows."""
        if isinstance(which, str):
            values = self.values[which]
            return _series(which, values) if isinstance(values, list) else values
        height = len(range(*which.indices(self.height)))
        return Rows({name: values[which] for name, values in self.values.items()}, height)

    def strings(self, name: str, places: NDArray[np.intp] | None = None) -> list[str]:
        """Return the values of a column of strings, or those at some places."""
        values = self.values[name]
        if isinstance(values, list):
            return values if places is None else [values[place] for place in places.tolist()]
        return (values if places is None else values.gather(places)).to_list()

    def at(self, places: NDArray[np.intp]) -> "Rows":
        """Return the rows at some places."""
        kept: dict[str, Values] = {
            name: self.strings(name, places) if isinstance(values, list) else values.gather(places)
            for name, values in self.values.items()
        }
        return Rows(kept, len(places))

    def only(self, names: Sequence[str]) -> "Rows":
        """Return the rows with some of their columns."""
        return Rows({name: self.values[name] for name in names}, self.height)

    def as_arrow(self) -> "dict[str, tables.Column]":
        """Return the columns as columns of Arrow, by their names."""
        kept: dict[str, tables.Column] = {}
        for name, values in self.values.items():
            if isinstance(values, list):
                tables.require_name(name)
                kept[name] = tables.strings(values)
            else:
                kept[name] = tables.from_polars(values.to_frame()).column(name)
        return kept

    def require_releasable(self) -> None:
        """Refuse columns with a name, a type or values that a release cannot hold."""
        self[:0].as_arrow()
        for values in self.values.values():
            if not isinstance(values, list):
                tables.require_dates(values)

    def frame(self) -> "pl.DataFrame":
        """Return the rows as a frame of polars."""
        import polars as pl

        return pl.DataFrame([self[name] for name in self.values])


def _series(name: str, values: list[str]) -> "pl.Series":
    import polars as pl

    return pl.Series(name, values, pl.String)


def named(columns: Sequence[str], file: str) -> list[str]:
    """Return the names of columns; one without a name is named by its place, as by polars.

    >>> named(["", "text"], "mails.csv")
    ['column_0', 'text']
    """
    names = [name or f"column_{place}" for place, name in enumerate(columns)]
    if len(set(names)) < len(names):
        raise SyntfError(f"{file} has two columns of the same name: rename one")
    return names


def concatenate(parts: Sequence[Rows]) -> Rows:
    """Join rows with the same columns, at least one part, in order."""
    if len(parts) == 1:
        return parts[0]
    joined: dict[str, Values] = {}
    for name in parts[0].values:
        columns = [part.values[name] for part in parts]
        if all(isinstance(values, list) for values in columns):
            joined[name] = list(chain.from_iterable(cast("list[list[str]]", columns)))
        else:
            joined[name] = _concatenated([part[name] for part in parts])
    return Rows(joined, sum(part.height for part in parts))


def _concatenated(parts: "Sequence[pl.Series]") -> "pl.Series":
    import polars as pl

    return pl.concat(parts)
