"""A release: a folder for the person who receives it, written whole or not at all.

It grows in a draft beside its place: shards of documents, each complete when it appears.
The last step renames the draft. A run that was killed leaves the draft, from which another
run can go on; documents of complete shards are never drawn for again.
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import file_digest
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np
import polars as pl

from syntf.core import entropy
from syntf.core.atomic_files import appear, restored, sync
from syntf.core.counts import Counts
from syntf.core.errors import COMPLETE, SyntfError
from syntf.privacy.guarantee import Guarantee
from syntf.releases.readme import readme
from syntf.releases.shards import LOCK, Shard, Shards, Written, write_parquet
from syntf.releases.shuffle import shuffled
from syntf.releases.writers import WRITERS
from syntf.report.contents import Released
from syntf.report.page import NAME as REPORT
from syntf.report.page import page
from syntf.report.portrait import Portrait
from syntf.vocabulary.vocabulary import as_lines

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NUMBER = "document"
"""The column that numbers the documents, where no id names them."""

SHARD = 1 << 16
"""Documents in a file of a release, and the least work that is worth resuming."""

_PART = re.compile(
    r"(vectors|documents)(-\d{5})?\.[a-z]+|vocabulary\.txt|README\.txt|report\.html|guarantee\.json"
)


class Draft:
    """A release in the making. Use as a context; it vanishes unless finished or worth resuming.

    folder : where the release will appear.
    key : tells runs apart that may not continue each other's drafts.
    resume : go on with the draft of a run that was interrupted.
    force : replace an earlier release, and start over an earlier draft.
    as_is : the documents come as they are to be released, numbered and in order, in the format npz:
        a shard is packed once, and copied.
    """

    def __init__(
        self,
        folder: Path,
        *,
        key: str = "",
        resume: bool = False,
        force: bool = False,
        as_is: bool = False,
    ) -> None:
        check_target(folder, force=force)
        self.folder = folder
        self._finished = False
        self._held: Shard | None = None
        self._draft = folder.absolute().with_name(f".{folder.name}.partial")
        self._final = self._draft.with_name(f"{self._draft.name}-final")
        if self._draft.is_symlink():
            raise SyntfError(f"{self._draft} is a link, and is not followed: remove it")
        self._draft.mkdir(exist_ok=True)
        self._lock = self._locked()
        try:
            if restored(self._final, folder):
                check_target(folder, force=force)
            self._shards = self._begin(key, resume=resume, force=force, packed=as_is)
        except BaseException:
            self._lock.close()
            raise

    @property
    def documents(self) -> int:
        """Documents in the shards that are complete."""
        return sum(self._shards.rows) + (self._held[1].height if self._held else 0)

    def add(self, counts: Counts, documents: pl.DataFrame) -> None:
        """One more shard.

        A first one that is too little to go on with waits in memory, for another or for the end.
        """
        if self._held:
            self._shards.add(*self._held)
            self._held = None
        if documents.height < SHARD and not self._shards.rows:
            self._held = counts, documents
        else:
            self._shards.add(counts, documents)

    def finish(
        self,
        vocabulary: Sequence[str],
        guarantee: Guarantee,
        portrait: Portrait,
        *,
        shuffle: entropy.Source | None = None,
        numbered: bool = False,
        format: str = "npz",
    ) -> Guarantee:
        """Assemble the release beside the draft, in a random order if asked to; let it appear.

        The shards stay as they are until then, so this step can be done again from the start.
        If `numbered`, the first column of the documents counts them, in their new order.
        """
        self._final.mkdir()
        try:
            count = 1 if self._held else len(self._shards.rows)
            parts = [f"-{shard:05}" for shard in range(count)] if count > 1 else [""] * count
            if self._shards.packed and not self._held and not shuffle and format == "npz":
                written: Iterable[Written] = (
                    self._shards.copy(shard, *_names(self._final, part, ".npz"))
                    for shard, part in enumerate(parts)
                )
            else:
                ordered: Iterable[Shard] = map(self._read, range(count))
                if shuffle:
                    ordered = shuffled(self._read, count, self._final, shuffle)
                shards = zip(parts, ordered, strict=True)
                written = _write(self._final, shards, vocabulary, numbered=numbered, format=format)
            promise = _assemble(
                self._final, parts, written, vocabulary, guarantee, portrait, format
            )
            appear(self._final, self.folder)
        finally:  # whatever interrupts this, and whenever
            self._finished = not self._final.exists()
            shutil.rmtree(self._final, ignore_errors=True)
        self.discard()
        return promise

    def discard(self) -> None:
        """Remove the draft."""
        shutil.rmtree(self._draft, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and self._finished:
            error.add_note(COMPLETE)
        if self._finished or self.documents < SHARD:  # too little to go on with
            self.discard()
        elif error is not None:
            error.add_note(f"{self.documents:,} documents are done: add --resume to go on")
        self._lock.close()

    def _locked(self) -> IO[bytes]:
        """Hold the draft: one run at a time writes to it. The system lets go of it at any end."""
        lock = (self._draft / LOCK).open("wb")
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.close()
                raise SyntfError(f"another run is writing to {self.folder}") from None
        return lock

    def _begin(self, key: str, *, resume: bool, force: bool, packed: bool) -> Shards:
        """The shards to go on with, if any; the draft cleared of all else."""
        left = Shards.left(self._draft, key)
        if not resume and not force and sum(left.rows) >= SHARD:
            raise SyntfError(
                f"an unfinished run has left {sum(left.rows):,} documents in {self._draft}: "
                "add --resume to go on with them, or --force to start over"
            )
        if resume:
            left.check(key)
        if not (resume and left.rows):
            left = Shards(self._draft, key, packed)
        left.clear()
        return left

    def _read(self, shard: int) -> Shard:
        return self._held or self._shards.read(shard)


def _names(folder: Path, part: str, suffix: str) -> tuple[Path, Path]:
    """The files of a shard in a release."""
    return folder / f"vectors{part}{suffix}", folder / f"documents{part}.parquet"


def _write(
    final: Path,
    shards: Iterable[tuple[str, Shard]],
    vocabulary: Sequence[str],
    *,
    numbered: bool,
    format: str,
) -> Iterator[Written]:
    """The files of shards, which have their part in their names."""
    suffix, write_counts = WRITERS[format]
    first = 0
    for part, (counts, documents) in shards:
        vectors, rows = _names(final, part, suffix)
        write_counts(vectors, counts, vocabulary, first)
        if numbered:
            documents = documents.with_columns(row_numbers(first, documents.height))
        write_parquet(rows, documents)
        first += documents.height
        yield Written(np.diff(counts.indptr), documents.columns)


def _assemble(
    final: Path,
    parts: Sequence[str],
    shards: Iterable[Written],
    vocabulary: Sequence[str],
    guarantee: Guarantee,
    portrait: Portrait,
    format: str,
) -> Guarantee:
    """All files of a release: those of the shards, as they are written, then all others."""
    columns: Sequence[str] = []
    longest = min(guarantee.length, len(vocabulary))
    released = Released.of(np.array([], dtype=np.int64), longest)
    for written in shards:
        columns = written.columns
        released += Released.of(written.sizes, longest)
    every = "-*" if len(parts) > 1 else ""
    suffix = WRITERS[format][0]
    (final / "vocabulary.txt").write_bytes(as_lines(vocabulary).encode())
    text = readme(
        guarantee,
        released.documents,
        columns,
        f"vectors{every}{suffix}",
        f"documents{every}.parquet",
    )
    (final / "README.txt").write_bytes(text.encode())
    (final / REPORT).write_bytes(page(guarantee, portrait, released).encode())
    promise = replace(guarantee, files=digests(final))
    (final / "guarantee.json").write_bytes(promise.as_json().encode())
    for path in [*final.iterdir(), final]:
        sync(path)
    return promise


def write(
    folder: Path,
    counts: Counts,
    vocabulary: Sequence[str],
    documents: pl.DataFrame,
    guarantee: Guarantee,
    portrait: Portrait,
    *,
    format: str = "npz",
    force: bool = False,
) -> None:
    """A release of documents that are all in memory."""
    with Draft(folder, force=force) as draft:
        try:
            draft.add(counts, documents)
            draft.finish(vocabulary, guarantee, portrait, format=format)
        except BaseException:
            draft.discard()
            raise


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


def _is_release(folder: Path) -> bool:
    """Whether a folder holds a release and nothing else, or nothing at all."""
    found = {path.name for path in folder.iterdir()}
    return not found or ("guarantee.json" in found and all(map(_PART.fullmatch, found)))


def digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file, by name, sorted: of what is released, so it tells no more."""
    found = {}
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            found[path.name] = f"sha256:{file_digest(file, 'sha256').hexdigest()}"
    return found


def row_numbers(first: int, count: int) -> pl.Series:
    """The column that numbers the documents of a release, from `first` on."""
    return pl.Series(NUMBER, range(first, first + count), dtype=pl.Int64)
