"""Release the texts of a Spark DataFrame: every document is drawn for once, whatever is retried.

A cluster repeats work: after a failure, or as a second copy of a slow task. Input files may change
meanwhile. So :func:`anonymize`

1. freezes the wanted columns in a local checkpoint: the input is evaluated once and never again;
2. charges the ledger for every id, or draws nothing;
3. draws with random bits that depend on a secret key, the id and the text of a document alone, so
   an attempt that is repeated gives the same row;
4. stores the rows in a second checkpoint before anybody sees one. The DataFrame that it returns
   reads these rows and knows nothing of the input. If they are lost with an executor, there is an
   error, never a second draw. Another call is another release, with draws and a loss of its own.

*Guarantee.* The bits of a document are SHAKE-256 of a 32-byte key, a use, the id and the text (see
:func:`document_bits`). The key comes from the operating system, once for each call, and stays in
the memory of the driver and the executors. While it is secret, nobody with bounded computing power
can tell the outputs for different inputs from independent uniform bits: SHAKE-256 is taken to be a
pseudorandom function of the key. With uniform bits, the rows are those of
:func:`syntf.rows.draw`, and the odds of any event change by a factor of at most e to the loss. With
these bits, the probability of whatever can be tested differs from that by the advantage of telling
them apart, which is negligible. The operating system stretches a key of its own in the same way.
The guarantee records this source as :data:`ENTROPY`.

How many rows a part of the result has, and their order, follow from the key, the ids and the number
of documents. They tell nothing about texts.
"""

import io
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import shake_256
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from syntf.core import entropy
from syntf.core.errors import SyntfError, suggestion
from syntf.core.extras import needed_for
from syntf.ledger import Ledger, Run
from syntf.privacy.guarantee import Guarantee
from syntf.release import kept
from syntf.release.folder import RESERVED, draft, write_release
from syntf.rows import Drawn, Rows, Scheme, build, guarantee
from syntf.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

ENTROPY = "derived from a secret key per document"  # in the guarantee
PART = 1 << 16  # documents in a part of the result, about

_, PILOT, ANSWER, TOPIC = RESERVED
INDICES, COUNTS = "indices", "counts"
_ID, _TEXT, _AUTHOR, _ORDER = "syntf_id", "syntf_text", "syntf_author", "syntf_order"
_SPARE = 12  # standard deviations: a pilot is too small with a probability below 10^-15


@dataclass(frozen=True)
class SparkRelease:
    """A release of the texts of a DataFrame.

    data : a row for each document, in random order: the kept columns; `pilot`, `answer` and
        `released_topic` where answers are listed; the counts as arrays, `indices` and `counts`.
    guarantee : what the release promises. Hand ``guarantee.as_json()`` over with the data.
    terms : the word of each index.
    run : the run that the ledger recorded, or None without a ledger.
    """

    data: "DataFrame"
    guarantee: Guarantee
    terms: Sequence[str] = field(repr=False)
    run: Run | None
    _schemes: Sequence[Scheme] = field(repr=False)

    def write(
        self, out: str | PathLike[str], *, format: str = "npz", force: bool = False
    ) -> Guarantee:
        """Collect the rows on the driver and write them as a folder, which can be verified.

        Returns the guarantee as written. For more rows than the driver can hold, write `data`.
        """
        first, rest = self._schemes[0], self._schemes[-1]
        with draft(Path(out), force=force) as folder:
            rows = self.data.collect()
            column = {name: [row[name] for row in rows] for name in self.data.columns}
            flat = [np.fromiter(chain(*column[name]), np.int32) for name in (COUNTS, INDICES)]
            ends = np.cumsum([0, *map(len, column[INDICES])])
            counts = csr_matrix((*flat, ends), (len(rows), len(self.terms)), np.int32)
            answers = column[ANSWER] if rest.listed else rest.counted_answers(counts)
            pilot = column[PILOT] if rest.listed else np.zeros(len(rows))
            drawn = Drawn(np.array(answers), np.array(pilot, dtype=bool), first, rest)
            released = pl.DataFrame({name: column[name] for name in self.guarantee.kept_columns})
            return write_release(folder, drawn, released, self.guarantee, format=format)


