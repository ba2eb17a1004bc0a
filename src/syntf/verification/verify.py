"""Verify a release that was received, without the texts and without trusting the sender.

The table of probabilities depends on word vectors, on the terms of ``vocabulary.txt`` and on the
parameters in ``guarantee.json`` alone. So the receiver derives it again and compares its digest
and its loss with those stated. For the document unit the lists of prototypes are derived from the
codebook and from released rows (:mod:`syntf.verification.document_release`). No cache is read, so a
forged cache cannot matter, and nothing is written.

Nobody can prove that the counts were drawn from that table, once and with fresh entropy, and where
the sender's data come from. Such statements are listed as unverifiable.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from os import PathLike
from pathlib import Path

from syntf.core.errors import SyntfError
from syntf.core.exact import shown
from syntf.core.parallel import beside
from syntf.core.progress import Stages, silent
from syntf.core.release_names import CARD_FILE, ROW_NUMBER
from syntf.privacy.guarantee import Guarantee, declared_fields
from syntf.report.page import REPORT_FILE
from syntf.vectors.word_vectors import WordVectors
from syntf.verification import guarantee_file, release_folder, table
from syntf.verification.result import (
    FAILED,
    UNVERIFIABLE,
    Check,
    Finding,
    VerificationResult,
    one_line,
)

DERIVED = ("synsets", "weights", "draws")
"""Fields that a sender chooses in the words unit, and that the document unit fixes."""


AUTHOR_FIELDS = ("loss_per_author", "documents_per_author")
"""Fields that are stated together, and only where the documents of authors are limited."""


def verify(
    folder: str | PathLike[str],
    *,
    vectors: Callable[[], WordVectors] | None = None,
    codebook: Path | None = None,
    language: str | PathLike[str] | None = None,
    slow: bool = False,
    stages: Stages = silent,
) -> VerificationResult:
    """Verify the release in a folder.

    Cheap checks come first. If a file was changed, nothing is parsed or derived.

    vectors : reads the word vectors of the release, if they are not those embedded in syntf.
    codebook : the codebook of a release of the document unit, if it is not the embedded one.
    language : the language pack of the release, by its code or folder, if it is not installed.
    slow : derive the table even if that takes long. A hostile release can make it take hours.
    stages : is told about progress.
    """
    folder, result = Path(folder), VerificationResult()
    record = result.attempt("guarantee.json", _check_guarantee, folder)
    if record is not None:
        guarantee = result.guarantee = record.guarantee
        result.checksum = record.checksum
        if result.attempt("files", release_folder.check_files, folder, guarantee, stages):
            if guarantee.unit == "document":
                from syntf.verification.document_release import check_document_release

                check_document_release(
                    result, folder, guarantee, vectors, codebook, language, slow, stages
                )
            else:
                _check_contents(result, folder, guarantee, vectors, language, slow, stages)
    result.complete()
    if result.guarantee is not None:
        result.checks += _unverifiable(result.guarantee, result.uncompared)
    return result


def _check_guarantee(folder: Path) -> Finding:
    raw = release_folder.plain_bytes(folder / "guarantee.json", guarantee_file.LARGEST)
    record = guarantee_file.read_guarantee(raw)
    guarantee = record.guarantee
    if (guarantee.unit == "document") != (guarantee.document is not None):
        raise SyntfError("unit does not fit the field document")
    may_keep = guarantee.format == 1 or release_folder.by_spark(guarantee)
    if ROW_NUMBER in guarantee.kept_columns and not may_keep:
        raise SyntfError(f"kept_columns names {ROW_NUMBER}, which numbers the documents")
    written = f"format {guarantee.format}, by syntf {guarantee.version}"
    return Finding(f"{written}; the checksum is right", record)


def _check_contents(
    result: VerificationResult,
    folder: Path,
    guarantee: Guarantee,
    read_vectors: Callable[[], WordVectors] | None,
    language: str | PathLike[str] | None,
    slow: bool,
    stages: Stages,
) -> None:
    """Check the contents of files that have the right digests.

    The table is derived on another thread while files are read, unless that may take long.
    """
    shards = list(release_folder.shard_names(guarantee))
    terms = result.attempt("vocabulary.txt", release_folder.check_vocabulary, folder, guarantee)
    derive = partial(_check_table, result, guarantee, terms, read_vectors, language, slow, stages)
    quick = read_vectors is None and table.can_be_derived_beside(guarantee)
    derived = beside(derive, quick=quick)
    from syntf.verification import files, texts  # imported while the table is derived

    documents = result.attempt("documents", files.check_documents, folder, guarantee, shards)
    if documents is not None:
        result.documents = sum(documents.rows)
        result.uncompared += documents.uncompared
        names = release_folder.names_in_readme(guarantee, shards)
        arguments = (folder, guarantee, names, documents.columns, result.documents)
        result.attempt("README.txt", texts.check_readme, *arguments)
        if CARD_FILE in guarantee.files:
            arguments = (folder, guarantee, names, documents.schema, result.documents)
            result.attempt(CARD_FILE, texts.check_card, *arguments)
    if documents is not None and terms is not None:
        _check_counts(result, folder, guarantee, shards, terms, documents.rows, derived, stages)
    derived()
    _check_report(result, folder, guarantee)


def _check_counts(
    result: VerificationResult,
    folder: Path,
    guarantee: Guarantee,
    shards: release_folder.Shards,
    terms: list[str],
    rows: Sequence[int],
    derived: Callable[[], None],
    stages: Stages,
) -> None:
    """Check the counts, and whether they can have been drawn from the table.

    derived : waits for the table.
    """

    from syntf.verification import files
    from syntf.verification.plausibility import Plausibility

    @cache
    def find_plausibility() -> Plausibility | None:
        derived()
        if result.table is None:
            return None
        mechanism, _ = result.table
        return Plausibility(mechanism, guarantee.length, result.documents, guarantee.draws)

    arguments = (folder, guarantee, shards, terms, rows, find_plausibility, stages)
    counts = result.attempt("counts", files.check_counts, *arguments)
    if counts is not None:
        result.sparsity = counts.sparsity
        result.uncompared += counts.uncompared
        if plausibility := find_plausibility():
            result.attempt("plausibility", plausibility.check)


def _check_table(
    result: VerificationResult,
    guarantee: Guarantee,
    terms: list[str] | None,
    read_vectors: Callable[[], WordVectors] | None,
    language: str | PathLike[str] | None,
    slow: bool,
    stages: Stages,
) -> None:
    """Check the guarantee against the table that its fields give."""
    result.attempt("consistency", table.check_consistency, guarantee)
    vectors = result.attempt("vectors", table.check_vectors, guarantee, read_vectors, language)
    if terms is None or vectors is None:
        return
    vocabulary = result.attempt("public words", table.check_words, guarantee, terms, vectors)
    if vocabulary is None:
        return
    result.table = result.attempt(
        "table", table.derive_table, guarantee, vocabulary, vectors, slow, stages
    )
    if result.table is not None:
        mechanism, _ = result.table
        result.attempt("loss per word", table.check_word_loss, guarantee, mechanism)
        result.attempt("loss per document", table.check_document_loss, guarantee, mechanism)


def _check_report(result: VerificationResult, folder: Path, guarantee: Guarantee) -> None:
    """Check the report, once everything that it is rendered from has passed."""
    if result.table and result.sparsity and not result.with_status(FAILED):
        from syntf.verification import texts

        arguments = (folder, guarantee, *result.table, result.sparsity)
        result.attempt(REPORT_FILE, texts.check_report, *arguments)


def _unverifiable(guarantee: Guarantee, uncompared: Sequence[str]) -> list[Check]:
    """Return what the sender states and nothing in the release confirms."""
    from syntf.verification import texts

    is_document = guarantee.unit == "document"
    stated = (
        {"draws of the prototypes": "from these lists, once, and no others from these texts"}
        if is_document
        else {"draws of the counts": "from this table, once, and no others from these texts"}
    )
    if guarantee.document is not None and guarantee.document.pilot:
        stated["pilot"] = "chosen at random, and drawn before all other documents"
    for declared in declared_fields(guarantee.format):
        if is_document and declared.name in DERIVED:
            continue
        if declared.name in AUTHOR_FIELDS:
            continue
        if declared.metadata["unverifiable"]:
            stated[declared.name] = one_line(guarantee[declared.name])
    if guarantee.documents_per_author is not None:
        stated["loss_per_author"] = (
            f"{shown(guarantee.loss_per_author or 0, 2)}, at most "
            f"{guarantee.documents_per_author:,} documents of each author; authors need not be "
            "released, so their documents cannot be counted"
        )
    if not texts.wording_is_known(guarantee):
        stated["wording"] = (
            f"of README.txt and report.html by syntf {one_line(guarantee.version)}: read the "
            "figures here, not there"
        )
    if uncompared:
        packed = "1 file" if len(uncompared) == 1 else f"{len(uncompared):,} files"
        stated["encoding"] = f"nothing is hidden in how another program or version packed {packed}"
    return [Check(name, UNVERIFIABLE, detail) for name, detail in stated.items()]
