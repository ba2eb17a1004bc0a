"""Make a release: the whole job, from the input files to the finished folder.

The order of the steps is what makes a release safe:

1. check the options and the target folder, before any work is done;
2. open the ledger and the input;
3. read the input once: keep a small array of each text, and the columns that are wanted; refuse an
   input that changed meanwhile, because a document could have been read twice;
4. charge the ledger for every document, on disk, or else draw nothing;
5. draw;
6. write all files into a draft and rename it into place, whole or not at all.
"""

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntf.core import entropy
from syntf.core.checks import flag, one_of
from syntf.core.errors import SyntfError, is_complete
from syntf.core.progress import stage
from syntf.inputs.columns import as_names
from syntf.inputs.corpus import Corpus, Reading
from syntf.inputs.formats import format_of
from syntf.inputs.places import STDIN, expand
from syntf.ledger import Ledger, Names, Run
from syntf.privacy.bounds import documents_within
from syntf.privacy.guarantee import Guarantee
from syntf.release import kept
from syntf.release.folder import FORMATS, draft, read_release, write_release
from syntf.rows import Encoded, Rows, build, draw, guarantee
from syntf.settings import Settings

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


@dataclass(frozen=True)
class Made:
    """What :func:`anonymize` made, and what its owner should know; nothing of it is released.

    path : the folder of the release.
    guarantee : the guarantee as written to ``guarantee.json``.
    documents : the number of documents in the release.
    left_out : documents that were left out to limit the loss of authors.
    run : the run that the ledger recorded, or None without a ledger.
    notices : sentences for the owner: what was found in the input, what to think about.
    """

    path: Path
    guarantee: Guarantee
    documents: int
    left_out: int = 0
    run: Run | None = None
    notices: Sequence[str] = ()


