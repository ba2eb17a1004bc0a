"""A release: a folder for the person who receives it, written whole or not at all."""

import io
import os
import shutil
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import polars as pl
from scipy.sparse import csr_matrix, save_npz

from syntf.arithmetic import shown, shown_ratio
from syntf.errors import SyntfError
from syntf.guarantee import Guarantee
from syntf.vocabulary import as_lines

FILES = ("vectors.npz", "vocabulary.txt", "documents.parquet", "guarantee.json", "README.txt")


def check_target(folder: Path, *, force: bool) -> None:
    """Refuse a folder that cannot or must not be written, before any work is done."""
    if folder.exists() or folder.is_symlink():
        if not force:
            raise SyntfError(f"{folder} exists already: choose another --out, or add --force")
        if not folder.is_dir() or folder.is_symlink() or not _is_release(folder):
            raise SyntfError(
                f"{folder} is not a release of syntf, so --force does not replace it: "
                "choose another --out"
            )
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise SyntfError(f"the folder {parent} does not exist: create it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise SyntfError(f"the folder {parent} cannot be written to")


def write(
    folder: Path,
    counts: csr_matrix,
    vocabulary: Sequence[str],
    documents: pl.DataFrame,
    guarantee: Guarantee,
    *,
    force: bool = False,
) -> None:
    """Write all files of a release into a new folder that appears when it is complete."""
    with _whole(folder, force=force) as draft:
        save_npz(draft / "vectors.npz", counts)
        (draft / "vocabulary.txt").write_bytes(as_lines(vocabulary).encode())
        parquet = io.BytesIO()  # so that a full disk is an OSError here too
        documents.write_parquet(parquet)
        (draft / "documents.parquet").write_bytes(parquet.getvalue())
        (draft / "README.txt").write_text(
            readme(guarantee, documents.height, documents.columns), encoding="utf-8"
        )
        (draft / "guarantee.json").write_text(guarantee.as_json(), encoding="utf-8")


@contextmanager
def _whole(folder: Path, *, force: bool) -> Iterator[Path]:
    """A draft beside the target, renamed to it at the end; removed if anything fails."""
    check_target(folder, force=force)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.absolute().parent))
    try:
        yield draft
        for path in draft.iterdir():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        draft.chmod(0o777 & ~_umask())
        if folder.exists():
            _replace(folder, draft)
        else:
            draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _replace(folder: Path, draft: Path) -> None:
    """Put the draft in the place of an old release, or leave the old one there."""
    old = draft.with_name(draft.name + "-old")
    folder.rename(old)
    try:
        draft.rename(folder)
    except BaseException:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _is_release(folder: Path) -> bool:
    """Whether a folder holds a release and nothing else, or nothing at all."""
    found = {path.name for path in folder.iterdir()}
    return not found or ("guarantee.json" in found and found <= set(FILES))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def readme(guarantee: Guarantee, documents: int, columns: Sequence[str]) -> str:
    """What this is, for the person who receives it."""
    odds = shown_ratio(Fraction(guarantee.loss_ratio))
    caveats = guarantee.caveats or ["Nothing but the counts is released here."]
    notes = "".join(_wrapped("  * ", caveat) + "\n" for caveat in caveats)
    headline = (
        "differentially private"
        if guarantee.private
        else "NOT covered by a differential-privacy guarantee as it stands (see below)"
    )
    return f"""\
Synthetic term-frequency vectors, made by syntf {guarantee.version}
{"=" * 60}

These are not the texts. Each of the {documents:,} documents was turned into
{guarantee.length} words, each drawn from the document and replaced at random by a word
of similar meaning; what you have are the counts of those words. The release is
{headline}.

Files
  vectors.npz        counts, documents x terms (scipy.sparse.load_npz)
  vocabulary.txt     the term of each column, one a line
{_wrapped("  documents.parquet  ", "one row a document: " + ", ".join(columns))}
  guarantee.json     the guarantee and all parameters, for programs

What the guarantee says
  Privacy loss per word       {shown(guarantee.loss_per_word.tight, 4)}
  Privacy loss per document   {shown(guarantee.loss_per_document, 2)}  ({guarantee.length} words)
  An author of m documents    m times the loss of a document

  Whatever the document was, seeing one released word changes the odds between any
  two documents it may have been by a factor of at most {odds}. This holds for
  every pair of documents, whatever else is known. The factors of all words multiply,
  so this is a limit on what can be proved, not a promise that nothing can be guessed.

What it does not say
{notes}\
  * The topic of a document is meant to remain visible, and where authors keep to
    their topics it can point to them.
  * A second release of the same documents adds its own loss to this one.

Table digest  {guarantee.digest}
"""


def _wrapped(start: str, text: str) -> str:
    return textwrap.fill(text, 84, initial_indent=start, subsequent_indent=" " * len(start))
