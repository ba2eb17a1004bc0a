"""`syntf verify`: check a release that was received."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syntf.cli import output
from syntf.cli.options import FILE, Command, as_json, no_progress, option
from syntf.core.choices import SPACY
from syntf.core.errors import SyntfError

if TYPE_CHECKING:
    from collections.abc import Callable

    from syntf.core.progress import Stages
    from syntf.vectors.word_vectors import WordVectors
    from syntf.verification.result import VerificationResult


vectors_option = option(
    "--vectors",
    type=FILE,
    metavar="FILE",
    help="Word vectors of the release. Needed if it was not made with the embedded ones.",
)

codebook_option = option(
    "--codebook",
    type=FILE,
    metavar="FILE",
    help="Codebook of the release. Needed if it was not made with the embedded one.",
)

language_option = option(
    "--language",
    metavar="CODE|FOLDER",
    help="Language pack of the release. Needed if the pack is not installed.",
)


@click.command("verify", cls=Command)
@click.argument("folder", type=FILE, metavar="DIR")
@vectors_option
@codebook_option
@language_option
@option(
    "--slow",
    is_flag=True,
    help="Derive the table even if this takes long. A hostile release could take hours.",
)
@option(
    "--require-private",
    is_flag=True,
    help="Fail also if the release is verified but marked as not private.",
)
@as_json
@no_progress
def command(
    folder: Path,
    vectors: Path | None,
    codebook: Path | None,
    slow: bool,
    require_private: bool,
    as_json: bool,
    quiet: bool,
    language: str | None = None,
) -> int:
    """Check a release that you received: its files, its probabilities and its loss.

    Derives the lists of prototypes, or the table of probabilities, again from public data and the
    release itself, measures the loss, and compares everything with guarantee.json. This takes
    seconds. With --preset paper it takes as long as the sender's measurement. The exit code is 0
    only if all checks pass. A release that is verified can be marked as not private; a program that
    accepts releases should give --require-private.

    \b
    Example:
      syntf verify release
    """
    result = run_verification(folder, vectors, codebook, language, slow=slow, quiet=quiet)
    if as_json:
        output.emit(summary(result))
    else:
        show(result)
    private = result.guarantee is not None and result.guarantee.private
    if require_private and result.verified and not private:
        if not as_json:
            output.conclude(
                "REFUSED", "bold red", ": the release is not private, which was required."
            )
        return 1
    return 0 if result.verified else 1


def run_verification(
    folder: Path,
    vectors: Path | None,
    codebook: Path | None,
    language: str | None,
    *,
    slow: bool,
    quiet: bool,
) -> "VerificationResult":
    """Verify a release; refuse missing files before the long work begins."""
    from syntf.verification.verify import verify

    if not folder.exists():
        raise SyntfError(f"there is no folder {folder}: give the folder of a release")
    if not (folder / "guarantee.json").exists():
        raise SyntfError(f"there is no guarantee.json in {folder}: give the folder of a release")
    if vectors and not str(vectors).startswith(SPACY) and not vectors.is_file():
        raise SyntfError(f"there is no file of word vectors at {vectors}")
    if codebook and not codebook.is_file():
        raise SyntfError(f"there is no codebook at {codebook}")
    with output.progress(quiet) as stages:
        reader = vectors_reader(vectors, stages)
        return verify(
            folder, vectors=reader, codebook=codebook, language=language, slow=slow, stages=stages
        )


def vectors_reader(vectors: Path | None, stages: "Stages") -> "Callable[[], WordVectors] | None":
    """Return a function that reads word vectors without a cache; None for the embedded ones."""
    from syntf.vectors import adapters
    from syntf.vectors.word_vectors import WordVectors

    if vectors is None:
        return None
    if str(vectors).startswith(SPACY):
        return lambda: adapters.from_model(str(vectors).removeprefix(SPACY))
    return lambda: WordVectors.read(vectors, stages)


def show(result: "VerificationResult") -> None:
    """Print a line per check, what cannot be verified, and the verdict."""
    from syntf.verification.result import FAILED, NOT_CHECKED, OK, UNVERIFIABLE

    styles: dict[str, str] = {
        OK: "green", FAILED: "bold red", NOT_CHECKED: "yellow", UNVERIFIABLE: "yellow"
    }  # fmt: skip
    checks = [check for check in result.checks if check.name in result.expected]
    statements = [check for check in result.checks if check.name not in result.expected]
    output.facts([(check.status, check.name, check.detail) for check in checks], styles)
    if statements:
        click.echo("The sender says, and nobody can verify:")
        output.facts([(f"  {check.name}", check.detail) for check in statements])
    if result.checksum is not None:
        click.echo(f"checksum {result.checksum}")
    output.conclude(*verdict(result))


def verdict(result: "VerificationResult") -> tuple[str, str, str]:
    """Return the last line: its first words, their colour, and what was verified and what not."""
    from syntf.core.exact import shown
    from syntf.verification.result import FAILED, NOT_CHECKED

    failed, not_checked = result.with_status(FAILED), result.with_status(NOT_CHECKED)
    if failed:
        rest = f": {len(failed)} of the checks failed, {len(not_checked)} were not made."
        return "NOT VERIFIED", "bold red", rest
    if not result.verified or result.guarantee is None:
        return "NOT CHECKED", "bold yellow", f": {len(not_checked)} checks were not made."
    guarantee = result.guarantee
    document = shown(guarantee.loss_per_document, 2)
    if guarantee.unit == "document":
        table = f"draws from these lists lose at most {document} per document"
        proof = "That these prototypes were drawn from them, once, cannot be proved."
    else:
        word = shown(guarantee.word_losses.tight, 4)
        table = f"this table loses at most {word} per word and {document} per document"
        proof = "That these counts were drawn from it cannot be proved."
    if not guarantee.private:
        return "Verified as marked: NOT PRIVATE", "bold yellow", f" ({table}). {proof}"
    return "Verified", "bold green", f": {table}. {proof}"


def summary(result: "VerificationResult") -> dict[str, Any]:
    """Return the result for programs; losses only if they are verified."""
    from dataclasses import asdict

    guarantee = result.guarantee if result.verified else None
    return {
        "verified": result.verified,
        "verdict": result.verdict,
        "private": guarantee and guarantee.private,
        "loss_per_word": guarantee and guarantee.loss_per_word and asdict(guarantee.loss_per_word),
        "loss_per_document": guarantee and guarantee.loss_per_document,
        "documents": result.documents if guarantee else None,
        "checksum": result.checksum,
        "checks": [asdict(check) for check in result.checks],
    }
