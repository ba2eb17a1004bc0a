"""Put documents in a uniformly random order, with about one shard of them in memory at a time."""

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from arro3.core import Table

from syntf.core import entropy, tables
from syntf.core.counts import Counts, Rows, stack, take

Shard = tuple[Counts, Table]
"""The counts of some documents, and the columns released beside them."""

PILES = 64
"""Files that documents are dealt to at once. For more shards, each pile is dealt again."""

DEALT_TOGETHER = 1 << 16
"""The least number of documents of a pile that are dealt together."""


def shuffled(
    read: Callable[[int], Shard], shards: int, scratch: Path, source: entropy.Source
) -> Iterator[Shard]:
    """Deal every document to a random shard, then put each shard in a random order.

    Parameters
    ----------
    read : returns the shard with a number from 0 on.
    shards : the number of shards to read, and to make.
    scratch : a folder for temporary files.
    source : the random bits.
    """
    return _deal(map(read, range(shards)), shards, scratch / "pile", source)


def _deal(
    pieces: Iterable[Shard], shards: int, pile: Path, source: entropy.Source
) -> Iterator[Shard]:
    """Yield all documents of the pieces as so many shards; `pile` names the temporary files."""
    if shards < 2:
        for counts, documents in _join(pieces):
            order = entropy.permutation(source, documents.num_rows)
            yield take(counts, order), tables.taken(documents, order)
        return
    shards_per_pile = -(-shards // PILES)
    firsts = range(0, shards, shards_per_pile)
    piles = [pile.with_name(f"{pile.name}-{first}") for first in firsts]
    for counts, documents in pieces:
        pile_of = entropy.integers(source, documents.num_rows, 63) % shards // shards_per_pile
        for number, path in enumerate(piles):
            chosen = np.flatnonzero(pile_of == number)
            _append(path, take(counts, chosen), tables.taken(documents, chosen))
    for first, path in zip(firsts, piles, strict=True):
        shards_here = min(shards_per_pile, shards - first)
        yield from _deal(_join(_read(path), DEALT_TOGETHER), shards_here, path, source)


def _append(path: Path, counts: Counts, documents: Table) -> None:
    """Write a piece to the end of a pile."""
    about = np.array(counts.shape), np.frombuffer(tables.as_stream(documents), np.uint8)
    with path.open("ab") as file:
        for array in (counts.data, counts.indices, counts.indptr, *about):
            np.save(file, array)


def _read(path: Path) -> Iterator[Shard]:
    """Yield the pieces of a pile, and delete it after the last one."""
    with path.open("rb") as file:
        while file.peek(1):
            data, indices, indptr, shape, columns = (np.load(file) for _ in range(5))
            counts = Rows(data, indices, indptr, tuple(shape.tolist()))
            yield counts, tables.from_stream(columns.tobytes())
    path.unlink()


def _join(pieces: Iterable[Shard], least: float = math.inf) -> Iterator[Shard]:
    """Join pieces until they have `least` documents, or join all of them."""
    held: list[Shard] = []

    def joined() -> Shard:
        counts, documents = zip(*held, strict=True)
        held.clear()
        return stack(counts, counts[0].shape[1]), tables.joined(documents)

    for piece in pieces:
        held.append(piece)
        if sum(documents.num_rows for _, documents in held) >= least:
            yield joined()
    if held:
        yield joined()
