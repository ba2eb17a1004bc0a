"""Draw for the documents of a release word by word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arro3.core import Table

from syntf.core import parallel, tables
from syntf.core.counts import Counts
from syntf.core.progress import Stages, silent
from syntf.inputs.rows import Rows
from syntf.pipeline.anonymizer import Anonymizer
from syntf.privacy.guarantee import Guarantee
from syntf.releases import draft as drafts
from syntf.releases.drawing_groups import DrawingGroups
from syntf.releases.rest import Rest
from syntf.report.table_summary import TableSummary, summarize_table
from syntf.text.documents import Documents


@dataclass
class WordsRun:
    """Draws for all documents of an input and describes what was released."""

    anonymizer: Anonymizer

    @property
    def terms(self) -> Sequence[str]:
        """The columns of the counts."""
        return self.anonymizer.vocabulary.outputs

    @property
    def terms_without_vector(self) -> int:
        return self.anonymizer.vocabulary.dropped

    @property
    def notes(self) -> Sequence[str]:
        return self.anonymizer.notes

    def guarantee(self, *, kept_columns: Sequence[str], shuffled: bool) -> Guarantee:
        """Return what the release promises."""
        return self.anonymizer.guarantee(kept_columns=kept_columns, shuffled=shuffled)

    def draw(
        self, rest: Rest, draft: "drafts.Draft", progress: Stages
    ) -> Iterator[tuple[Counts, Table]]:
        """Draw for all documents that are not in the draft yet; yield shards."""
        groups = DrawingGroups(self.anonymizer, progress)
        kept: list[Table] = []
        done = rest.done

        def shard() -> tuple[Counts, Table]:
            """Empty the lists before the shard is written, which needs the memory."""
            counts, columns = groups.finish(), tables.joined(kept)
            kept.clear()
            return counts, columns

        quick = self.anonymizer.reader.table is not None

        def read(batch: Rows) -> Documents:
            return self.anonymizer.read(rest.texts(batch), stages=silent if quick else progress)

        with progress("all documents", rest.corpus.size) as advance:
            batches = rest.batches(advance)
            for batch, documents in parallel.ahead(
                read, batches, quick=quick, matrix_products=False
            ):
                groups.add(documents)
                kept.append(rest.released_columns(batch, done))
                done += batch.height
                if (done - rest.done) % drafts.SHARD == 0:
                    yield shard()
        if kept:
            yield shard()

    def seal(self, guarantee: Guarantee) -> Guarantee:
        """Return the guarantee unchanged: nothing more is known after the draws."""
        return guarantee

    def summary(self) -> TableSummary:
        """Return the figures of the table for the report."""
        anonymizer = self.anonymizer
        return summarize_table(
            anonymizer.mechanism, anonymizer.vocabulary, length=anonymizer.settings.length
        )
