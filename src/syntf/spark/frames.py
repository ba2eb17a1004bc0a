"""From a frame with texts to one with synthetic counts, and the guarantee that goes with it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.privacy.guarantee import Guarantee
from syntf.spark import folders, rows
from syntf.spark.batches import COUNTS, TERMS, Drawing, Output
from syntf.spark.streams import KEY

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


@dataclass(frozen=True)
class Release:
    """Synthetic counts of a frame of texts. Lazy: every evaluation repeats the same draws.

    Attributes
    ----------
    data : DataFrame
        The kept columns and the counts: a sparse vector of Spark ML in ``counts``, or arrays in
        ``terms`` and ``counts``.
    guarantee : Guarantee
        What is promised of it; the fields of ``guarantee.json``.
    vocabulary : sequence of str
        The term of each place in a vector.

    Guarantee
    ---------
    Each row of `data` is ``guarantee.loss_per_document``-differentially private in its text, in
    all evaluations of `data` together: a task that is done again, a copy that runs beside it, or
    a second look repeats the draws of the first. Another call of :func:`anonymize` draws anew.
    """

    data: "DataFrame"
    guarantee: Guarantee
    vocabulary: Sequence[str] = field(repr=False)
    _anonymizer: Anonymizer = field(repr=False)
    _table: "Broadcast[Anonymizer]" = field(repr=False)

    def write(self, path: str, *, force: bool = False) -> folders.Written:
        """Write `data` as Parquet with all that a release holds; says what stands there.

        Any address that Spark can write to. The counts are in ``data``; ``guarantee.json``, with
        the digest of every other file, comes last: a folder without it is no release.
        """
        return folders.write(path, self.data, self.guarantee, self._anonymizer, force=force)

    def close(self) -> None:
        """Take the table from the cluster. `data` cannot be evaluated after this."""
        self._table.destroy()


def anonymize(
    frame: "DataFrame",
    *,
    text: str = "text",
    keep: Sequence[str] = (),
    id: str | None = None,
    output: Output = "vector",
    settings: Settings | None = None,
    **parameters: Any,
) -> Release:
    """Synthetic counts for the texts of a Spark DataFrame.

    Parameters
    ----------
    frame : DataFrame
        One row a document.
    text : str, default='text'
        The column with the texts; a missing one is an empty text.
    keep : sequence of str
        Columns to release as they are, outside the guarantee.
    id : str, optional
        A column with a different name for every document, which is checked; released as it is.
        Without it a document is known by its place, and frames that come from a shuffle are
        refused, as their rows may have another place when a task is done again.
    output : {'vector', 'arrays'}, default='vector'
        Counts as a sparse vector of Spark ML, or as arrays of terms and of counts.
    settings : Settings, optional
        All parameters; or else those of :class:`~syntf.sklearn.SynTF`, by name.

    Returns
    -------
    Release
        Nothing is drawn until its ``data`` is evaluated or written.

    Examples
    --------
    >>> from syntf.spark import anonymize
    >>> release = anonymize(spark.read.parquet("mails"), keep=["topic"])  # doctest: +SKIP
    >>> release.write("hdfs:///releases/mails")  # doctest: +SKIP
    """
    check_installed()
    if output not in get_args(Output):
        raise SyntfError(f"output must be vector or arrays, not {output!r}")
    if settings is not None and parameters:
        raise SyntfError("give settings or single parameters, not both")
    if isinstance(keep, str):
        raise SyntfError(f"keep is a list of columns: keep=[{keep!r}]")
    chosen = settings or Settings.from_preset(**parameters)
    _check_public(chosen)
    kept = list(dict.fromkeys([*([id] if id else []), *keep]))
    rows.check_columns(frame, text, kept, [TERMS, COUNTS])
    used = rows.used(frame, text, kept, id)
    if id is None:
        used = rows.placed(used)
    else:
        rows.check_names(used, id)
    anonymizer = Anonymizer.build(chosen)
    table = frame.sparkSession.sparkContext.broadcast(anonymizer)
    drawing = Drawing(table, fresh_key(), kept, output)
    data = used.mapInArrow(drawing, _schema(used, kept, output))
    promise = anonymizer.guarantee(kept_columns=kept)
    return Release(data, promise, anonymizer.vocabulary.outputs, anonymizer, table)


def fresh_key() -> bytes:
    """The key of a run, from the operating system."""
    return entropy.system(KEY)


def check_installed() -> None:
    """Refuse to begin without what the extra ``syntf[spark]`` brings."""
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError as error:
        raise SyntfError(
            f"syntf.spark needs {error.name}, which is not installed: pip install 'syntf[spark]'"
        ) from error


def _check_public(settings: Settings) -> None:
    """Refuse settings that would have to be fitted on the texts."""
    if settings.fit_vocabulary or (settings.weights == "tfidf" and settings.idf == "fitted"):
        raise SyntfError("a cluster fits nothing on the texts: give a vocabulary, and a public idf")


def _schema(used: "DataFrame", kept: Sequence[str], output: Output) -> "StructType":
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

    made = StructType()
    for number, name in enumerate(kept):
        made.add(StructField(name, used.schema[rows.kept(number)].dataType))
    if output == "vector":
        return made.add(StructField(COUNTS, VectorUDT(), nullable=False))
    return made.add(StructField(TERMS, ArrayType(StringType(), False), nullable=False)).add(
        StructField(COUNTS, ArrayType(IntegerType(), False), nullable=False)
    )
