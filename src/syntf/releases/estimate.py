"""Estimate how long a release takes and how large it is, from draws for some of its documents.

Guarantee
---------
None is needed: an estimate is for the owner alone. The draws are counted and forgotten, and nothing
is written.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from syntf.codebook.plan import PILOT_MOST
from syntf.core import tables
from syntf.core.counts import Counts, stack
from syntf.inputs.corpus import Corpus
from syntf.inputs.rows import Rows
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.document import DocumentAnonymizer
from syntf.releases.contents.writers import WRITERS, write_documents

MEASURED = 2000
"""At most so many documents are drawn for."""
OTHER_FILES = 35_000
"""Bytes of the files that are about the same in every release: report, guarantee, prototypes."""


@dataclass(frozen=True)
class Rate:
    """What documents cost: seconds and bytes for each, and bytes that do not depend on them."""

    seconds: float
    bytes: float
    fixed_bytes: int


def count_documents(corpus: Corpus, first: int, rest: Iterator[Rows]) -> int | None:
    """Return the number of rows of an input, counted or estimated; None if it is unknown.

    first : the number of rows of the first batch.
    rest : the other batches, of which a few may be read.

    Short inputs, folders and Parquet files are counted. Other files are read in blocks; the rows of
    the first blocks and their share of all bytes give the estimate.
    """
    rows, size = first, corpus.bytes_read
    for batch in rest:
        if set(corpus.formats) == {"folder"}:
            from syntf.inputs.formats.folder import list_folder

            folders = (path for path in corpus.paths if isinstance(path, Path))
            return sum(len(list_folder(folder).documents) for folder in folders)
        if set(corpus.formats) == {"parquet"} and all(isinstance(p, Path) for p in corpus.paths):
            import polars as pl

            files = [str(path) for path in corpus.paths]
            return int(pl.scan_parquet(files, glob=False).select(pl.len()).collect().item())
        if not corpus.bytes_read:
            return None
        if corpus.bytes_read != size:  # all rows of the blocks before were yielded
            return max(rows, round(rows * corpus.size / size)) if size else None
        rows += batch.height
    return rows


def measure(
    anonymizer: Anonymizer | DocumentAnonymizer,
    texts: Sequence[str],
    kept: Rows,
    *,
    format: str = "npz",
) -> Rate:
    """Draw for some documents and measure what they cost.

    kept : the columns that are released beside these texts.
    format : the format of the counts.
    """
    anonymizer.read(())  # what is loaded at the first use does not count
    some = texts[:MEASURED]
    began = perf_counter()
    counts = _draw(anonymizer, some)
    file = io.BytesIO()
    WRITERS[format][1](file, counts, anonymizer.outputs, 0)
    if kept.columns:
        write_documents(file, tables.of(kept[: len(some)].as_arrow()))
    seconds = perf_counter() - began
    count = max(1, len(some))
    fixed = OTHER_FILES + sum(len(term) + 1 for term in anonymizer.outputs)
    return Rate(seconds / count, file.tell() / count, fixed)


def estimate(rate: Rate, documents: int, *, whole: bool, setup: float) -> tuple[float, int]:
    """Return seconds and bytes of a release of so many documents.

    whole : whether documents are drawn for as a whole; many of them are then read twice, because
        the pilot comes first.
    setup : seconds until the first document is drawn for.

    >>> estimate(Rate(0.001, 30.0, 1000), 2000, whole=True, setup=0.5)
    (2.5, 61000)
    """
    passes = 2 if whole and documents > PILOT_MOST else 1
    size = rate.fixed_bytes + round(documents * rate.bytes)
    return setup + passes * documents * rate.seconds, size


def _draw(anonymizer: Anonymizer | DocumentAnonymizer, texts: Sequence[str]) -> Counts:
    if isinstance(anonymizer, DocumentAnonymizer):
        drawn = anonymizer.draw_singly(anonymizer.read(texts))
        return anonymizer.single.described(drawn)[0]
    return stack(anonymizer.draw_batches(anonymizer.read(texts)), len(anonymizer.outputs))
