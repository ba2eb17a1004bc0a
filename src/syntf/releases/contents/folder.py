"""The folder of a release: the names of its files, how they are written, where it may go."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from arro3.core import Array, ChunkedArray, DataType
from numpy.typing import NDArray

from syntf.core import tables
from syntf.core.errors import SyntfError
from syntf.core.files import sha256_of, sync
from syntf.core.release_names import CARD_FILE, PROTOTYPES_FILE, ROW_NUMBER
from syntf.privacy.guarantee import Guarantee
from syntf.releases.contents.croissant import render_card
from syntf.releases.contents.readme import render_readme
from syntf.releases.contents.writers import (
    WRITERS,
    documents_csv,
    prototypes_csv,
    write_documents,
)
from syntf.releases.shuffle import Shard
from syntf.report.document_summary import DocumentSummary
from syntf.report.figures import Sparsity
from syntf.report.page import REPORT_FILE, render_report, template_digest
from syntf.report.table_summary import TableSummary
from syntf.vocabulary.vocabulary import as_lines

_FILE_NAME = re.compile(
    r"(vectors|documents)(-\d{5})?\.[a-z]+|vocabulary\.txt|README\.txt|report\.html|guarantee\.json"
    r"|prototypes\.csv|croissant\.json"
)


@dataclass(frozen=True)
class WrittenShard:
    """What the report and the README need to know about a shard after it was written.

    sizes : the number of distinct words in each document.
    schema : the columns released beside the counts, and their types.
    """

    sizes: NDArray[np.int64]
    schema: Mapping[str, DataType]


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
    if parent.exists() and not parent.is_dir():
        raise SyntfError(f"{parent} is a file, not a folder: choose another --out")
    if not parent.is_dir():
        raise SyntfError(f"the folder {parent} does not exist: create it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise SyntfError(f"the folder {parent} cannot be written to")


def shard_names(count: int) -> list[str]:
    """Return what the names of the files of each shard have in common: nothing for a single one."""
    return [f"-{shard:05}" for shard in range(count)] if count > 1 else [""] * count


def shard_files(folder: Path, name: str, suffix: str) -> tuple[Path, Path]:
    """Return the paths of the counts and of the documents of a shard."""
    return folder / f"vectors{name}{suffix}", folder / f"documents{name}.parquet"


def spreadsheet_file(documents: Path) -> Path:
    """Return the path of the documents of a shard as CSV, which ``--format csv`` adds."""
    return documents.with_suffix(".csv")


def write_shards(
    folder: Path,
    shards: Iterable[tuple[str, Shard]],
    vocabulary: Sequence[str],
    *,
    numbered: bool,
    format: str,
) -> Iterator[WrittenShard]:
    """Write the files of shards, one after the other; number the documents anew if `numbered`."""
    suffix, write_counts = WRITERS[format]
    first = 0
    for name, (counts, documents) in shards:
        vectors, rows = shard_files(folder, name, suffix)
        with vectors.open("wb") as file:
            write_counts(file, counts, vocabulary, first)
        if numbered:
            numbers = ChunkedArray([row_numbers(first, documents.num_rows)])
            documents = documents.set_column(0, ROW_NUMBER, numbers)
        with rows.open("wb") as file:
            write_documents(file, documents)
        if format == "csv":
            spreadsheet_file(rows).write_bytes(documents_csv(documents))
        first += documents.num_rows
        yield WrittenShard(np.diff(counts.indptr), tables.types(documents))


def write_all(
    folder: Path,
    names: Sequence[str],
    shards: Iterable[WrittenShard],
    vocabulary: Sequence[str],
    guarantee: Guarantee,
    table: TableSummary | DocumentSummary,
    format: str,
) -> Guarantee:
    """Write the files of a release: first those of `shards`, lazily, then all others.

    When this returns, everything is on the disk. Returns the guarantee with the digests of all
    other files.
    """
    schema: Mapping[str, DataType] = {}
    longest = min(guarantee.longest_row, len(vocabulary))
    sparsity = Sparsity.count(np.array([], dtype=np.int64), longest)
    for shard in shards:
        schema = shard.schema
        sparsity += Sparsity.count(shard.sizes, longest)
    pattern = "-*" if len(names) > 1 else ""
    vectors, rows = shard_files(Path(), pattern, WRITERS[format][0])
    (folder / "vocabulary.txt").write_bytes(as_lines(vocabulary).encode())
    if isinstance(table, DocumentSummary):
        (folder / PROTOTYPES_FILE).write_bytes(prototypes_csv(table))
    text = render_readme(guarantee, sparsity.documents, list(schema), vectors.name, rows.name)
    (folder / "README.txt").write_bytes(text.encode())
    (folder / REPORT_FILE).write_bytes(render_report(guarantee, table, sparsity).encode())
    files = digests(folder)
    card = render_card(guarantee, sparsity.documents, schema, vectors.name, files)
    (folder / CARD_FILE).write_bytes(card)
    files[CARD_FILE] = f"sha256:{sha256(card).hexdigest()}"
    files = dict(sorted(files.items()))
    sealed = replace(guarantee, files=files, template=template_digest())
    (folder / "guarantee.json").write_bytes(sealed.as_json().encode())
    for path in [*folder.iterdir(), folder]:
        sync(path)
    return sealed


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file in a folder, by name, sorted."""
    return {path.name: f"sha256:{sha256_of(path)}" for path in sorted(folder.iterdir())}


def row_numbers(first: int, count: int) -> Array:
    """Return the column that numbers documents, from `first` on."""
    return tables.numbers(np.arange(first, first + count, dtype=np.int64))


def _is_release(folder: Path) -> bool:
    """Return whether a folder is empty, or holds the files of a release and nothing else."""
    found = {path.name for path in folder.iterdir()}
    return not found or ("guarantee.json" in found and all(map(_FILE_NAME.fullmatch, found)))
