"""`syntf verify`: a release, checked by whoever received it."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from syntf.cli import console
from syntf.core.choices import SPACY
from syntf.core.errors import SyntfError
from syntf.core.exact import shown
from syntf.privacy.guarantee import CHECKSUM
from syntf.vectors import adapters
from syntf.vectors.word_vectors import WordVectors
from syntf.verification.result import FAILED, OK, SKIPPED, WORD, Report
from syntf.verification.verify import verify

STYLES = {OK: "green", FAILED: "bold red", SKIPPED: "yellow"}


def run(folder: Path, vectors: Path | None, *, as_json: bool, quiet: bool = False) -> int:
    """Print what was found; the exit code is 0 only if the release is verified."""
    check_paths(folder, vectors)
    with console.progress(quiet) as stages:
        read = None if vectors is None else partial(read_vectors, vectors, stages)
        report = verify(folder, vectors=read, stages=stages)
    if as_json:
        console.emit(summary(report))
    else:
        show(report)
    return 0 if report.verified else 1


def check_paths(folder: Path, vectors: Path | None) -> None:
    """Refuse what is no release, or vectors that are not there, before the work."""
    if not (folder / "guarantee.json").exists():
        raise SyntfError(f"no guarantee.json in {folder}: give the folder of a release")
    if vectors is not None and not is_model(vectors) and not vectors.is_file():
        raise SyntfError(f"no file of word vectors at {vectors}")


def is_model(vectors: Path) -> bool:
    return str(vectors).startswith(SPACY)


def read_vectors(vectors: Path, stages: Any) -> WordVectors:
    """From the file itself, whatever is remembered of it."""
    if is_model(vectors):
        return adapters.from_model(str(vectors).removeprefix(SPACY))
    return WordVectors.read(vectors, stages)


def show(report: Report) -> None:
    """A line a check, what stands on the sender's word, and the verdict."""
    table, told = (Table(box=None, show_header=False, padding=(0, 2, 0, 0)) for _ in range(2))
    for check in report.checks:
        name, detail = escape(check.name), escape(check.detail)
        if check.status == WORD:
            told.add_row(f"  {name}", detail)
        else:
            table.add_row(f"[{STYLES[check.status]}]{check.status}[/]", name, detail)
    console.show(table)
    if told.row_count:
        console.out.print(f"{WORD}, bound by the checksum alone:")
        console.show(told)
    if report.guarantee is not None:
        console.out.print(f"{CHECKSUM} {report.guarantee[CHECKSUM]}", soft_wrap=True)
    console.out.print(verdict(report), soft_wrap=True)


def verdict(report: Report) -> str:
    """The last line: whether to rely on the number, and the number."""
    guarantee = report.guarantee
    if guarantee is None or not report.verified:
        bad = sum(check.status in (FAILED, SKIPPED) for check in report.checks)
        return f"[bold red]NOT VERIFIED[/]: {bad} checks failed or could not be made."
    word = shown(guarantee.loss_per_word.tight, 4)
    document = shown(guarantee.loss_per_document, 2)
    if not guarantee.private:
        marked = "[bold yellow]Verified as marked, NOT PRIVATE[/]"
        return f"{marked} (its table: {word} a word, {document} a document)."
    return f"[bold green]Verified[/]: a word loses at most {word}, a document {document}."


def summary(report: Report) -> dict[str, Any]:
    """The same for programs; numbers only where they are verified."""
    guarantee = report.guarantee if report.verified else None
    return {
        "verified": report.verified,
        "private": guarantee and guarantee.private,
        "loss_per_word": guarantee and asdict(guarantee.loss_per_word),
        "loss_per_document": guarantee and guarantee.loss_per_document,
        "documents": report.documents if guarantee else None,
        CHECKSUM: report.guarantee and report.guarantee[CHECKSUM],
        "checks": [asdict(check) for check in report.checks],
    }
