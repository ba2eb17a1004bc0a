"""The rows of an input that are not in the draft of a release yet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from syntf.core import tables
from syntf.core.progress import Advance
from syntf.core.release_names import ROW_NUMBER
from syntf.inputs import columns as input_columns
from syntf.inputs.corpus import Corpus
from syntf.inputs.rows import Rows, concatenate
from syntf.releases import draft as drafts
from syntf.releases.contents.folder import row_numbers
from syntf.releases.contents.kept_columns import LOOKED_AT

if TYPE_CHECKING:
    import numpy as np
    from arro3.core import Table
    from numpy.typing import NDArray

    from syntf.ledger.names import Charge, Names
    from syntf.releases.authors import Selection


@dataclass
class Rest:
    """All documents of a corpus but the first `done`, which are in the draft.

    columns, id, author : what is read beside the texts; `author` is for a ledger.
    selection : the rows that are released, if the documents of an author are limited.
    charge : what a ledger was charged. Every batch must be the one that was charged, or nothing
        more is drawn.
    first_columns : the first rows of the columns that are released; None before they are read.
    """

    corpus: Corpus
    done: int
    columns: Sequence[str]
    id: str | None
    author: str | None
    selection: "Selection | None" = None
    charge: "Charge | None" = None
    first_columns: Rows | None = None

    def batches(self, advance: Advance) -> Iterator[Rows]:
        """Yield the rows in the same batches every time. A shard ends where a batch ends."""
        skip = self.done
        shard_room = drafts.SHARD
        bytes_before = 0
        if self.selection is not None:
            self.selection.begin()
        first_pass = self.first_columns is None
        for batch in self.corpus:
            if self.selection is not None:
                batch = self.selection.take(batch)
            if first_pass:
                self._look_at(batch)
            rows = batch[skip:] if skip else batch
            skip = max(0, skip - batch.height)
            while rows.height:
                part, rows = rows[:shard_room], rows[shard_room:]
                shard_room = (shard_room - part.height) or drafts.SHARD
                if self.charge is not None:
                    self.charge.confirm(self.names(part))
                yield part
            advance(self.corpus.bytes_read - bytes_before)
            bytes_before = self.corpus.bytes_read
        if self.selection is not None:
            self.selection.end()

    def _look_at(self, batch: Rows) -> None:
        """Keep the released columns of the first rows: as many of them wherever batches end.

        Raises a SyntfError if a column cannot be released. A ledger is charged after the first
        pass, so nothing is charged then.
        """
        batch.only(self.columns).require_releasable()
        before = [] if self.first_columns is None else [self.first_columns]
        missing = LOOKED_AT - sum(rows.height for rows in before)
        if missing > 0 and self.columns:
            self.first_columns = concatenate([*before, batch.only(self.columns)[:missing]])

    def rewind(self) -> None:
        """Prepare for a second pass over the same rows."""
        if self.charge is not None:
            self.charge.rewind()

    def texts(self, rows: Rows, places: "NDArray[np.intp] | None" = None) -> list[str]:
        """Return the texts of these rows, or of those at some places."""
        return rows.strings(self.corpus.text or "text", places)

    def names(self, rows: Rows) -> "Names":
        """Return the documents and authors that a ledger charges for these rows."""
        documents = self.texts(rows) if self.id is None else input_columns.names(rows, self.id)
        authors = None if self.author is None else input_columns.names(rows, self.author)
        from syntf.ledger.names import Names  # SQLite is loaded only for a ledger

        return Names(documents, authors, "text" if self.id is None else "id")

    def released_columns(self, rows: Rows, first: int) -> "Table":
        """Return the columns that are released beside the counts; `first` numbers the rows."""
        kept = rows.only(self.columns).as_arrow()
        return tables.of({ROW_NUMBER: row_numbers(first, rows.height), **kept})
