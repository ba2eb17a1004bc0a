"""The rows of an input that are not in the draft of a release yet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from syntf.core.progress import Advance
from syntf.inputs import columns as input_columns
from syntf.inputs.corpus import Corpus
from syntf.releases import draft as drafts
from syntf.releases.contents.folder import row_numbers

if TYPE_CHECKING:
    from syntf.ledger.names import Charge, Names
    from syntf.releases.authors import Selection


@dataclass
class Rest:
    """All documents of a corpus but the first `done`, which are in the draft.

    columns, id, author : what is read beside the texts; `author` is for a ledger.
    selection : the rows that are released, if the documents of an author are limited.
    charge : what a ledger was charged. Every batch must be the one that was charged, or nothing
        more is drawn.
    first_columns : the columns of the first batch that was read, which are released; None before.
    """

    corpus: Corpus
    done: int
    columns: Sequence[str]
    id: str | None
    author: str | None
    selection: "Selection | None" = None
    charge: "Charge | None" = None
    first_columns: pl.DataFrame | None = None

    def frames(self, advance: Advance) -> Iterator[pl.DataFrame]:
        """Yield the rows in the same batches every time. A shard ends where a batch ends."""
        skip = self.done
        shard_room = drafts.SHARD
        bytes_before = 0
        if self.selection is not None:
            self.selection.begin()
        for batch in self.corpus:
            if self.selection is not None:
                batch = self.selection.take(batch)
            if self.first_columns is None:
                self.first_columns = pl.DataFrame([batch[name] for name in self.columns])
            frame = batch[skip:]
            skip = max(0, skip - batch.height)
            while frame.height:
                part, frame = frame[:shard_room], frame[shard_room:]
                shard_room = (shard_room - part.height) or drafts.SHARD
                if self.charge is not None:
                    self.charge.confirm(self.names(part))
                yield part
            advance(self.corpus.bytes_read - bytes_before)
            bytes_before = self.corpus.bytes_read
        if self.selection is not None:
            self.selection.end()

    def rewind(self) -> None:
        """Prepare for a second pass over the same rows."""
        if self.charge is not None:
            self.charge.rewind()

    def texts(self, frame: pl.DataFrame) -> list[str]:
        """Return the texts of these rows."""
        return input_columns.texts(frame, self.corpus.text or "text")

    def text_column(self, frame: pl.DataFrame) -> pl.Series:
        """Return the texts of these rows as a column, of which some can be taken."""
        return input_columns.text_column(frame, self.corpus.text or "text")

    def names(self, frame: pl.DataFrame) -> "Names":
        """Return the documents and authors that a ledger charges for these rows."""
        documents = self.texts(frame) if self.id is None else input_columns.names(frame, self.id)
        authors = None if self.author is None else input_columns.names(frame, self.author)
        from syntf.ledger.names import Names  # SQLite is loaded only for a ledger

        return Names(documents, authors, "text" if self.id is None else "id")

    def released_columns(self, frame: pl.DataFrame, first: int) -> pl.DataFrame:
        """Return the columns that are released beside the counts; `first` numbers the rows."""
        columns = [frame[name] for name in self.columns]  # select() would expand wildcards
        return pl.DataFrame([row_numbers(first, frame.height), *columns])
