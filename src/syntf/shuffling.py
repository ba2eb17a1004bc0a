"""Documents in a uniform order, with one shard of them in memory at a time."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix, load_npz, vstack

from syntf import entropy
from syntf.shards import Shard, write_counts, write_parquet


def shuffled(
    read: Callable[[int], Shard], shards: int, scratch: Path, source: entropy.Source
) -> Iterator[Shard]:
    """Every document goes to a random shard; then each shard is put in a random order."""
    if shards == 1:
        yield _in_any_order(*read(0), source)
        return
    for shard in range(shards):
        counts, documents = read(shard)
        goes = entropy.integers(source, documents.height, 63) % shards
        for target in range(shards):
            chosen = np.flatnonzero(goes == target)
            piece = scratch / f"piece-{target}-{shard}"
            write_counts(piece.with_suffix(".npz"), counts[chosen])
            write_parquet(piece.with_suffix(".parquet"), documents[chosen])
    for target in range(shards):
        pieces = [scratch / f"piece-{target}-{shard}" for shard in range(shards)]
        counts = vstack(
            [load_npz(piece.with_suffix(".npz")) for piece in pieces], format="csr"
        ).astype(np.int32)
        documents = pl.concat(
            [pl.read_parquet(piece.with_suffix(".parquet").read_bytes()) for piece in pieces],
            how="vertical_relaxed",
        )
        for piece in pieces:
            piece.with_suffix(".npz").unlink()
            piece.with_suffix(".parquet").unlink()
        yield _in_any_order(counts, documents, source)


def _in_any_order(counts: csr_matrix, documents: pl.DataFrame, source: entropy.Source) -> Shard:
    order = entropy.permutation(source, documents.height)
    return counts[order], documents[order]
