"""Anonymise a Spark DataFrame: check it, and make the release that draws when it is written."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, get_args

from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.ledger.ledger import Ledger
from syntf.ledger.names import Charge
from syntf.ledger.store import Run
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.document import DocumentAnonymizer, with_sharpened_list
from syntf.pipeline.settings import Settings
from syntf.privacy.guarantee import Guarantee
from syntf.releases import job
from syntf.releases.contents.prototypes import LABELS, PILOT, PROTOTYPES, summarize
from syntf.report.table_summary import summarize_table
from syntf.spark import folders, rows
from syntf.spark.charging import Charged, charge
from syntf.spark.documents import DocumentDrawing, DocumentTable, PilotAnswers, draw_pilot
from syntf.spark.drawing import COUNTS, ORDER, TERMS, Output, WordDrawing
from syntf.spark.errors import check_frame, named_causes
from syntf.spark.random_bytes import KEY_BYTES
from syntf.spark.schemas import released_schema, with_guarantee
from syntf.spark.sessions import Sent, fix_rows, is_connect, map_rows, send
from syntf.spark.stream_keys import BatchKey
from syntf.spark.warnings import kept_column_warnings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

PART_DOCUMENTS = 1 << 16
"""Documents in a part of a release, about. The number of parts depends on nothing else."""


@dataclass
class Release:
    """The release of a frame of texts. :meth:`write` draws it, once.

    Attributes
    ----------
    guarantee : Guarantee
        The guarantee of the release; the fields of ``guarantee.json``. The digest of the list that
        a pilot leads to is in it once the pilot has been drawn for.
    vocabulary : sequence of str
        The term of each position in a vector.
    documents : int
        The number of documents.

    Guarantee
    ---------
    Each released row is ``guarantee.loss_per_document``-differentially private in its text.
    :meth:`write` succeeds once, so each document has one released draw. Repeated tasks, and
    second copies of slow tasks, repeat the same draws. The number of parts depends on the number
    of documents only. Rows are dealt to parts, and sorted in them, by keyed random integers, so
    the files tell nothing about texts. With an `id`, :attr:`data` can be evaluated before it is
    written: then all evaluations have the same draw for the same id and text. Another call of
    :func:`anonymize` draws again, and its loss adds up.
    """

    guarantee: Guarantee
    vocabulary: Sequence[str] = field(repr=False)
    documents: int
    _input: "DataFrame" = field(repr=False)
    _frame: "DataFrame" = field(repr=False)
    _anonymizer: Anonymizer | DocumentAnonymizer = field(repr=False)
    _drawing: WordDrawing | DocumentDrawing = field(repr=False)
    _stamps: dict[str, tuple[int, int]] = field(repr=False)
    _ledger: Ledger | None = field(default=None, repr=False)
    _id: str | None = field(default=None, repr=False)
    _charge: tuple[Charge, Charged] | None = field(default=None, repr=False)
    _pilot: Sent[PilotAnswers] | None = field(default=None, repr=False)
    _written: str | None = field(default=None, repr=False)
    _closed: bool = field(default=False, repr=False)

    @property
    def data(self) -> "DataFrame":
        """The kept columns and the counts.

        A sparse vector of Spark ML in ``counts``, or arrays in ``terms`` and ``counts``. In the
        document unit also ``prototypes``, their ``labels``, and with a pilot the column ``pilot``.
        The metadata of ``counts`` hold the guarantee (:func:`~syntf.spark.guarantee_of`).
        After :meth:`write` this reads the written rows. Before it, evaluating the frame draws; this
        needs an `id` and no ledger.
        """
        if self._written is not None:
            rows_at = f"{self._written}/{folders.DATA}"
            written = self._frame.sparkSession.read.schema(self._schema()).parquet(rows_at)
            return with_guarantee(written, self.guarantee)
        self._check_open()
        if self._drawing.numbering is not None:
            raise SyntfError(
                "write the release before you read its data: without an id (id=...) or with a "
                "ledger, a second evaluation could draw for a document again"
            )
        drawn = self._draw(self._after_pilot(self._drawing))
        return with_guarantee(drawn, self.guarantee)

    def write(self, path: str, *, force: bool = False) -> "job.Release":
        """Charge the ledger, if there is one, draw, and write the release.

        The order is: check the target, charge, draw for the pilot if there is one, draw for all
        others and write the rows, write the other files, and last ``guarantee.json`` with the
        digests of all files. A folder without it is not a release. If writing fails, the ledger
        stays charged; calling `write` again on the same object repeats the same draws and is not
        charged again.

        Parameters
        ----------
        path : an address that Spark can write to.
        force : replace an earlier release at this address.

        Raises
        ------
        BudgetError : the loss would exceed a budget; nothing was charged or drawn.
        SyntfError : the address is taken, the input files changed, an id is missing or occurs
            twice, or the release was written before.
        """
        if self._written is not None:
            raise SyntfError(f"the release is in {self._written}: copy that folder")
        self._check_open()
        if is_connect(self._frame):
            raise SyntfError(
                "Spark Connect cannot write the files of a release: write release.data with your "
                "own session; it carries the guarantee (syntf.spark.guarantee_of)"
            )
        if not self.documents:
            raise SyntfError("the frame holds no rows, so there is nothing to release")
        with named_causes():
            folder = folders.Folder(self._frame.sparkSession, path)
            folder.check_target(force=force)
        warnings = kept_column_warnings(self._input, self.guarantee.kept_columns, self._id)
        drawing = self._drawing
        if self._ledger is not None and drawing.numbering is not None:
            if self._charge is None:
                with rows.named_ids(self._id):
                    self._charge = charge(
                        self._frame, drawing.numbering, self._ledger, self.guarantee, self._id
                    )
            drawing = replace(drawing, charged=self._charge[1])
        charged = self._charge[0] if self._charge else None
        with rows.named_ids(self._id), job.note_charge(charged), folder.replaced():
            drawing = self._after_pilot(drawing)
            folder.write_rows(self._draw(drawing))
            if rows.input_stamps(self._input) != self._stamps:
                raise SyntfError(
                    "the input files changed while they were being read, so nothing was released: "
                    "run again"
                )
            run = None if charged is None else charged.run
            written = self._finish(folder, drawing, run)
        self._written = path
        return replace(written, warnings=warnings)

    def close(self) -> None:
        """Free the table on the executors. Nothing can be drawn afterwards."""
        if self._closed:
            return
        self._closed = True
        self._drawing.table.destroy()
        if self._pilot is not None:
            self._pilot.destroy()

    def __enter__(self) -> "Release":
        """Return the release itself; the end of the context closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the release."""
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise SyntfError(
                "the release was closed before it was written, so nothing can be drawn: call "
                "anonymize again, and close() after write()"
            )

    def _after_pilot(self, drawing: WordDrawing | DocumentDrawing) -> WordDrawing | DocumentDrawing:
        """Draw for the pilot, if there is one and it has not answered yet."""
        if isinstance(drawing, WordDrawing) or not drawing.table.value.mechanism.plan.pilot:
            return drawing
        if self._pilot is None:
            answers = draw_pilot(self._frame, drawing, self.documents)
            self._pilot = send(self._frame, answers)
            self.guarantee = with_sharpened_list(self.guarantee, answers.sharpened)
        return replace(drawing, pilot=self._pilot)

    def _finish(
        self, folder: folders.Folder, drawing: WordDrawing | DocumentDrawing, run: Run | None
    ) -> "job.Release":
        """Write all files of the release beside its rows."""
        anonymizer = self._anonymizer
        if isinstance(anonymizer, Anonymizer):
            words = anonymizer.vocabulary
            table = summarize_table(anonymizer.mechanism, words, length=self.guarantee.length)
            return folder.finish(
                self.guarantee, words.outputs, table, run, documents=self.documents,
                terms_without_vector=words.dropped, notes=anonymizer.notes,
            )  # fmt: skip
        assert isinstance(drawing, DocumentDrawing)  # nosec B101
        mechanism = drawing.table.value.mechanism
        sharpened = None if drawing.pilot is None else drawing.pilot.value.sharpened
        released = folder.count_prototypes(mechanism.general, sharpened)
        summary = summarize(mechanism, sharpened, released)
        notes = anonymizer.encoder.vectors.notes
        return folder.finish(
            self.guarantee, mechanism.terms, summary, run, documents=self.documents, notes=notes
        )

    def _draw(self, drawing: WordDrawing | DocumentDrawing) -> "DataFrame":
        """Return the drawn rows, dealt to parts in a random order."""
        parts = max(1, -(-self.documents // PART_DOCUMENTS))
        drawn = map_rows(self._frame, drawing, self._schema().add(ORDER, "long", False))
        dealt = drawn.repartition(parts, ORDER)
        if self._id is None:
            return dealt.sortWithinPartitions(ORDER).drop(ORDER)
        in_order = dealt.sortWithinPartitions(ORDER, rows.quoted(self._id))
        return rows.only_unique(in_order, ORDER, self._id).drop(ORDER)

    def _schema(self) -> "StructType":
        drawing = self._drawing
        described = [PROTOTYPES, LABELS] if isinstance(drawing, DocumentDrawing) else []
        if isinstance(drawing, DocumentDrawing) and drawing.table.value.mechanism.plan.pilot:
            described = [PILOT, *described]
        return released_schema(self._frame, drawing.keep, described, drawing.output)


def anonymize(
    frame: "DataFrame",
    *,
    text: str = "text",
    keep: Sequence[str] = (),
    id: str | None = None,
    output: Output = "vector",
    settings: Settings | None = None,
    ledger: Ledger | str | PathLike[str] | None = None,
    author: str | None = None,
    key: BatchKey | None = None,
    **parameters: Any,
) -> Release:
    """Prepare the release of the texts of a Spark DataFrame.

    Parameters
    ----------
    frame : DataFrame
        One row per document.
    text : str, default='text'
        Column with the texts. A missing text is an empty document.
    keep : sequence of str
        Columns to release unchanged, outside the guarantee.
    id : str, optional
        Column with a different value for every document. It is released unchanged. If a value is
        missing or occurs twice, the job that draws fails and nothing is released. Without an id,
        documents are named by their number in the input, and frames that come from a shuffle are
        refused, because their rows have no fixed order.
    output : {'vector', 'arrays'}, default='vector'
        Release counts as a sparse vector of Spark ML, or as arrays of terms and of counts.
    settings : Settings, optional
        All settings; or pass single ones, named as in :class:`~syntf.sklearn.SynTF`.
    ledger : Ledger or path, optional
        Charge the loss of every document to this ledger before anything is drawn. The file is
        on the driver. Frames that come from a shuffle are then refused, also with an `id`.
    author : str, optional
        Column with the author of each document, for a ledger with a budget for authors. It is
        not released.
    key : BatchKey, optional
        The key of a batch of a stream (:class:`StreamKey`), in place of a fresh one: a batch that
        is repeated has the same draws. Needs an `id`.

    Returns
    -------
    Release
        Nothing is charged or drawn until it is written.

    Examples
    --------
    >>> from syntf.spark import anonymize
    >>> release = anonymize(spark.read.parquet("mails"), keep=["topic"])  # doctest: +SKIP
    >>> release.write("hdfs:///releases/mails")  # doctest: +SKIP
    """
    check_installed()
    check_frame(frame)
    if output not in get_args(Output):
        raise SyntfError(f"output must be vector or arrays, not {output!r}")
    if settings is not None and parameters:
        raise SyntfError(f"pass settings or {', '.join(parameters)}, not both")
    if isinstance(keep, str):
        raise SyntfError(f"keep is a list of columns: keep=[{keep!r}]")
    if key is not None and id is None:
        raise SyntfError("a batch of a stream needs an id: rows may be numbered in another order")
    if is_connect(frame) and (id is None or ledger is not None):
        raise SyntfError(
            "over Spark Connect, name the documents with id and use no ledger: rows have no fixed "
            "order there; a session of the driver itself has one"
        )
    budget = job.open_ledger(ledger, author)
    chosen = settings or Settings.from_preset(**parameters)
    _check_public(chosen)
    kept = list(dict.fromkeys([*([id] if id else []), *keep]))
    documented = [PILOT, PROTOTYPES, LABELS] if chosen.unit == "document" else []
    rows.check_columns(frame, text, kept, [TERMS, COUNTS, ORDER, *documented])
    if author:
        rows.check_columns(frame, text, [author], [])
    selected = fix_rows(rows.select(frame, text, kept, id, author))
    if id is not None:
        rows.check_id(selected, id)
    numbering = None
    if id is None or budget is not None:
        selected, numbering = rows.with_places(selected)
    documents = selected.count() if numbering is None else numbering.documents
    anonymizer: Anonymizer | DocumentAnonymizer
    drawing: WordDrawing | DocumentDrawing
    if chosen.unit == "document":
        anonymizer = DocumentAnonymizer.build(chosen)
        mechanism = anonymizer.mechanism(documents)
        guarantee = anonymizer.guarantee(mechanism, kept_columns=kept, shuffled=True)
        own = fresh_key() if key is None else key.for_guarantee(guarantee)
        sent = send(frame, DocumentTable(anonymizer, mechanism))
        drawing = DocumentDrawing(sent, own, kept, output, numbering)
    else:
        anonymizer = Anonymizer.build(chosen)
        guarantee = anonymizer.guarantee(kept_columns=kept, shuffled=True)
        own = fresh_key() if key is None else key.for_guarantee(guarantee)
        drawing = WordDrawing(send(frame, anonymizer), own, kept, output, numbering)
    return Release(
        guarantee,
        anonymizer.outputs,
        documents,
        frame,
        selected,
        anonymizer,
        drawing,
        rows.input_stamps(frame),
        budget,
        id,
    )


def fresh_key() -> bytes:
    """Return a new key for a run, from the operating system."""
    return entropy.system(KEY_BYTES)


def check_installed() -> None:
    """Raise a SyntfError if a package of the extra ``syntf[spark]`` is missing."""
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError as error:
        raise SyntfError(
            f"syntf.spark needs {error.name}, which is not installed: run pip install "
            "'syntf[spark]'"
        ) from error


def _check_public(settings: Settings) -> None:
    """Refuse settings that would have to be fitted on the texts."""
    if settings.fit_vocabulary or (settings.weights == "tfidf" and settings.idf == "fitted"):
        raise SyntfError(
            "a cluster cannot fit on the texts: use a public vocabulary and a public idf"
        )
