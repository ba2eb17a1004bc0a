"""Limit how many documents of one author are released.

The documents of an author are chosen at random. The choice depends on the column of authors, on the
order of the rows and on a random key, never on a text. So the loss of an author is at most the loss
of a document times the number of documents that are chosen: the texts of an author influence the
release through these documents alone.

Rows are chosen by keyed hashes of their numbers: of each author, the rows with the smallest hashes.
A run that is resumed reads the key from its draft and finds the same rows again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.core.progress import Advance, Stages
from syntf.inputs import columns as input_columns
from syntf.inputs.corpus import Corpus
from syntf.inputs.rows import Rows
from syntf.releases.draft import AUTHORS_FILE, Draft

KEY_BYTES = 32
ROWS_HELD = 1 << 20
"""Candidates held in memory before those that cannot be chosen any more are dropped."""

_AUTHOR, _ROW, _HASH = "author", "row", "hash"
_IN_A_BLOCK = 8  # rows whose hashes are one BLAKE2b digest


@dataclass
class Selection:
    """The rows of an input that are released, and a check that the input stays the same.

    column : the column of the input that names authors.
    rows : for each row of the input, whether it is released.
    digest : of all authors, in their order.
    """

    column: str
    rows: NDArray[np.bool_]
    digest: bytes
    _seen: "_AuthorDigest" = field(init=False)
    _place: int = field(default=0, init=False)

    def begin(self) -> None:
        """Prepare for a pass over the whole input."""
        self._seen, self._place = _AuthorDigest(), 0

    def take(self, batch: Rows) -> Rows:
        """Return the chosen rows of the next batch."""
        self._seen.add(input_columns.names(batch, self.column))
        first, self._place = self._place, self._place + batch.height
        chosen = self.rows[first : self._place]
        if len(chosen) < batch.height:
            raise _changed()
        return batch.at(np.flatnonzero(chosen))

    def end(self) -> None:
        """Raise an error unless the pass has seen the authors that the rows were chosen for."""
        if self._seen.digest() != self.digest:
            raise _changed()

    @property
    def left_out(self) -> int:
        """The number of rows that are not released."""
        return int(np.count_nonzero(~self.rows))


def select(
    corpus: Corpus, column: str, most: int, key: bytes, advance: Advance = lambda amount: None
) -> Selection:
    """Choose at most `most` rows of each author; a row without an author is always chosen."""
    seen, total, read = _AuthorDigest(), 0, 0
    best = pl.DataFrame(schema={_AUTHOR: pl.String, _ROW: pl.Int64, _HASH: pl.UInt64})
    waiting, held = [best], 0
    anonymous: list[NDArray[np.int64]] = []
    for batch in corpus:
        authors = input_columns.names(batch, column)
        seen.add(authors)
        rows = np.arange(total, total + len(authors))
        hashes = row_hashes(key, total, len(authors))
        total += len(authors)
        frame = pl.DataFrame({_AUTHOR: authors, _ROW: rows, _HASH: hashes})
        named = pl.Series(authors, dtype=pl.String) != ""
        anonymous.append(rows[~named.to_numpy()])
        waiting.append(frame.filter(named))
        held += len(authors)
        if held >= max(ROWS_HELD, best.height):
            best, held = _smallest(waiting, most), 0
            waiting = [best]
        advance(corpus.bytes_read - read)
        read = corpus.bytes_read
    chosen = np.zeros(total, dtype=bool)
    chosen[_smallest(waiting, most)[_ROW].to_numpy()] = True
    for rows in anonymous:
        chosen[rows] = True
    return Selection(column, chosen, seen.digest())


def select_for_run(
    draft: Draft, corpus: Corpus, column: str, most: int, source: entropy.Source, progress: Stages
) -> Selection:
    """Choose the rows for a run, with the key in its draft."""
    key = stored_key(draft, source)
    with progress("choosing documents of each author", corpus.size) as advance:
        return select(corpus, column, most, key, advance)


def stored_key(draft: Draft, source: entropy.Source) -> bytes:
    """Return the key of the run that is resumed, or store a new one before anything is drawn."""
    if not draft.documents:
        key = source(KEY_BYTES)
        draft.store(AUTHORS_FILE, key)
        return key
    found = draft.stored(AUTHORS_FILE)
    if found is None or len(found) != KEY_BYTES:
        raise SyntfError(f"{AUTHORS_FILE} of the draft is damaged: start over with --force")
    return found


def row_hashes(key: bytes, first: int, count: int) -> NDArray[np.uint64]:
    """Return keyed hashes of the numbers of rows, which do not depend on where batches end."""
    blocks = range(first // _IN_A_BLOCK, -(-(first + count) // _IN_A_BLOCK))
    raw = b"".join(
        blake2b(block.to_bytes(8, "little"), key=key, person=b"syntf authors").digest()
        for block in blocks
    )
    return np.frombuffer(raw, dtype="<u8")[first % _IN_A_BLOCK :][:count].astype(np.uint64)


def _smallest(frames: Sequence[pl.DataFrame], most: int) -> pl.DataFrame:
    """Return the `most` rows of each author that have the smallest hashes."""
    ordered = pl.concat(frames).sort(_HASH, _ROW)
    return ordered.group_by(_AUTHOR, maintain_order=True).head(most)


class _AuthorDigest:
    """A digest of names, one after the other."""

    def __init__(self) -> None:
        self._hash = sha256()

    def add(self, authors: Sequence[str]) -> None:
        for author in authors:
            raw = author.encode("utf-8", "surrogatepass")
            self._hash.update(len(raw).to_bytes(8, "little") + raw)

    def digest(self) -> bytes:
        return self._hash.digest()


def _changed() -> SyntfError:
    return SyntfError(
        "the input changed while it was being read: the documents of each author were chosen from "
        "other rows; start over"
    )
