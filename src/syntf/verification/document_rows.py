"""Check the rows of a release of the document unit against the public lists.

The column of prototypes says which answer was released for each document. Everything else in a row
is computed from it and the lists: the label and the counts. Rows of the pilot belong to the general
list, all others to the list that the pilot's rows lead to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arro3.core import DataType, Table, list_flatten, list_offsets
from numpy.typing import NDArray

from syntf.codebook.lists import EntryList
from syntf.core import tables
from syntf.core.counts import Counts
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages
from syntf.mechanism import subsets
from syntf.pipeline.document import DocumentMechanism, Drawn
from syntf.privacy.guarantee import Guarantee
from syntf.releases.contents.prototypes import LABELS, PILOT, PROTOTYPES
from syntf.report.figures import Sparsity
from syntf.verification import files
from syntf.verification.counts_file import Expected, read_counts
from syntf.verification.document_unit import derive_general_list, unit_of
from syntf.verification.parquet_file import read_table, rows_of, values_of
from syntf.verification.release_folder import Shards, by_spark
from syntf.verification.result import Finding, NotCheckedError

MOST_ENTRIES = 1 << 27
"""Released entries that are checked unasked: a hundred million documents with one topic each."""


@dataclass(frozen=True)
class Answers:
    """The released answers of a release: what was drawn for the documents of each shard.

    sharpened : the list that the pilot led to; None without a pilot.
    """

    shards: Sequence[Drawn]
    sharpened: EntryList | None

    @property
    def lists(self) -> list[EntryList]:
        """The lists that documents answered from."""
        return [entry_list for entry_list, _ in self.shards[0].parts()] if self.shards else []


def described_columns(guarantee: Guarantee) -> list[str]:
    """Return the columns that a release of the document unit adds to the kept ones."""
    return [*([PILOT] if unit_of(guarantee).pilot else []), PROTOTYPES, LABELS]


def bound_entries(folder: Path, guarantee: Guarantee, shards: Shards, slow: bool) -> None:
    """Refuse files with more released entries than the guarantee allows, before they are read."""
    unit, total = unit_of(guarantee), 0
    for _, name in shards:
        rows = rows_of(folder / name)
        found = values_of(folder / name, PROTOTYPES)
        if found > rows * unit.draws * max(unit.size, unit.sharpened_size):
            raise SyntfError(f"{name} has more prototypes than the guarantee allows")
        total += found
    if total > MOST_ENTRIES and not slow:
        raise NotCheckedError(f"the release has {total:,} prototypes: add --slow to check them")


def check_lists(
    folder: Path,
    guarantee: Guarantee,
    mechanism: DocumentMechanism,
    shards: Shards,
    slow: bool,
) -> Finding:
    """Derive both lists, and check that every released answer is one of the right list.

    The value of the finding is :class:`Answers`.
    """
    unit = unit_of(guarantee)
    derive_general_list(guarantee, mechanism, slow)
    wanted = described_columns(guarantee)[:-1]
    frames = [tables.joined([read_table(folder / name).select(wanted)]) for _, name in shards]
    pilots = [_pilot(frame) for frame in frames]
    several = sum(int(pilot.sum()) for pilot in pilots)
    if several != unit.pilot:
        raise SyntfError(f"{several:,} rows are marked as pilot, not {unit.pilot:,}")
    general, sharpened = mechanism.general, None
    masks = pilots if unit.pilot else [~pilot for pilot in pilots]
    parts = [
        _answers(frame, mask, general, unit.draws)
        for frame, mask in zip(frames, masks, strict=True)
    ]
    if unit.pilot:
        sharpened = mechanism.sharpen(np.concatenate(parts))
        if unit.sharpened != f"sha256:{sharpened.digest}":
            raise SyntfError("the sharpened list is not the one that the pilot's rows lead to")
    drawn = []
    for frame, pilot, mask, first in zip(frames, pilots, masks, parts, strict=True):
        answers = np.zeros((frame.num_rows, unit.draws), dtype=np.int64)
        answers[mask] = first
        answers[~mask] = _answers(frame, ~mask, sharpened or general, unit.draws)
        drawn.append(Drawn(answers, pilot, general, sharpened))
    detail = f"{len(general):,} {unit.kind} derived from the codebook"
    if sharpened is not None:
        detail += f", {len(sharpened):,} from the rows of the pilot; each row fits its list"
    return Finding(detail, Answers(drawn, sharpened))


def _pilot(frame: Table) -> NDArray[np.bool_]:
    """Return which rows are of the pilot; none if there is no such column."""
    if PILOT not in frame.column_names:
        return np.zeros(frame.num_rows, dtype=bool)
    column = frame.column(PILOT)
    if not DataType.is_boolean(column.type) or column.null_count:
        raise SyntfError(f"the column {PILOT} does not say yes or no for each document")
    return np.asarray(column.to_numpy(), dtype=bool)


def _answers(
    frame: Table, chosen: NDArray[np.bool_], entry_list: EntryList, draws: int
) -> NDArray[np.int64]:
    """Return the answers of the chosen rows, if they are answers of this list."""
    column = frame.column(PROTOTYPES)
    if not tables.is_list(column.type) or not DataType.is_int32(tables.inner(column.type)):
        raise SyntfError(f"the column {PROTOTYPES} does not hold lists of numbers")
    width = draws * entry_list.size
    if column.null_count:
        raise SyntfError(f"a document does not have {width:,} prototypes")
    if not frame.num_rows:
        return np.empty((0, draws), dtype=np.int64)
    (lists,) = column.chunks
    ends = list_offsets(lists).to_numpy().astype(np.int64)
    if (np.diff(ends)[chosen] != width).any():
        raise SyntfError(f"a document does not have {width:,} prototypes")
    values = list_flatten(lists)
    if values.null_count:
        raise SyntfError("a prototype is missing")
    places = (ends[:-1] - ends[0])[chosen, None] + np.arange(width)
    sets = values.to_numpy().astype(np.int64)[places].reshape(-1, entry_list.size)
    if sets.size and not (sets.min() >= 0 and sets.max() < len(entry_list)):
        raise SyntfError("a released prototype is not in the list of its document")
    if (np.diff(sets, axis=1) <= 0).any():
        raise SyntfError("the prototypes of an answer are repeated or not in order")
    return subsets.rank(sets).reshape(-1, draws) if entry_list.size > 1 else sets.reshape(-1, draws)


def check_document_counts(
    folder: Path,
    guarantee: Guarantee,
    mechanism: DocumentMechanism,
    answers: Answers,
    shards: Shards,
    stages: Stages,
) -> Finding:
    """Check that labels and counts are those of the released prototypes.

    The value of the finding is :class:`files.CountsFound`.
    """
    files.check_counts_readable(folder, guarantee, shards)
    terms, first, uncompared = mechanism.terms, 0, list[str]()
    longest = min(guarantee.longest_row, len(terms))
    sparsity = Sparsity.count(np.empty(0, dtype=np.int64), longest)
    with stages("checking counts", sum(map(len, answers.shards))) as advance:
        for (name, rows), drawn in zip(shards, answers.shards, strict=True):
            counts, labels = mechanism.described(drawn)
            _check_labels(folder / rows, labels)
            words = np.add.reduceat(counts.data, counts.indptr[:-1]) if len(drawn) else np.empty(0)
            expected = Expected(
                terms, len(drawn), first, int(words.max(initial=1)), by_spark(guarantee),
                words.astype(np.int64),
            )  # fmt: skip
            checked = read_counts(folder / name, expected)
            if not _same(checked.counts, counts):
                raise SyntfError(f"{name}: a row is not the sum of its prototypes' term profiles")
            if not checked.compared:
                uncompared.append(name)
            sparsity += Sparsity.count(np.diff(counts.indptr), longest)
            first += len(drawn)
            advance(len(drawn))
    detail = f"each of {first:,} rows is the sum of its prototypes' term profiles"
    return Finding(detail, files.CountsFound(sparsity, uncompared))


def _check_labels(path: Path, labels: Sequence[str]) -> None:
    table = read_table(path)
    if not tables.is_string(table.column(LABELS).type) or (
        tables.values_of(table, LABELS) != list(labels)
    ):
        raise SyntfError(f"{path.name}: a label is not that of the released prototypes")


def _same(one: Counts, other: Counts) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("indptr", "indices", "data")
    )
