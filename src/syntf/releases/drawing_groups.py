"""Draw for documents in groups of a fixed number.

Which random bits a document uses must not depend on the texts of other documents. Input comes in
batches that end by bytes, so its batches must not decide what is drawn for at once. Groups are
counted in documents, from the beginning of a shard. They are large, since some mechanisms go
through a whole table for each drawing.
"""

from itertools import count

from syntf.core import entropy
from syntf.core.counts import Counts, compact, stack
from syntf.core.progress import Stages
from syntf.pipeline.anonymizer import Anonymizer
from syntf.text.documents import Documents, concatenate

WAITING_TERMS = 1 << 24
"""Known terms of waiting documents, after which a group is drawn for in parts."""


class DrawingGroups:
    """The documents of a shard that were read, drawn for in groups of a fixed number.

    A group with very many terms is drawn for in parts, to save memory. Each document then uses the
    same random bits as if the group were drawn for at once.
    """

    def __init__(self, anonymizer: Anonymizer, progress: Stages) -> None:
        self._anonymizer, self._progress = anonymizer, progress
        self._size = anonymizer.batch_documents
        self._waiting: list[Documents] = []
        self._counts: list[Counts] = []
        self._bits: list[bytes] = []
        self._drawn = 0  # documents of the current group that were drawn for

    def add(self, documents: Documents) -> None:
        """Add documents that were read, and draw for every group that is complete."""
        first = 0
        while first < len(documents):
            room = self._size - self._drawn - sum(map(len, self._waiting))
            last = min(first + room, len(documents))
            self._waiting.append(_part(documents, first, last))
            if last - first == room:
                self._draw(last_part=True)
            elif sum(some.terms.size for some in self._waiting) >= WAITING_TERMS:
                self._draw(last_part=False)
            first = last

    def finish(self) -> Counts:
        """Draw for the documents that wait, and return the counts of the whole shard."""
        if self._waiting:
            self._draw(last_part=True)
        self._drawn, self._bits = 0, []
        counts = stack(self._counts, len(self._anonymizer.vocabulary.outputs))
        self._counts = []
        return counts

    def _draw(self, *, last_part: bool) -> None:
        documents = concatenate(self._waiting)
        source = self._anonymizer.source
        if self._drawn or not last_part:
            source = self._shared_bits(len(documents))
        drawn = self._anonymizer.draw_rows(documents, source=source, stages=self._progress)
        self._counts.append(compact(drawn))
        self._waiting.clear()
        self._drawn += len(documents)
        if last_part:
            self._drawn, self._bits = 0, []

    def _shared_bits(self, documents: int) -> entropy.Source:
        """Return a source for the next documents of a group, from bits for the whole group."""
        calls = count()

        def source(size: int) -> bytes:
            each, call = size // documents, next(calls)
            if call == len(self._bits):
                self._bits.append(self._anonymizer.source(each * self._size))
            return self._bits[call][each * self._drawn : each * (self._drawn + documents)]

        return source


def _part(documents: Documents, first: int, last: int) -> Documents:
    starts = documents.starts[first : last + 1]
    return Documents(starts - starts[0], documents.terms[starts[0] : starts[-1]])
