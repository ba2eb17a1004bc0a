"""The documents of a run: which are still to be drawn for, and how they become shards."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from syntf.core.counts import Counts, compact, stacked
from syntf.core.progress import Advance, Stages
from syntf.inputs import corpus
from syntf.inputs.corpus import Corpus
from syntf.ledger.names import Charge, Names
from syntf.pipeline.anonymizer import Anonymizer
from syntf.releases import draft
from syntf.text.documents import Documents, joined

TERMS = 1 << 24
"""Known terms of documents that wait to be drawn for, about."""


@dataclass(frozen=True)
class Plan:
    """The documents of a corpus that are still to be drawn for, all but the first `done`."""

    corpus: Corpus
    done: int
    kept: Sequence[str]
    id: str | None
    author: str | None

    def frames(self, advance: Advance) -> Iterator[pl.DataFrame]:
        """Their rows in batches, the same every time; a shard ends where a batch does."""
        skip = self.done
        left = draft.SHARD  # of the shard
        before = 0
        for batch in self.corpus:
            frame = batch[skip:]
            skip = max(0, skip - batch.height)
            while frame.height:
                part, frame = frame[:left], frame[left:]
                left = (left - part.height) or draft.SHARD
                yield part
            advance(self.corpus.done - before)
            before = self.corpus.done

    def texts(self, frame: pl.DataFrame) -> list[str]:
        return corpus.texts(frame, self.corpus.text or "text")

    def names(self, frame: pl.DataFrame) -> Names:
        """Whom a ledger charges for these rows."""
        documents = self.texts(frame) if self.id is None else corpus.names(frame, self.id)
        authors = None if self.author is None else corpus.names(frame, self.author)
        return Names(documents, authors, "text" if self.id is None else "id")

    def released(self, frame: pl.DataFrame, first: int) -> pl.DataFrame:
        """What is released of each document beside its counts."""
        # By name, as a selection would expand wildcards.
        columns = [frame[name] for name in self.kept]
        if self.id is None:
            columns = [draft.row_numbers(first, frame.height), *columns]
        return pl.DataFrame(columns)


def shards(
    plan: Plan, anonymizer: Anonymizer, charge: Charge | None, stages: Stages
) -> Iterator[tuple[Counts, pl.DataFrame]]:
    """Counts and kept columns of all documents not yet done, a shard at a time.

    What is read of several batches is drawn for at once: it is smaller than their texts, and
    a table may have to be gone through anew for each drawing.
    """
    waiting: list[Documents] = []
    counts: list[Counts] = []
    kept: list[pl.DataFrame] = []
    done = plan.done
    width = len(anonymizer.vocabulary.outputs)

    def draw() -> None:
        if waiting:
            counts.extend(map(compact, anonymizer.draw_in_turn(joined(waiting), stages=stages)))
            waiting.clear()

    def shard() -> tuple[Counts, pl.DataFrame]:
        """What there is, let go of here: whoever writes it needs the memory."""
        draw()
        made = stacked(counts, width), pl.concat(kept, how="vertical_relaxed")
        counts.clear()
        kept.clear()
        return made

    with stages("all documents", plan.corpus.size) as advance:
        for frame in plan.frames(advance):
            if charge is not None:
                charge.confirm(plan.names(frame))
            some = sum(map(len, waiting)) + frame.height
            if some > anonymizer.at_once or _terms(waiting) >= TERMS:
                draw()
            waiting.append(anonymizer.read(plan.texts(frame), stages=stages))
            kept.append(plan.released(frame, done))
            done += frame.height
            if (done - plan.done) % draft.SHARD == 0:
                yield shard()
    if kept:
        yield shard()


def _terms(waiting: Iterable[Documents]) -> int:
    return sum(documents.terms.size for documents in waiting)