def anonymize(
    df: "DataFrame",
    *,
    id: str,
    text: str = "text",
    keep: Sequence[str] = (),
    author: str | None = None,
    ledger: Ledger | str | PathLike[str] | None = None,
    **settings: Any,
) -> SparkRelease:
    """Release the texts of a Spark DataFrame, one row for each document.

    When this returns, the ledger is charged, and the rows are drawn and stored.

    Parameters
    ----------
    df : DataFrame
        One row for each document.
    id : str
        A column with a different value for each document. It is released as it is, and names the
        documents for a ledger.
    text : str
        The column with the texts. A missing text is an empty one.
    keep : sequence of str
        Further columns to release as they are, outside the guarantee.
    author : str, optional
        The column that names authors, for a ledger with a budget for authors. It is not released.
    ledger : Ledger or path, optional
        Charge the loss of every document to this ledger before anything is drawn.
    **settings
        A `preset`, and any field of :class:`~syntf.settings.Settings`; or ``settings=Settings(…)``.

    Raises
    ------
    BudgetError
        If the loss would exceed a budget of the ledger. Nothing was charged or drawn.
    SyntfError
        If a column or a setting is not usable. Nothing was charged or drawn.

    Examples
    --------
    >>> mails = spark.read.parquet("mails")  # doctest: +SKIP
    >>> release = anonymize(mails, id="message", text="body", keep=["topic"])  # doctest: +SKIP
    >>> release.data.write.parquet("counts")  # doctest: +SKIP
    """
    with needed_for("syntf.spark", "spark"):
        from pyspark.sql import functions
    chosen = settings.pop("settings", None) or Settings.of(**settings)
    if chosen.fit_vocabulary is not None:
        raise SyntfError("a cluster cannot fit a vocabulary on the texts: give vocabulary=FILE")
    if author is not None and ledger is None:
        raise SyntfError("author names authors for a ledger: give ledger, too")
    columns = kept.columns_to_keep(text, id, keep)
    wanted = {_ID: id, _TEXT: text, **({_AUTHOR: author} if author else {})}
    _check_frame(df, [*wanted.values(), *columns])
    budget = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)
    names = None if budget is None else budget.names("id", authors=author is not None)
    rows = build(chosen)

    internal = {name: f"syntf_kept_{place}" for place, name in enumerate(columns)}
    quoted = {name: functions.col(f"`{name.replace('`', '``')}`") for name in df.columns}
    frozen = df.select(
        *(quoted[name].cast("string").cast("binary").alias(own) for own, name in wanted.items()),
        *(quoted[name].alias(own) for name, own in internal.items()),
    ).localCheckpoint(eager=True)
    documents, different = frozen.agg(functions.count("*"), functions.countDistinct(_ID)).first()
    if not documents:
        raise SyntfError("the frame has no documents")
    if documents != different:
        raise SyntfError(
            f"the column {id!r} must have a different value for every document: some values are "
            "missing or occur twice"
        )
    first = rows.scheme(documents)
    run = None
    if budget is not None and names is not None:
        for row in frozen.select(*(own for own in wanted if own != _TEXT)).toLocalIterator():
            names.add([bytes(row[0])], [value and bytes(value) for value in row[1:]])
        run = budget.charge(guarantee(rows, [first], source=ENTROPY), names, note="on Spark")
    try:
        key = entropy.system(32)
        work = _after_pilot(frozen, _Work(rows, first, first, {}), key, documents)
        dealt = _drawn(frozen, work, key, internal).repartition(-(-documents // PART), _ORDER)
        data = dealt.sortWithinPartitions(_ORDER).drop(_ORDER).localCheckpoint(eager=True)
    except BaseException as error:
        if run is not None:
            error.add_note(
                f"run {run.number} stays charged; if nothing was released, give it back by "
                f"syntf ledger cancel {run.number}"
            )
        raise
    schemes = list(dict.fromkeys([first, work.rest]))
    promise = guarantee(
        rows, schemes, documents=documents, kept_columns=columns, shuffled=True, source=ENTROPY
    )
    return SparkRelease(data, promise, first.terms, run, schemes)


def document_bits(
    key: bytes, use: bytes, names: Sequence[bytes], texts: Sequence[bytes], size: int
) -> entropy.Source:
    """Return a source that gives `size` bytes for each document, one document after the other.

    The bytes of a document are SHAKE-256 of the key, the use, the length of the name, the name and
    the text. A key has 32 bytes and a use six, so other names, texts or uses are other inputs. A
    name with another text has other bytes: no two texts are ever drawn for with the same ones.

    >>> both = document_bits(bytes(32), b"answer", [b"1", b"2"], [b"", b""], 8)(16)
    >>> document_bits(bytes(32), b"answer", [b"2"], [b""], 8)(8) == both[8:]
    True
    """
    start = shake_256(key + use)
    drawn = []
    for name, text in zip(names, texts, strict=True):
        one = start.copy()
        one.update(len(name).to_bytes(8, "little") + name + text)
        drawn.append(one.digest(size))
    return io.BytesIO(b"".join(drawn)).read


@dataclass(frozen=True, eq=False)
class _Work:
    """What documents are drawn with. All of it is public, or released.

    pilot : the answers that the pilot has released, by id. All others answer from `rest`.
    """

    rows: Rows
    first: Scheme
    rest: Scheme
    pilot: Mapping[bytes, NDArray[np.int64]]

    def draw(self, key: bytes, names: Sequence[bytes], texts: Sequence[bytes]) -> Drawn:
        """Draw for documents, each with bits of its own.

        The pilot has released its answers: they are repeated, and what is drawn here is dropped.
        """
        asked: list[int] = []

        def measure(size: int) -> bytes:
            asked.append(size)
            return bytes(size)

        self.rows.encode(pl.Series([""]), measure)  # every text needs as many bytes as this one
        decoded = pl.Series([text.decode("utf-8", "replace") for text in texts], dtype=pl.String)
        encoded = self.rows.encode(decoded, document_bits(key, b"encode", names, texts, sum(asked)))
        source = document_bits(key, b"answer", names, texts, 8 * self.rest.draws)
        answers = self.rest.answer(encoded, source)
        pilot = np.array([name in self.pilot for name in names], dtype=bool)
        for place in np.flatnonzero(pilot).tolist():
            answers[place] = self.pilot[names[place]]
        return Drawn(answers, pilot, self.first, self.rest)


@dataclass(frozen=True)
class _Task:
    """What ``mapInArrow`` calls in every task: draw for documents, and return released columns.

    PySpark writes a function of more than 1 MB to files. So the key is in it, but the work is not.
    `columns` are the kept columns: their released and their internal names.
    """

    sent: Any
    key: bytes = field(repr=False)
    columns: Mapping[str, str]

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        work = _loaded(self.sent.value)
        for batch in batches:
            names = batch.column(_ID).to_pylist()
            texts = [text or b"" for text in batch.column(_TEXT).to_pylist()]
            drawn = work.draw(self.key, names, texts)
            found = {name: batch.column(own) for name, own in self.columns.items()}
            if work.rest.listed:
                found[PILOT] = pa.array(drawn.pilot)
                found[ANSWER] = pa.array(drawn.answers.tolist(), pa.list_(pa.int32()))
                found[TOPIC] = pa.array(drawn.names())
            counts = drawn.counts()
            ends = pa.array(counts.indptr, pa.int32())
            for name, values in ((INDICES, counts.indices), (COUNTS, counts.data)):
                found[name] = pa.ListArray.from_arrays(ends, pa.array(values, pa.int32()))
            order = document_bits(self.key, b"order ", names, [b""] * len(names), 8)
            found[_ORDER] = pa.array(entropy.integers(order, len(names), 63))
            yield pa.RecordBatch.from_pydict(found)


@lru_cache(maxsize=1)
def _loaded(dumped: bytes) -> _Work:
    """Load the work that was sent, once for each Python process of an executor."""
    work: _Work = pickle.loads(dumped)  # noqa: S301  (the driver made it)
    return work


def _drawn(frozen: "DataFrame", work: _Work, key: bytes, columns: Mapping[str, str]) -> "DataFrame":
    """Return the frame that draws for documents whenever it is evaluated, always the same rows."""
    from pyspark import cloudpickle
    from pyspark.sql import types

    numbers = types.ArrayType(types.IntegerType())
    own: dict[str, types.DataType] = {INDICES: numbers, COUNTS: numbers, _ORDER: types.LongType()}
    if work.rest.listed:
        own = {PILOT: types.BooleanType(), ANSWER: numbers, TOPIC: types.StringType(), **own}
    schema = types.StructType()
    for name, kind in {**{a: frozen.schema[b].dataType for a, b in columns.items()}, **own}.items():
        schema = schema.add(name, kind)
    sent = frozen.sparkSession.sparkContext.broadcast(cloudpickle.dumps(work))
    return frozen.mapInArrow(_Task(sent, key, columns), schema)


def _after_pilot(frozen: "DataFrame", work: _Work, key: bytes, documents: int) -> _Work:
    """Choose the pilot at random by its ids, draw for it, and sharpen the list.

    Somewhat more documents than needed are drawn for; what is too much is dropped.
    """
    from pyspark.sql import functions

    size, sharpen = work.first.pilot, work.first.sharpen
    if not size or sharpen is None:
        return work
    share = min(1.0, (size + _SPARE * size**0.5) / documents)
    number = functions.xxhash64(functions.lit(entropy.system(16).hex()), functions.col(_ID))
    candidates = frozen.where(number <= int(share * 2.0**64) - 2**63 - 1)
    rows = sorted(_drawn(candidates, work, key, {_ID: _ID}).select(_ID, ANSWER).collect())
    if len(rows) < size:
        raise SyntfError("by chance, too few documents were chosen for the pilot: run again")
    chosen = [rows[place] for place in entropy.permutation(entropy.system, len(rows))[:size]]
    pilot = {bytes(row[_ID]): np.array(row[ANSWER]) for row in chosen}
    return replace(work, rest=sharpen(np.array([row[ANSWER] for row in chosen])), pilot=pilot)


def _check_frame(df: "DataFrame", columns: Sequence[str]) -> None:
    """Refuse frames and columns that cannot be released, before anything runs."""
    if "connect" in type(df).__module__ or getattr(df, "isStreaming", True):
        raise SyntfError(
            "syntf.spark takes a DataFrame of this driver, neither of Spark Connect nor a stream: "
            "anonymize the batches of a stream in foreachBatch"
        )
    for name in columns:
        if df.columns.count(name) != 1:
            fault = "more than one" if name in df.columns else "no"
            near = "" if name in df.columns else suggestion(name, df.columns)
            raise SyntfError(f"the frame has {fault} column {name!r}{near}")
        if name in (TOPIC, INDICES, COUNTS):
            raise SyntfError(f"a release has a column {name!r} of its own: rename your column")
