"""Make a release: the whole job, from the input files to the finished folder.

The order of the steps is what makes a release safe:

1. check the options and the target folder, before any work is done;
2. open the ledger and the input;
3. prepare the anonymizer from the settings, and with it the guarantee;
4. charge the ledger for every document, on disk, or else draw nothing;
5. draw the counts into a draft, one shard at a time;
6. write all files of the release and rename its folder into place, whole or not at all.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntf import __version__
from syntf.core import entropy, parallel
from syntf.core.checks import flag, one_of
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages, silent
from syntf.inputs import files
from syntf.inputs.corpus import MAX_BAD_ROWS, BadRows, Corpus
from syntf.inputs.encodings import Undecodable
from syntf.inputs.rows import Rows
from syntf.pipeline import sample
from syntf.pipeline.settings import Settings
from syntf.privacy.bounds import documents_within
from syntf.privacy.guarantee import Guarantee, with_author_limit
from syntf.releases import draft as drafts
from syntf.releases.contents import kept_columns
from syntf.releases.contents.folder import check_target
from syntf.releases.contents.writers import WRITERS
from syntf.releases.rest import Rest

if TYPE_CHECKING:  # imported only by runs that need them
    from syntf.ledger.ledger import Ledger
    from syntf.ledger.names import Charge
    from syntf.ledger.store import Run
    from syntf.pipeline.anonymizer import Anonymizer
    from syntf.pipeline.document import DocumentAnonymizer
    from syntf.releases.document_run import DocumentRun
    from syntf.releases.words_run import WordsRun


@dataclass(frozen=True)
class Release:
    """A finished release.

    path : the folder of the release; an address, if a cluster wrote it.
    documents : the number of documents in it.
    guarantee : the guarantee as written to ``guarantee.json``, with the digests of all files.
    skipped_rows : the number of broken rows left out (with ``bad_rows="skip"``).
    skipped : file and line of the first ten of these rows.
    terms_without_vector : terms of the vocabulary left out because they have no word vector.
    notes : what was corrected in the word vectors, in sentences.
    ledger_run : what the ledger was charged, or None without a ledger.
    left_out : the number of documents left out to limit the loss of authors.
    input_notices : sentences for the owner of the texts, such as which files were left out.
    warnings : for the owner, sentences on kept columns that may name a person or undo a shuffle.
    """

    path: Path | str
    documents: int
    guarantee: Guarantee
    skipped_rows: int
    skipped: Sequence[str]
    terms_without_vector: int
    notes: Sequence[str]
    ledger_run: "Run | None"
    left_out: int = 0
    input_notices: Sequence[str] = ()
    warnings: Sequence[str] = ()


def release(
    inputs: str | PathLike[str] | Sequence[str | PathLike[str]],
    out: str | PathLike[str],
    *,
    text: str = "text",
    id: str | None = None,
    keep: Sequence[str] = (),
    shuffle: bool = False,
    format: str = "npz",
    input_format: str | None = None,
    encoding: str = "utf-8",
    bad_rows: BadRows = "stop",
    max_bad_rows: float = MAX_BAD_ROWS,
    delimiter: str | None = None,
    undecodable: Undecodable = "replace",
    sheet: str | None = None,
    query: str | None = None,
    settings: Settings | None = None,
    ledger: "Ledger | str | PathLike[str] | None" = None,
    author: str | None = None,
    author_loss: float | None = None,
    resume: bool = False,
    force: bool = False,
    accept_coverage: bool = False,
    insecure_seed: int | None = None,
    device: str = "cpu",
    jobs: int | None = None,
    anonymizer: "Anonymizer | DocumentAnonymizer | None" = None,
    progress: Stages = silent,
    **chosen: Any,
) -> Release:
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
    format : str
        The format of the counts: npz, parquet, mtx, svmlight, jsonl, text or csv.
    input_format : str, optional
        The format of the input, in place of the one that the file names end in.
    encoding : str
        The encoding of text files.
    bad_rows : {"stop", "skip"}
        Stop at a broken row before anything is released, or leave such rows out.
    max_bad_rows : float
        The largest share of the rows of a file that may be left out.
    delimiter : str, optional
        The delimiter of CSV files, in place of the one that the header line has most of.
    undecodable : {"replace", "stop"}
        Replace bytes that do not fit the encoding, or stop at them before anything is released.
    sheet : str, optional
        The sheet of Excel files, in place of the first.
    query : str, optional
        The query that gives the rows of a database.
    settings : Settings, optional
        How to anonymize. Instead, single settings can be given as further keyword arguments,
        such as ``preset="accurate"`` or ``length=100``.
    ledger : Ledger or path, optional
        Charge the loss of every document to this ledger before anything is drawn.
    author : str, optional
        The column that names authors, for `author_loss` and for a ledger with a budget for
        authors. It is not released, unless it is kept.
    author_loss : float, optional
        The largest loss of an author. Only so many documents of each author are released, chosen
        at random, that their losses stay within it. A document without an author counts as an
        author of its own.
    resume : bool
        Continue an interrupted run with the same input and options.
    force : bool
        Replace an earlier release in the same folder.
    accept_coverage : bool
        Release texts of which hardly any word is known, too. Otherwise a run stops if a sample of
        them looks like another language, another column or a wrong encoding.
    insecure_seed : int, optional
        Make the draws repeatable, for tests only. The release is marked NOT PRIVATE.
    device : {"cpu", "cuda"}
        Where large tables are computed.
    jobs : int, optional
        The number of threads; -1 for all cores, -2 for all but one.
    anonymizer : Anonymizer or DocumentAnonymizer, optional
        A prepared anonymizer to use in place of settings, such as one under audit.
    progress : callable, optional
        Reports progress; see :mod:`syntf.core.progress`.

    Returns
    -------
    Release

    Raises
    ------
    BudgetError
        If the loss would exceed a budget of the ledger. Nothing was charged or drawn.
    SyntfError
        If an option, the input or the target folder is not usable. No release was written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "mails.csv").write_text("text,topic\\nthe cat sat,pets\\na fast car,cars\\n")
    >>> made = release(folder / "mails.csv", folder / "release", keep=["topic"], length=20)
    >>> made.documents, made.guarantee.loss_per_document
    (2, 160.0)
    """
    # 1. Check the options and the target folder.
    if anonymizer is not None:
        settings = anonymizer.settings
    if settings is not None and chosen:
        raise SyntfError(f"give settings or {', '.join(chosen)}, not both")
    settings = settings or Settings.from_preset(**chosen)
    if isinstance(keep, str):
        raise SyntfError(f"keep is a list of columns: keep=[{keep!r}]")
    one_of("format", format, list(WRITERS))
    flag("shuffle", shuffle)
    out = Path(out)
    columns = kept_columns.released(text, id, keep)
    if author_loss is not None and author is None:
        raise SyntfError("--author-loss limits the loss of authors: name their column by --author")
    if resume and insecure_seed is not None:
        raise SyntfError("a seeded run cannot be resumed: its draws would repeat")
    check_target(out, force=force)

    # 2. Open the ledger and the input.
    budget = open_ledger(ledger, author, limited=author_loss is not None)
    several = _paths(inputs)
    read = list(dict.fromkeys([*columns, *([author] if author else [])]))
    corpus = Corpus(
        several, text, read, encoding, input_format, bad_rows, delimiter, undecodable,
        max_bad_rows, sheet, query,
    )  # fmt: skip
    if not corpus.repeatable:
        _check_single_pass(
            settings, resume=resume, charged=budget is not None, limited=author_loss is not None
        )
    if resume and not corpus.resumable:
        raise SyntfError("a run on a database cannot be resumed: its rows may have changed")

    # 3. Prepare the anonymizer, and with it the guarantee.
    source = entropy.system if insecure_seed is None else entropy.Seeded(insecure_seed)
    with closing(corpus), parallel.at_most(jobs):
        run = (
            _prepare(settings, corpus, source, device, progress, accept_coverage)
            if anonymizer is None
            else _run_with(anonymizer, source)
        )
        guarantee = run.guarantee(kept_columns=columns, shuffled=shuffle)
        if author_loss is not None:
            most = documents_within(author_loss, guarantee.loss_per_document)
            guarantee = with_author_limit(guarantee, most)
        described = [text, id, columns, author, budget and budget.origin]
        key = _run_key(corpus, guarantee, settings, described)
        packed = not shuffle and format == "npz"
        resumable = corpus.resumable and insecure_seed is None
        with drafts.Draft(
            out, key=key, resume=resume, force=force, packed=packed, resumable=resumable
        ) as draft:
            charged_author = author if budget and budget.budgets["author"] is not None else None
            rest = Rest(corpus, draft.documents, columns, id, charged_author)
            if author and guarantee.documents_per_author is not None:
                from syntf.releases.authors import select_for_run

                most = guarantee.documents_per_author
                rest.selection = select_for_run(draft, corpus, author, most, source, progress)

            # 4. Charge the ledger: nothing is drawn for a document that was not charged.
            charge = None
            if budget is not None:
                with progress("charging", corpus.size) as advance:
                    names = (rest.names(batch) for batch in rest.batches(advance))
                    charge = rest.charge = budget.charge(guarantee, names)

            with note_charge(charge):
                # 5. Draw.
                for counts, documents in run.draw(rest, draft, progress):
                    draft.add(counts, documents)

                # 6. Write the files and put the folder in place.
                guarantee = draft.finish(
                    run.terms,
                    run.seal(guarantee),
                    run.summary(),
                    shuffle=source if shuffle else None,
                    numbered=True,
                    format=format,
                )
    first = Rows({}, 0) if rest.first_columns is None else rest.first_columns
    return Release(
        path=out,
        documents=draft.documents,
        guarantee=guarantee,
        skipped_rows=corpus.skipped_rows,
        skipped=list(corpus.skipped_places),
        terms_without_vector=run.terms_without_vector,
        notes=list(run.notes),
        ledger_run=None if charge is None else charge.run,
        left_out=0 if rest.selection is None else rest.selection.left_out,
        input_notices=list(corpus.notices),
        warnings=kept_columns.warnings(first, id=id, shuffle=shuffle),
    )


