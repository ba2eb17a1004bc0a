"""Warn the owner of kept columns of a Spark DataFrame that may name a person."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from syntf.inputs.rows import Rows
from syntf.releases.contents import kept_columns
from syntf.spark.rows import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def kept_column_warnings(frame: "DataFrame", kept: Sequence[str], id: str | None) -> list[str]:
    """Look at the first rows of the kept columns on the driver; return a sentence per finding.

    The rows of a cluster are released in a random order, so an ordered column undoes it.
    """
    if not kept:
        return []
    columns = [frame[quoted(name)] for name in kept]
    rows = frame.select(*columns).limit(kept_columns.LOOKED_AT).collect()
    series = []
    for place, name in enumerate(kept):
        values = [row[place] for row in rows]
        text = all(value is None or isinstance(value, str) for value in values)
        series.append(pl.Series(name, values, dtype=pl.String if text else pl.Object))
    return kept_columns.warnings(Rows.of(pl.DataFrame(series)), id=id, shuffle=True)
