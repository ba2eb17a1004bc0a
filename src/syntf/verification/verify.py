"""Verify a release that was received, without the texts and without trusting the sender.

The table of probabilities depends on word vectors, on the terms of ``vocabulary.txt`` and on the
parameters in ``guarantee.json`` alone. So the receiver derives it again and compares its digest
and its loss with those stated. No cache is read, so a forged cache cannot matter, and nothing is
written.

Nobody can prove that the counts were drawn from that table, once and with fresh entropy, and where
the sender's data come from. Such statements are listed as unverifiable.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from syntf.core.progress import Stages, silent
from syntf.privacy.guarantee import Guarantee, declared_fields
from syntf.report.page import REPORT_FILE
from syntf.vectors.word_vectors import WordVectors
from syntf.verification import files, guarantee_file, table, texts
from syntf.verification.plausibility import Plausibility
from syntf.verification.result import (
    FAILED,
    UNVERIFIABLE,
    Check,
    Finding,
    NotCheckedError,
    VerificationResult,
    one_line,
)


def verify(
    folder: Path,
    *,
    vectors: Callable[[], WordVectors] | None = None,
    slow: bool = False,
    stages: Stages = silent,
) -> VerificationResult:
    """Verify the release in a folder.

    Cheap checks come first. If a file was changed, nothing is parsed or derived.

    vectors : reads the word vectors of the release, if they are not those embedded in syntf.
    slow : derive the table even if that takes long. A hostile release can make it take hours.
    stages : is told about progress.
    """
    result = VerificationResult()
    record = result.attempt("guarantee.json", _check_guarantee, folder)
    if record is not None:
        guarantee = result.guarantee = record.guarantee
        result.checksum = record.checksum
        if result.attempt("files", files.check_files, folder, guarantee, stages):
            _check_contents(result, folder, guarantee, vectors, slow, stages)
    result.complete()
    if result.guarantee is not None:
        result.checks += _unverifiable(result.guarantee, result.uncompared)
    return result


def _check_guarantee(folder: Path) -> Finding:
    raw = files.plain_bytes(folder / "guarantee.json", guarantee_file.LARGEST)
    record = guarantee_file.read_guarantee(raw)
    guarantee = record.guarantee
    if guarantee.unit == "document":
        raise NotCheckedError("releases of the document unit cannot be checked yet")
    written = f"format {guarantee.format}, by syntf {guarantee.version}"
    return Finding(f"{written}; the checksum is right", record)


def _check_contents(
    result: VerificationResult,
    folder: Path,
    guarantee: Guarantee,
    read_vectors: Callable[[], WordVectors] | None,
    slow: bool,
    stages: Stages,
) -> None:
    """Check the contents of files that have the right digests."""
    shards = list(files.shard_names(guarantee))
    terms = result.attempt("vocabulary.txt", files.check_vocabulary, folder, guarantee)
    documents = result.attempt("documents", files.check_documents, folder, guarantee, shards)
    if documents is not None:
        result.documents = sum(documents.rows)
        result.uncompared += documents.uncompared
        names = files.names_in_readme(guarantee, shards)
        arguments = (folder, guarantee, names, documents.columns, result.documents)
        result.attempt("README.txt", texts.check_readme, *arguments)
    _check_table(result, guarantee, terms, read_vectors, slow, stages)
    if documents is not None and terms is not None:
        plausibility = None
        if result.table is not None:
            plausibility = Plausibility(
                result.table[0], guarantee.length, result.documents, guarantee.draws
            )
        _check_counts(
            result, folder, guarantee, shards, terms, documents.rows, plausibility, stages
        )
    _check_report(result, folder, guarantee)


def _check_counts(
    result: VerificationResult,
    folder: Path,
    guarantee: Guarantee,
    shards: files.Shards,
    terms: list[str],
    rows: Sequence[int],
    plausibility: Plausibility | None,
    stages: Stages,
) -> None:
    """Check the counts, and whether they can have been drawn from the table."""
    arguments = (folder, guarantee, shards, terms, rows, plausibility, stages)
    counts = result.attempt("counts", files.check_counts, *arguments)
    if counts is not None:
        result.sparsity = counts.sparsity
        result.uncompared += counts.uncompared
        if plausibility is not None:
            result.attempt("plausibility", plausibility.check)


def _check_table(
    result: VerificationResult,
    guarantee: Guarantee,
    terms: list[str] | None,
    read_vectors: Callable[[], WordVectors] | None,
    slow: bool,
    stages: Stages,
) -> None:
    """Check the guarantee against the table that its fields give."""
    result.attempt("consistency", table.check_consistency, guarantee)
    vectors = result.attempt("vectors", table.check_vectors, guarantee, read_vectors)
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
        arguments = (folder, guarantee, *result.table, result.sparsity)
        result.attempt(REPORT_FILE, texts.check_report, *arguments)


def _unverifiable(guarantee: Guarantee, uncompared: Sequence[str]) -> list[Check]:
    """Return what the sender states and nothing in the release confirms."""
    stated = {"draws of the counts": "from this table, once, and no others from these texts"}
    for declared in declared_fields(guarantee.format):
        if declared.metadata["unverifiable"]:
            stated[declared.name] = one_line(guarantee[declared.name])
    if not texts.wording_is_known(guarantee):
        stated["wording"] = (
            f"of README.txt and report.html by syntf {one_line(guarantee.version)}: read the "
            "figures here, not there"
        )
    if uncompared:
        stated["encoding"] = (
            f"nothing is hidden in how another program or version packed {len(uncompared):,} files"
        )
    return [Check(name, UNVERIFIABLE, detail) for name, detail in stated.items()]