def _paths(inputs: Any) -> list[str | PathLike[str]]:
    """Return the inputs as a list of paths; refuse tables and columns of texts."""
    if isinstance(inputs, str | PathLike):
        return [inputs]
    several = [] if hasattr(inputs, "shape") else list(inputs or ())
    if hasattr(inputs, "shape") or not all(isinstance(one, str | PathLike) for one in several):
        raise SyntfError("release reads files: give their paths, not texts, or use SynTF for texts")
    if not several:
        raise SyntfError("there is no input: name at least one file")
    return several


@contextmanager
def note_charge(charge: "Charge | None") -> Iterator[None]:
    """Add to any error inside this context that the ledger stays charged."""
    try:
        yield
    except BaseException as error:
        if charge is not None and charge.run is not None:
            error.add_note(f"run {charge.run.number} stays charged to the ledger")
        raise


def open_ledger(
    ledger: "Ledger | str | PathLike[str] | None", author: str | None, *, limited: bool = False
) -> "Ledger | None":
    """Open the ledger to charge, and check that it has a budget for authors if they are named.

    limited : authors are named to limit their documents too, so the ledger need not know them.
    """
    if ledger is None:
        if author is not None and not limited:
            raise SyntfError(
                "--author names authors for a ledger or a limit: give --ledger or --author-loss too"
            )
        return None
    from syntf.ledger.ledger import Ledger

    opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    if not (limited and opened.budgets["author"] is None):
        opened.check_authors(author is not None)
    return opened


