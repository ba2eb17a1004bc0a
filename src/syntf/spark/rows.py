"""Which document a row is: the same in every attempt, or refused.

With a column that names the documents, it is that name, wherever the row turns up. Without one
it is the row's place: its partition and its number there. A place is the same in every attempt
only if the partitions are, row by row: after a shuffle they are not, since rows arrive in the
order in which other machines send them. Spark knows this of every plan, and what it does not
call determinate is refused. The plan is then fixed, because Spark would otherwise plan a second
look at the same frame anew and could cut the files differently.
``docs/decisions/0014-spark.md`` has the reasons.
"""

from typing import TYPE_CHECKING, Any

from syntf.core.errors import SyntfError, suggestion

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TEXT, NAME = "text", "name"
"""The columns that are drawn for; after them come those that are kept, by number."""

NAMES = ("string", "tinyint", "smallint", "int", "bigint")
"""Types of a column that names documents: those with one way to write a value."""

_ADAPTIVE = "spark.sql.adaptive.enabled"


def check_columns(frame: "DataFrame", text: str, keep: list[str], reserved: list[str]) -> None:
    """Refuse columns that are not there, or that may not be released."""
    if frame.isStreaming:
        raise SyntfError("a stream has no end to give a guarantee for: use foreachBatch")
    for name in (text, *keep):
        if frame.columns.count(name) != 1:
            fault = "no" if name not in frame.columns else "more than one"
            near = suggestion(name, frame.columns) if fault == "no" else ""
            raise SyntfError(f"the frame has {fault} column {name!r}{near}")
    kind = frame.schema[text].dataType.simpleString()
    if kind not in ("string", "binary"):
        raise SyntfError(f"the column {text!r} has no texts: it is {kind}")
    if text in keep:
        raise SyntfError(f"the text column {text!r} cannot be released: leave it out of keep")
    for name in sorted({*keep} & {*reserved}):
        raise SyntfError(f"the counts are in a column {name!r}: rename yours")


def used(frame: "DataFrame", text: str, keep: list[str], id: str | None) -> "DataFrame":
    """The columns that are drawn for, called something that Spark reads in one way only."""
    from pyspark.sql import functions

    wanted = [(text, TEXT), *([(id, NAME)] if id else [])]
    wanted += [(name, kept(number)) for number, name in enumerate(keep)]
    quoted = [(f"`{column.replace('`', '``')}`", name) for column, name in wanted]
    return frame.select(*(functions.col(column).alias(name) for column, name in quoted))


def kept(number: int) -> str:
    """What a column that is kept is called until it is released."""
    return f"kept_{number}"


def check_names(frame: "DataFrame", id: str) -> None:
    """Refuse a column that does not name every document, each by a name of its own.

    One pass over that column alone. Two rows of one name and one text would share their draws,
    and be seen to be equal.
    """
    kind = frame.schema[NAME].dataType.simpleString()
    if kind not in NAMES:
        raise SyntfError(f"the column {id!r} is {kind}: names are text or whole numbers")
    _check_repeatable(frame)
    rows = frame.groupBy(NAME).count()
    if rows.where(f"{NAME} is null or count > 1").limit(1).count():
        raise SyntfError(
            f"the column {id!r} does not name every document by a name of its own: some are "
            "missing or there twice"
        )


def placed(frame: "DataFrame") -> "DataFrame":
    """The frame with the place of each row, planned once and for all."""
    from pyspark.sql import DataFrame, functions

    session = frame.sparkSession
    _check_repeatable(frame)
    adaptive = session.conf.get(_ADAPTIVE)
    session.conf.set(_ADAPTIVE, "false")  # or else a plan with a shuffle runs while it is asked
    try:
        numbered = frame.withColumn(NAME, functions.monotonically_increasing_id())
        rows = _plan(numbered).toRdd()
        if rows.outputDeterministicLevel().toString() != "DETERMINATE":
            raise SyntfError(
                "the frame comes from a shuffle, so its rows have no fixed place, and a task that "
                "is done again could draw twice for a document: name the documents by a column "
                "(id), or write the frame down and read it again"
            )
        java: Any = session._jsparkSession
        made = java.internalCreateDataFrame(rows, numbered._jdf.schema(), False)
    finally:
        session.conf.set(_ADAPTIVE, adaptive)
    return DataFrame(made, session)


def _check_repeatable(frame: "DataFrame") -> None:
    if not _plan(frame).analyzed().deterministic():
        raise SyntfError(
            "the frame has parts that Spark evaluates differently each time, such as rand, uuid, "
            "first or monotonically_increasing_id, so that no row can be known again: write the "
            "frame down and read it again"
        )


def _plan(frame: "DataFrame") -> Any:
    if not hasattr(frame, "_jdf"):
        raise SyntfError("Spark Connect is not supported: use a session of the driver itself")
    return frame._jdf.queryExecution()
