"""A release checked by whoever received it: the table derived again, its loss measured again.

The table depends on word vectors, on the terms of ``vocabulary.txt`` and on the parameters in
``guarantee.json``, and on nothing else. So it can be built anew, without the texts, and its
digest and its loss compared with those promised. No measurement is taken from a cache: an entry
there that was forged cannot matter. Nothing is written.

**What no receiver can check** is whether the counts were drawn from that table, once, with fresh
entropy, and what the sender says of where things come from. Such fields are bound by the
checksum and listed as on the sender's word.
"""

from collections.abc import Callable
from pathlib import Path

from syntf.core.progress import Stages, silent
from syntf.privacy.guarantee import Guarantee
from syntf.report.page import NAME as REPORT
from syntf.vectors.word_vectors import WordVectors
from syntf.verification import files, manifest, report_page
from syntf.verification import table as table_checks
from syntf.verification.result import FAILED, WORD, Check, Finding, Report, plain

UNCHECKED = (
    "seeded", "provenance", "supplied", "analyzer", "morphology", "synsets", "weights", "draws",
    "shuffled", "version",
)  # fmt: skip
"""Fields that nothing in a release confirms."""


def verify(
    folder: Path, *, vectors: Callable[[], WordVectors] | None = None, stages: Stages = silent
) -> Report:
    """Check a release. `vectors` reads the word vectors it was made with, if not the embedded.

    What is cheap comes first, and a record or a file that was changed ends it there: nothing is
    opened or derived for a release that is not the one its guarantee speaks of.
    """
    report = Report()
    guarantee = report.attempt("guarantee.json", _guarantee, folder)
    if guarantee is not None:
        report.guarantee = guarantee
        if report.attempt("files", files.files, folder, guarantee, stages):
            terms = _contents(report, folder, guarantee, stages)
            _derivation(report, guarantee, terms, vectors, stages)
            _report(report, folder, guarantee)
    report.complete()
    if guarantee is not None:
        drawn = "the counts, from this table, once, and no others of these texts"
        told = guarantee.as_dict()
        report.checks.append(Check("drawn", WORD, drawn))
        report.checks += [Check(name, WORD, plain(told[name])) for name in UNCHECKED]
    return report


def _guarantee(folder: Path) -> Finding:
    raw = files.plain_bytes(folder / "guarantee.json", manifest.LARGEST)
    guarantee = manifest.read(raw)
    return Finding("the bytes that syntf writes, with their checksum", guarantee)


def _contents(
    report: Report, folder: Path, guarantee: Guarantee, stages: Stages
) -> list[str] | None:
    """The files, against the guarantee and each other; the terms, for the table."""
    parts = list(files.parts(guarantee))
    terms: list[str] | None = report.attempt("vocabulary.txt", files.terms, folder, guarantee)
    found = report.attempt("documents", files.documents, folder, guarantee, parts)
    if found is not None:
        columns, rows = found
        report.documents = sum(rows)
        told = (columns, report.documents)
        report.attempt("README.txt", files.check_readme, folder, guarantee, parts, *told)
        if terms is not None:
            given = (folder, guarantee, parts, terms, rows, stages)
            report.released = report.attempt("counts", files.counts, *given)
    return terms


def _derivation(
    report: Report,
    guarantee: Guarantee,
    terms: list[str] | None,
    vectors: Callable[[], WordVectors] | None,
    stages: Stages,
) -> None:
    """The guarantee, against the table that its fields give."""
    report.attempt("caveats", table_checks.check_caveats, guarantee)
    found = report.attempt("vectors", table_checks.word_vectors, guarantee, vectors)
    if terms is None or found is None:
        return
    words = report.attempt("public words", table_checks.public_words, guarantee, terms, found)
    if words is None:
        return
    table = report.attempt("table", table_checks.table, guarantee, words, found, stages)
    if table is not None:
        report.table = table
        mechanism, _ = table
        report.attempt("loss per word", table_checks.loss, guarantee, mechanism)
        report.attempt("loss per document", table_checks.document_loss, guarantee, mechanism)


def _report(report: Report, folder: Path, guarantee: Guarantee) -> None:
    """The page for people, once all that it is made from is known to be right."""
    failed = any(check.status == FAILED for check in report.checks)
    if report.table and report.released and not failed:
        given = (folder, guarantee, *report.table, report.released)
        report.attempt(REPORT, report_page.check_report, *given)
