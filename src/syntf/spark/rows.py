"""Identify the documents of a frame, the same way in every attempt of a task.

With an `id` column a document is named by its value. Without one, it is named by its number in
the input. A number is reliable only if every attempt sees the same rows in the same partitions
and order. Spark knows whether a plan is deterministic in this sense: after a shuffle it is not,
because rows arrive in the order in which other machines send them, and such frames are refused.
Spark could also cut the files differently when it plans a frame a second time, so the physical
plan is fixed here. Rows are counted without reading texts where this leaves the places the same.
``docs/decisions/0014-spark.md`` has the reasons.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError, suggestion
from syntf.spark.errors import with_notes
from syntf.spark.sessions import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TEXT, NAME, AUTHOR, PLACE = "text", "name", "author", "place"
"""Internal column names. `PLACE` is the partition (upper bits) and the row in it (33 bits)."""

ID_TYPES = ("string", "tinyint", "smallint", "int", "bigint")
"""Types of a column that names documents: their values have only one written form."""

_ADAPTIVE = "spark.sql.adaptive.enabled"
_FILE, _BLOCK = "file", "block"
_CHANGED = "the input changed while it was being read"
_SAME = "syntf_same_id"
_ROW_BY_ROW = {
    "WholeStageCodegenExec", "InputAdapter", "ProjectExec", "FilterExec", "ColumnarToRowExec",
}  # fmt: skip
_COLUMNAR = {"ParquetFileFormat", "OrcFileFormat"}

NOT_UNIQUE = "syntf: an id is missing or occurs twice"
"""What a task says if the ids do not name every document."""


@dataclass(frozen=True)
class Numbering:
    """Document numbers from places.

    Split i holds `sizes[i]` consecutive rows. Its first row has the place `places[i]` and the
    number `numbers[i]`. Splits are numbered by file name and position, so that the numbers do
    not depend on the sizes of files, and with them on the lengths of texts.
    """

    places: NDArray[np.int64]
    numbers: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of_splits(cls, splits: Sequence[tuple[Any, int, int]]) -> "Numbering":
        """Number splits, given as (sort key, first place, number of rows).

        >>> Numbering.of_splits([("b", 0, 3), ("a", 1 << 33, 2)]).numbers_of(np.array([2, 1 << 33]))
        array([4, 0])
        """
        ordered = sorted(splits)
        sizes = np.array([size for _, _, size in ordered], dtype=np.int64)
        places = np.array([place for _, place, _ in ordered], dtype=np.int64)
        numbers = np.cumsum(sizes) - sizes
        by_place = np.argsort(places)
        return cls(places[by_place], numbers[by_place], sizes[by_place])

    @property
    def documents(self) -> int:
        """The number of documents."""
        return int(self.sizes.sum())

    def splits_of(self, places: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the split of each row; raise if a row was not there when splits were counted."""
        splits = np.searchsorted(self.places, places, side="right") - 1
        if (splits < 0).any() or (places - self.places[splits] >= self.sizes[splits]).any():
            raise RuntimeError(_CHANGED)
        return splits

    def numbers_of(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the document number of each row."""
        splits = self.splits_of(places)
        return self.numbers[splits] + (places - self.places[splits])

    def places_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the place of each document number.

        >>> numbering = Numbering.of_splits([("b", 0, 3), ("a", 1 << 33, 2)])
        >>> numbering.places_of(np.array([4, 0])).tolist() == [2, 1 << 33]
        True
        """
        by_number = np.argsort(self.numbers)
        splits = by_number[np.searchsorted(self.numbers[by_number], numbers, side="right") - 1]
        return self.places[splits] + (numbers - self.numbers[splits])


def check_columns(frame: "DataFrame", text: str, keep: list[str], reserved: list[str]) -> None:
    """Raise a SyntfError for columns that do not exist or cannot be released."""
    if frame.isStreaming:
        raise SyntfError("a stream never ends: anonymize each batch within foreachBatch")
    for name in (text, *keep):
        if frame.columns.count(name) != 1:
            fault = "no" if name not in frame.columns else "more than one"
            near = suggestion(name, frame.columns) if fault == "no" else ""
            raise SyntfError(f"the frame has {fault} column {name!r}{near}")
    kind = frame.schema[text].dataType.simpleString()
    if kind not in ("string", "binary"):
        raise SyntfError(f"the column {text!r} has the type {kind}: texts are string or binary")
    if text in keep:
        raise SyntfError(f"the text column {text!r} cannot be released: remove it from keep")
    for name in sorted({*keep} & {*reserved}):
        raise SyntfError(f"the release has its own column {name!r}: rename yours")


def select(
    frame: "DataFrame", text: str, keep: Sequence[str], id: str | None, author: str | None
) -> "DataFrame":
    """Select the columns that a run needs, under internal names that need no quoting."""
    from pyspark.sql import functions

    wanted = [(text, TEXT), *((name, kept_name(i)) for i, name in enumerate(keep))]
    wanted += [(column, name) for column, name in ((id, NAME), (author, AUTHOR)) if column]
    return frame.select(*(functions.col(quoted(column)).alias(name) for column, name in wanted))


def kept_name(number: int) -> str:
    """Return the internal name of a column that is released as it is."""
    return f"kept_{number}"


def check_id(frame: "DataFrame", id: str) -> None:
    """Refuse a column that cannot name documents. :func:`only_unique` checks its values."""
    kind = frame.schema[NAME].dataType.simpleString()
    if kind not in ID_TYPES:
        raise SyntfError(f"the column {id!r} has the type {kind}: ids are text or whole numbers")
    _check_repeatable(frame)


def only_unique(rows: "DataFrame", order: str, id: str) -> "DataFrame":
    """Make every evaluation of drawn rows fail if two of them have the same id.

    The rows are distributed and sorted by a hash of their id, `order`, so rows with the same id are
    neighbours and need no further shuffle. Two rows with the same id and text would have the same
    draws, which would reveal that they are equal.
    """
    from pyspark.sql import Window, functions

    same = functions.count("*").over(Window.partitionBy(order, quoted(id)))
    unique = functions.expr(f"if({_SAME} = 1, true, raise_error('{NOT_UNIQUE}'))")
    return rows.withColumn(_SAME, same).where(unique).drop(_SAME)


def not_unique(id: str) -> SyntfError:
    """Return the error for a column that does not name every document."""
    return SyntfError(
        f"the column {id!r} must have a different value for every document: some values are "
        "missing or occur twice"
    )


@contextmanager
def named_ids(id: str | None) -> Iterator[None]:
    """Replace the error of a job that found an id twice, or none, by one that names the column."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        if id is None or NOT_UNIQUE not in str(error):
            raise
        raise with_notes(not_unique(id), error) from None


def quoted(column: str) -> str:
    """Quote the name of a column for Spark."""
    return f"`{column.replace('`', '``')}`"


def with_places(frame: "DataFrame") -> tuple["DataFrame", Numbering]:
    """Fix the plan of a frame, add the place of each row, and number the documents."""
    from pyspark.sql import functions

    session = frame.sparkSession
    _check_repeatable(frame)
    split = _split_columns(frame)
    placed = frame.select("*", *split).withColumn(PLACE, functions.monotonically_increasing_id())
    adaptive = session.conf.get(_ADAPTIVE)
    session.conf.set(_ADAPTIVE, "false")  # else Spark would run a shuffle to plan this
    try:
        rows = _plan(placed).toRdd()
        if rows.outputDeterministicLevel().toString() != "DETERMINATE":
            raise SyntfError(
                "the frame comes from a shuffle, so its rows have no fixed order, and a repeated "
                "task could draw for a document twice: name the documents with id, or write the "
                "frame to Parquet and read it again"
            )
        fixed = _fixed(placed, rows)
        counted = _only_places(placed, rows) or fixed
    finally:
        session.conf.set(_ADAPTIVE, adaptive)
    partition = functions.shiftright(PLACE, 33)
    keys = [_FILE, _BLOCK, partition] if split else [partition]
    sizes = counted.groupBy(*keys).agg(functions.min(PLACE), functions.count("*")).collect()
    numbering = Numbering.of_splits([(tuple(row[:-2]), row[-2], row[-1]) for row in sizes])
    return fixed.drop(_FILE, _BLOCK), numbering


def _fixed(frame: "DataFrame", rows: Any) -> "DataFrame":
    """Return a frame that always evaluates these rows of Spark's, the planned ones of `frame`."""
    from pyspark.sql import DataFrame

    java: Any = frame.sparkSession._jsparkSession
    return DataFrame(
        java.internalCreateDataFrame(rows, frame._jdf.schema(), False), frame.sparkSession
    )


def _only_places(placed: "DataFrame", rows: Any) -> "DataFrame | None":
    """Return the places of planned rows as a frame that reads no text, if the places are the same.

    Spark plans this frame for itself, and could cut the files otherwise: an executor may have
    started in between. So the parts of files in each partition are compared. Only steps that handle
    each row by itself are accepted: they leave every row in its partition. A format must be
    columnar: which rows of a text file are left out as broken depends on the columns that are read.
    """
    bare = placed.select(*(name for name in (_FILE, _BLOCK, PLACE) if name in placed.columns))
    if not (_is_columnar_scan(placed) and _is_columnar_scan(bare)):
        return None
    bare_rows = _plan(bare).toRdd()
    java: Any = placed.sparkSession.sparkContext._jvm
    serialize = java.org.apache.commons.lang3.SerializationUtils.serialize
    if serialize(bare_rows.partitions()) != serialize(rows.partitions()):
        return None
    return _fixed(bare, bare_rows)


def _is_columnar_scan(frame: "DataFrame") -> bool:
    """Tell whether a frame reads Parquet or ORC and then handles each row by itself."""
    step = _plan(frame).executedPlan()
    while step.getClass().getSimpleName() in _ROW_BY_ROW:
        step = step.children().head()
    if step.getClass().getSimpleName() != "FileSourceScanExec":
        return False
    return step.relation().fileFormat().getClass().getSimpleName() in _COLUMNAR


def _split_columns(frame: "DataFrame") -> list[Any]:
    """Return the columns that say which part of which file a row is from, if there are any."""
    from pyspark.sql import functions

    hidden = _plan(frame).analyzed().metadataOutput()
    if "_metadata" not in {hidden.apply(place).name() for place in range(hidden.size())}:
        return []  # not read from files
    return [
        functions.col("_metadata.file_path").alias(_FILE),
        functions.col("_metadata.file_block_start").alias(_BLOCK),
    ]


def input_stamps(frame: "DataFrame") -> dict[str, tuple[int, int]]:
    """Return the size and modification time of every file that a frame is read from.

    Spark Connect does not tell them; there, the rows have been stored (:func:`sessions.fix_rows`).
    """
    from py4j.protocol import Py4JJavaError

    if is_connect(frame):
        return {}
    session = frame.sparkSession
    java: Any = session.sparkContext._jvm
    configuration = session._jsparkSession.sessionState().newHadoopConf()
    stamps = {}
    for name in frame.inputFiles():
        path = java.org.apache.hadoop.fs.Path(java.java.net.URI(name))
        try:
            status = path.getFileSystem(configuration).getFileStatus(path)
            stamps[name] = (status.getLen(), status.getModificationTime())
        except Py4JJavaError:  # it was deleted
            stamps[name] = (-1, -1)
    return stamps


def _check_repeatable(frame: "DataFrame") -> None:
    """Refuse expressions that Spark evaluates differently each time."""
    if is_connect(frame):
        return  # the rows have been computed and stored
    if not _plan(frame).analyzed().deterministic():
        raise SyntfError(
            "the frame uses expressions that change with every evaluation, such as rand, uuid, "
            "first or monotonically_increasing_id: write the frame to Parquet and read it again"
        )


def _plan(frame: "DataFrame") -> Any:
    return frame._jdf.queryExecution()
