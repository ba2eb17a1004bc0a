"""What differs between a session of the driver itself and one of Spark Connect.

A client of Spark Connect has no broadcast variables and cannot ask whether a plan is repeatable. So
tables are sent within the function of a task, and the rows are computed once and stored.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from syntf.core.errors import SyntfError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LARGEST_FUNCTION = "spark.broadcast.UDFCompressionThreshold"
_MOST_BYTES = (1 << 31) - 1
_ARROW = "spark.sql.execution.arrow.pyspark.enabled"

Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)


class Sent(Protocol[Value_co]):
    """A value that tasks can read, such as a broadcast variable."""

    @property
    def value(self) -> Value_co:
        """The value itself."""

    def destroy(self) -> None:
        """Free the value on the executors."""


@dataclass(frozen=True)
class Embedded(Generic[Value]):
    """A value that is part of the function of a task, and read by each task."""

    value: Value

    def destroy(self) -> None:
        """Do nothing: the value is deleted with the function."""


def is_connect(frame: "DataFrame") -> bool:
    """Tell whether a frame is of a session of Spark Connect."""
    return type(frame).__module__.startswith("pyspark.sql.connect")


def send(frame: "DataFrame", value: Value) -> Sent[Value]:
    """Make a value readable for the tasks of a frame's session."""
    if is_connect(frame):
        return Embedded(value)
    broadcast: Sent[Value] = frame.sparkSession.sparkContext.broadcast(value)
    return broadcast


def map_rows(frame: "DataFrame", function: Any, schema: Any) -> "DataFrame":
    """Return ``frame.mapInArrow(function, schema)``, and keep the function out of files.

    PySpark makes a function of more than 1 MB a broadcast variable, which is written to a file on
    every machine, and with it the key. The numbers of documents from some ten thousand files are
    that large. So the limit is raised while the function is pickled.
    """
    if is_connect(frame):
        return frame.mapInArrow(function, schema)
    configuration: Any = frame.sparkSession.sparkContext._jsc.sc().conf()
    before = configuration.get(_LARGEST_FUNCTION, None)
    configuration.set(_LARGEST_FUNCTION, str(_MOST_BYTES))
    try:
        return frame.mapInArrow(function, schema)
    finally:
        if before is None:
            configuration.remove(_LARGEST_FUNCTION)
        else:
            configuration.set(_LARGEST_FUNCTION, before)


def local_frame(frame: "DataFrame", schema: str, values: Sequence[Any]) -> "DataFrame":
    """Make a frame of one column, such as ``place long``, from values of the driver.

    They are sent by Arrow, and not by pickle: for pickled rows, Spark would start one more Python
    process on every executor.
    """
    import pandas as pd

    session = frame.sparkSession
    before = str(session.conf.get(_ARROW))
    session.conf.set(_ARROW, "true")
    try:
        with warnings.catch_warnings():  # PySpark 3.5 calls functions that pandas deprecates
            warnings.simplefilter("ignore", DeprecationWarning)
            return session.createDataFrame(pd.DataFrame({schema.split()[0]: values}), schema)
    finally:
        session.conf.set(_ARROW, before)


def fix_rows(frame: "DataFrame") -> "DataFrame":
    """Over Spark Connect, compute and store the rows of a frame; else return it unchanged.

    An expression that changes with every evaluation, such as ``rand``, is evaluated once then. If
    an executor is lost with stored rows, later jobs fail; nothing is computed again.
    """
    if not is_connect(frame):
        return frame
    store: Any = getattr(frame, "localCheckpoint", None)
    try:
        stored: DataFrame = store(eager=True)
    except (NotImplementedError, TypeError):
        raise SyntfError(
            "Spark Connect needs Spark 4.0 or newer: use a session of the driver itself"
        ) from None
    return stored