@dataclass(frozen=True)
class Documents:
    """What is kept of the documents of an input: encoded texts, columns, names for a ledger."""

    encoded: Encoded
    columns: pl.DataFrame
    unknown: NDArray[np.bool_]
    """Which texts have no known word."""
    names: Names | None = None

    def __len__(self) -> int:
        return len(self.encoded)

    def at(self, places: NDArray[np.intp]) -> "Documents":
        """Return the documents at these places, in this order."""
        names = None if self.names is None else self.names.at(places)
        return replace(
            self, encoded=self.encoded[places], columns=self.columns[places],
            unknown=self.unknown[places], names=names,
        )  # fmt: skip

    def kept(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns; `select` would take a name such as ``^t.*$`` for a pattern."""
        return pl.DataFrame([self.columns[name] for name in columns])

    @classmethod
    def read(
        cls,
        rows: Rows,
        batches: Iterator[pl.DataFrame],
        text: str,
        source: entropy.Source,
        size: int = 0,
        names: Names | None = None,
        id: str | None = None,
        author: str | None = None,
    ) -> "Documents":
        """Read all batches once; encode the texts and forget them.

        size : bytes of the input, for the progress.
        names : collects whom a ledger will be charged for, from the columns `id` and `author`.
        """
        encoded: list[Encoded] = []
        frames: list[pl.DataFrame] = []
        with stage("reading", size) as advance:
            for batch in batches:
                texts = batch[text].fill_null("")
                encoded.append(rows.encode(texts, source))
                if names is not None:
                    writers = as_names(batch[author]) if author else None
                    names.add(as_names(batch[id]) if id else texts, writers)
                row = pl.Series(_ROW, np.zeros(len(batch), dtype=np.uint8))
                frames.append(pl.DataFrame([row, *(one for one in batch if one.name != text)]))
                advance(int(batch.estimated_size()))
        together = np.concatenate(encoded)
        columns = pl.concat(frames, how="vertical_relaxed")
        return cls(together, columns, rows.unknown(together), names)

    def notices(self) -> list[str]:
        """Return sentences for the owner on texts that say nothing."""
        unknown = int(self.unknown.sum())
        if not unknown:
            return []
        share = f"{unknown:,} of {len(self):,} texts have no known word"
        if unknown <= len(self) // 10:
            return [f"{share}: they answer with 'nothing known', or with words drawn at random"]
        return [f"{share}: check the column, the encoding and the language of the texts"]


_ROW = "row of the input"
"""A column that keeps the number of rows where no column is kept."""


def anonymize(
    inputs: Paths,
    out: str | PathLike[str],
    *,
    text: str = "text",
    id: str | None = None,
    keep: Sequence[str] = (),
    shuffle: bool = False,
    author: str | None = None,
    author_loss: float | None = None,
    ledger: Ledger | str | PathLike[str] | None = None,
    format: str = "npz",
    reading: Reading = Reading(),  # noqa: B008  (it is frozen)
    force: bool = False,
    source: entropy.Source = entropy.system,
    **settings: Any,
) -> Made:
    """Make a release from the texts in some files, as ``syntf anonymize`` does.

    Parameters
    ----------
    inputs : path, or sequence of paths
        Files, folders of documents, patterns such as ``mails/*.csv``, addresses in a cloud
        (``s3://…``) or of a database (``postgresql://…``); ``-`` for standard input.
    out : path
        The folder to write. It must not exist yet, unless `force` is set.
    text : str
        The column with the texts.
    id : str, optional
        A column that identifies each document. It is released as it is.
    keep : sequence of str
        Further columns to release as they are, outside the guarantee.
    shuffle : bool
        Release the documents in a random order.
    author : str, optional
        The column that names authors, for `author_loss` and for a ledger with a budget for
        authors. It is not released, unless it is kept.
    author_loss : float, optional
        The largest loss of an author. Only so many documents of each author are released, chosen
        at random, that their losses stay within it. A document without an author counts as an
        author of its own.
    ledger : Ledger or path, optional
        Charge the loss of every document to this ledger before anything is drawn.
    format : {"npz", "parquet", "csv"}
        The format of the counts.
    reading : Reading
        How the input is read: its format, encoding, delimiter, sheet, query.
    force : bool
        Replace an earlier release in the same folder.
    source : callable
        Where random bits come from, for tests. The release is then marked NOT PRIVATE.
    **settings
        A `preset`, and any field of :class:`~syntf.settings.Settings`; or ``settings=Settings(…)``.

    Returns
    -------
    Made

    Raises
    ------
    BudgetError
        If the loss would exceed a budget of the ledger. Nothing was charged or drawn.
    SyntfError
        If an option, the input or the target folder is not usable. No release was written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "mails.csv").write_text("text,topic\\nthe cat sat,pets\\na fast car,cars\\n")
    >>> made = anonymize(folder / "mails.csv", folder / "release", keep=["topic"])
    >>> made.documents, made.guarantee.loss_per_document
    (2, 10.0)
    """
    chosen = settings.pop("settings", None)
    if chosen is not None and settings:
        raise SyntfError(f"give settings or {', '.join(settings)}, not both")
    chosen = chosen or Settings.of(**settings)
    one_of("format", format, [*FORMATS])
    flag("shuffle", shuffle)
    columns = kept.columns_to_keep(text, id, keep, author)
    budget = open_ledger(ledger, author, author_loss)
    wanted = list(dict.fromkeys([*columns, *([author] if author else [])]))

    run = sealed = None
    try:
        with (
            draft(Path(out), force=force) as folder,
            closing(Corpus(inputs, text, wanted, reading)) as corpus,
        ):
            names = None
            if budget is not None:
                names = budget.names("id" if id else "text", authors=author is not None)
            before = _states(inputs, reading)
            rows, batches = prepare(chosen, corpus, text)
            documents = Documents.read(rows, batches, text, source, corpus.size, names, id, author)
            if _states(inputs, reading) != before:
                raise SyntfError(
                    "the input changed while it was read: run again when it is at rest"
                )
            total = len(documents)
            documents, most = limited(documents, rows, author, author_loss, source)
            released = documents.kept(columns)
            kept.check_values(released)
            scheme = rows.scheme(len(documents))
            if budget is not None and documents.names is not None:
                promise = guarantee(rows, [scheme], documents_per_author=most, source=source)
                run = budget.charge(promise, documents.names, note=str(out))
            drawn = draw(scheme, documents.encoded, source)
            sealed = guarantee(
                rows, drawn.schemes, documents=len(drawn), kept_columns=columns, shuffled=shuffle,
                documents_per_author=most, source=source,
            )  # fmt: skip
            notices = [
                *corpus.notices, *documents.notices(),
                *kept.warnings(released, id=id, shuffle=shuffle),
            ]  # fmt: skip
            if shuffle:
                order = entropy.permutation(source, len(drawn))
                drawn, released = drawn.at(order), released.select(pl.all().gather(order))
            with stage("writing", 1) as advance:
                sealed = write_release(folder, drawn, released, sealed, format=format)
                advance(1)
    except BaseException as error:
        if sealed is not None and _holds(Path(out), sealed):
            if not is_complete(error):
                error.add_note(f"the release in {out} is complete nevertheless")
        elif run is not None and budget is not None:
            error.add_note(
                f"run {run.number} stays charged; as nothing was released, give it back by: "
                f"syntf ledger cancel {shlex.quote(str(budget.path))} {run.number}"
            )
        raise
    return Made(Path(out), sealed, len(drawn), total - len(drawn), run, notices)


def limited(
    documents: Documents,
    rows: Rows,
    author: str | None,
    author_loss: float | None,
    source: entropy.Source,
) -> tuple[Documents, int | None]:
    """Leave documents out so that no author loses more than `author_loss`, if it is given.

    Returns the other documents, and how many of each author there are at most.
    """
    if author is None or author_loss is None:
        return documents, None
    loss = guarantee(rows, [rows.scheme(len(documents))]).loss_per_document
    most = documents_within(author_loss, loss)
    return documents.at(at_most(documents.columns[author], most, source)), most


def at_most(authors: pl.Series, most: int, source: entropy.Source) -> NDArray[np.intp]:
    """Choose at most so many documents of each author at random; return their places in order.

    The choice depends on the column of authors and on random bits, never on a text. A document
    without an author is an author of its own.

    >>> places = at_most(pl.Series(["ann", "ann", None, ""]), 1, entropy.system)
    >>> len(places), places[-2:].tolist()
    (3, [2, 3])
    """
    order = entropy.permutation(source, len(authors))
    shuffled = pl.DataFrame({"author": as_names(authors)[order], "place": order})
    rank = pl.int_range(pl.len()).over("author")
    chosen = shuffled.filter((pl.col("author") == "") | (rank < most))
    return np.sort(chosen["place"].to_numpy()).astype(np.intp)


def _states(inputs: Paths, reading: Reading) -> list[tuple[int, ...]]:
    """Return what changes when somebody writes to a file, even if its size and time stay."""
    places = expand([inputs] if isinstance(inputs, str | PathLike) else inputs)
    status = [
        os.stat(place.address)
        for place in places
        if not place.scheme and place.address != STDIN
        and format_of(place, reading.input_format) != "sqlite"  # SQLite reads one state
    ]  # fmt: skip
    return [(one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns) for one in status]


def _holds(folder: Path, sealed: Guarantee) -> bool:
    """Tell whether a folder holds the release of this guarantee."""
    with suppress(SyntfError):
        return read_release(folder).guarantee == sealed
    return False


def prepare(settings: Settings, corpus: Corpus, text: str) -> tuple[Rows, Iterator[pl.DataFrame]]:
    """Prepare the method. A vocabulary from these texts needs all of them in memory."""
    if settings.fit_vocabulary is None:
        return build(settings), corpus.batches()
    held = list(corpus.batches())
    return build(settings, (batch[text].fill_null("") for batch in held)), iter(held)


def open_ledger(
    ledger: Ledger | str | PathLike[str] | None, author: str | None, author_loss: float | None
) -> Ledger | None:
    """Open the ledger to charge, and check that a column of authors has a use."""
    if author is None and author_loss is not None:
        raise SyntfError("author_loss limits the loss of authors: name their column by author")
    if author is not None and author_loss is None and ledger is None:
        raise SyntfError(
            "author names authors for a ledger or a limit: give ledger or author_loss too"
        )
    return Ledger(ledger) if isinstance(ledger, str | PathLike) else ledger