def _check_single_pass(settings: Settings, *, resume: bool, charged: bool, limited: bool) -> None:
    """Refuse everything that would have to read standard input twice."""
    if charged:
        raise SyntfError(
            "standard input can be read once, and a ledger must know the documents before any is "
            "drawn for: give a file"
        )
    if limited:
        raise SyntfError(
            "standard input can be read once, and the documents of each author must be counted "
            "before any is drawn for: give a file"
        )
    fitted = settings.fit_vocabulary or (settings.weights == "tfidf" and settings.idf == "fitted")
    if fitted or resume:
        raise SyntfError("standard input can be read once: give a file to fit on it or to resume")


def _prepare(
    settings: Settings,
    corpus: Corpus,
    source: entropy.Source,
    device: str,
    progress: Stages,
    accept_coverage: bool,
) -> "WordsRun | DocumentRun":
    """Prepare the run, after a first look at the input: unreadable files and texts fail early."""
    if device != "cpu":
        from syntf.mechanism import gpu

        gpu.load_cupy(device)  # raises if the device is missing, even if it is not needed
    first = corpus.read_first_texts(sample.CHARACTERS) if corpus.repeatable else []
    if not accept_coverage and len(first) >= sample.FEWEST:
        looked_at = sample.look_with(settings, first, progress)
        if notice := looked_at.notice():
            corpus.notices.append(notice)
        sample.refuse_unreadable(looked_at, sample.language_of(settings))
    if settings.unit == "document":
        from syntf.pipeline.document import DocumentAnonymizer
        from syntf.releases.document_run import DocumentRun

        anonymizer = DocumentAnonymizer.build(settings, source=source, stages=progress)
        anonymizer.read(())  # build and cache the token table before a draft is begun
        return DocumentRun(anonymizer)
    from syntf.pipeline.anonymizer import Anonymizer
    from syntf.releases.words_run import WordsRun

    texts = _Texts(corpus) if corpus.repeatable else ()
    words = Anonymizer.build(
        settings, texts, source=source,
        device=None if device == "cpu" else device, stages=progress,
    )  # fmt: skip
    words.read(())  # build and cache the token table before a draft is begun
    return WordsRun(words)


def _run_with(
    anonymizer: "Anonymizer | DocumentAnonymizer", source: entropy.Source
) -> "WordsRun | DocumentRun":
    """Return the run of a prepared anonymizer, which draws with this source."""
    from syntf.pipeline.document import DocumentAnonymizer
    from syntf.releases.document_run import DocumentRun
    from syntf.releases.words_run import WordsRun

    if isinstance(anonymizer, DocumentAnonymizer):
        return DocumentRun(replace(anonymizer, source=source))
    return WordsRun(replace(anonymizer, source=source))


def _run_key(
    corpus: Corpus, guarantee: Guarantee, settings: Settings, described: Sequence[Any]
) -> str:
    """Hash everything a run depends on: only a run with the same hash may continue its draft.

    The ledger is part of it: documents charged to no ledger, or to another one, must not be
    released as charged to this one.
    """
    stamps = [files.stamps(path) for path in corpus.paths if corpus.repeatable]
    parts = [
        __version__, stamps, corpus.formats, corpus.encoding, corpus.bad_rows, described,
        corpus.delimiter, corpus.undecodable, corpus.sheet, corpus.query,
        guarantee.as_dict(), settings.numbers, settings.idf,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True)
class _Texts:
    """The texts of a corpus, as an iterable that can be gone through again."""

    corpus: Corpus

    def __iter__(self) -> Iterator[str]:
        return self.corpus.texts()
