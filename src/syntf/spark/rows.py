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

from syntf.errors import SyntfError, suggestion

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PLACE = "__syntf_place"
"""The column with the place of a row, where no column names the documents."""

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
    for name in sorted({*keep} & {*reserved, PLACE}):
        raise SyntfError(f"the counts are in a column {name!r}: rename yours")


def named(frame: "DataFrame", id: str) -> None:
    """Refuse a column that does not name every document, each by a name of its own.

    One pass over that column alone. Two rows of one name and one text would share their draws,
    and be seen to be equal.
    """
    from pyspark.sql import functions

    kind = frame.schema[id].dataType.simpleString()
    if kind not in NAMES:
        raise SyntfError(f"the column {id!r} is {kind}: names are text or whole numbers")
    if not _plan(frame).analyzed().deterministic():
        raise SyntfError(
            "the frame has parts that Spark evaluates differently each time, such as rand, uuid, "
            "first or monotonically_increasing_id, so a name may not stay with its text: write "
            "the frame down and read it again"
        )
    column = functions.col(quoted(id))
    rows = frame.select(column.alias("name")).groupBy("name").count()
    bad = rows.where("name is null or count > 1").limit(1).count()
    if bad:
        raise SyntfError(
            f"the column {id!r} does not name every document by a name of its own: some are "
            "missing or there twice"
        )


def placed(frame: "DataFrame") -> "DataFrame":
    """The frame with the place of each row, planned once and for all."""
    from pyspark.sql import DataFrame, functions

    session = frame.sparkSession
    if not _plan(frame).analyzed().deterministic():
        raise SyntfError(_refusal("has parts that Spark evaluates differently each time"))
    adaptive = session.conf.get(_ADAPTIVE)
    session.conf.set(_ADAPTIVE, "false")  # or else a plan with a shuffle runs while it is asked
    try:
        numbered = frame.withColumn(PLACE, functions.monotonically_increasing_id())
        rows = _plan(numbered).toRdd()
        if rows.outputDeterministicLevel().toString() != "DETERMINATE":
            raise SyntfError(_refusal("comes from a shuffle, so that its rows have no fixed order"))
        java: Any = session._jsparkSession
        made = java.internalCreateDataFrame(rows, numbered._jdf.schema(), False)
    finally:
        session.conf.set(_ADAPTIVE, adaptive)
    return DataFrame(made, session)


def quoted(name: str) -> str:
    """A column's name where Spark would take dots and spaces for something else."""
    return f"`{name.replace('`', '``')}`"


def _refusal(fault: str) -> str:
    return (
        f"the frame {fault}, and a task that is done again could draw twice for a document: name "
        "the documents by a column (id), or write the frame down and read it again"
    )


def _plan(frame: "DataFrame") -> Any:
    if not hasattr(frame, "_jdf"):
        raise SyntfError("Spark Connect is not supported: use a session of the driver itself")
    return frame._jdf.queryExecution()
