"""Verify a release of the document unit: its lists, its loss, and every row from its prototypes."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.lists import EntryList
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages
from syntf.core.release_names import CARD_FILE, PROTOTYPES_FILE
from syntf.privacy.guarantee import Guarantee
from syntf.releases.contents.prototypes import summarize
from syntf.releases.contents.writers import prototypes_csv
from syntf.report.document_summary import DocumentSummary
from syntf.report.page import REPORT_FILE
from syntf.vectors.word_vectors import WordVectors
from syntf.verification import document_rows, document_unit, files, release_folder, table, texts
from syntf.verification.document_rows import Answers
from syntf.verification.noise_floor import check_noise
from syntf.verification.result import FAILED, Finding, VerificationResult


def check_document_release(
    result: VerificationResult,
    folder: Path,
    guarantee: Guarantee,
    read_vectors: Callable[[], WordVectors] | None,
    codebook: Path | None,
    language: str | PathLike[str] | None,
    slow: bool,
    stages: Stages,
) -> None:
    """Check the contents of files that have the right digests.

    read_vectors, codebook : word vectors and codebook of the release, if they are not embedded.
    language : the language pack of the release, if it is not installed.
    slow : derive the lists even if that takes long.
    """
    shards = list(release_folder.shard_names(guarantee))
    result.attempt("consistency", document_unit.check_document_consistency, guarantee)
    terms = result.attempt("vocabulary.txt", release_folder.check_vocabulary, folder, guarantee)
    documents = result.attempt("documents", _check_documents, folder, guarantee, shards, slow)
    if documents is None:
        return
    result.documents = sum(documents.rows)
    result.uncompared += documents.uncompared
    names = release_folder.names_in_readme(guarantee, shards)
    result.attempt(
        "README.txt", texts.check_readme,
        folder, guarantee, names, documents.columns, result.documents,
    )  # fmt: skip
    if CARD_FILE in guarantee.files:
        result.attempt(
            CARD_FILE, texts.check_card,
            folder, guarantee, names, documents.schema, result.documents,
        )  # fmt: skip
    vectors = result.attempt("vectors", table.check_vectors, guarantee, read_vectors, language)
    if terms is None or vectors is None:
        return
    encoder = result.attempt("codebook", document_unit.check_codebook, guarantee, vectors, codebook)
    if encoder is None:
        return
    result.attempt("public words", document_unit.check_columns, terms, encoder)
    mechanism = result.attempt(
        "plan", document_unit.check_plan, guarantee, encoder, result.documents
    )
    if mechanism is None:
        return
    answers = result.attempt(
        "lists", document_rows.check_lists, folder, guarantee, mechanism, shards, slow
    )
    if answers is None:
        return
    result.attempt(
        "loss per document", document_unit.check_loss, guarantee, mechanism, answers.lists
    )
    counts = result.attempt(
        "counts", document_rows.check_document_counts,
        folder, guarantee, mechanism, answers, shards, stages,
    )  # fmt: skip
    released = released_counts(answers)
    noise = [(one, mechanism.response(one), many) for one, many in released]
    result.attempt("plausibility", check_noise, noise)
    if counts is None:
        return
    result.sparsity = counts.sparsity
    result.uncompared += counts.uncompared
    summary = summarize(mechanism, answers.sharpened, [many for _, many in released])
    if result.attempt(PROTOTYPES_FILE, _check_prototypes, folder, summary):
        result.summary = summary
        _check_report(result, folder, guarantee)


def _check_documents(
    folder: Path, guarantee: Guarantee, shards: release_folder.Shards, slow: bool
) -> Finding:
    """Check the files of documents, once their sizes are known to be bounded."""
    document_rows.bound_entries(folder, guarantee, shards, slow)
    described = document_rows.described_columns(guarantee)
    return files.check_documents(folder, guarantee, shards, described)


def released_counts(answers: Answers) -> list[tuple[EntryList, NDArray[np.int64]]]:
    """Count how often each entry of each list was released."""
    found = []
    for number, entry_list in enumerate(answers.lists):
        counts = np.zeros(len(entry_list), dtype=np.int64)
        for drawn in answers.shards:
            _, places = drawn.parts()[number]
            entries = entry_list.entries(drawn.answers[places].ravel())
            counts += np.bincount(entries.ravel(), minlength=len(entry_list))
        found.append((entry_list, counts))
    return found


def _check_prototypes(folder: Path, summary: DocumentSummary) -> Finding:
    """Check the file of released prototypes, which is computed from the rows."""
    expected = prototypes_csv(summary)
    if release_folder.plain_bytes(folder / PROTOTYPES_FILE, len(expected)) != expected:
        raise SyntfError("the file differs from what the released rows give")
    return Finding(f"{len(summary.prototypes):,} released prototypes, counted again")


def _check_report(result: VerificationResult, folder: Path, guarantee: Guarantee) -> None:
    """Check the report, once everything that it is rendered from has passed."""
    if not result.with_status(FAILED):
        arguments = (folder, guarantee, result.summary, result.sparsity)
        result.attempt(REPORT_FILE, texts.check_rendered_report, *arguments)
