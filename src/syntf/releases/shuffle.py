"""Documents in a uniform order, with about one shard of them in memory at a time."""

import io
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from syntf.core import entropy
from syntf.core.counts import Counts, Rows, stacked, taken
from syntf.releases.shards import Shard

PILES = 64
"""Files that documents are dealt to at once; for more shards each pile is dealt again."""

TOGETHER = 1 << 16
"""Documents of a pile that are dealt together, at least."""


def shuffled(
    read: Callable[[int], Shard], shards: int, scratch: Path, source: entropy.Source
) -> Iterator[Shard]:
    """Every document goes to a random shard; then each shard is put in a random order."""
    return _dealt(map(read, range(shards)), shards, scratch / "pile", source)


def _dealt(
    pieces: Iterable[Shard], shards: int, pile: Path, source: entropy.Source
) -> Iterator[Shard]:
    """All documents of the pieces as so many shards; `pile` names the files that they pass."""
    if shards < 2:
        yield from (_in_any_order(*one, source) for one in _together(pieces))
        return
    share = -(-shards // PILES)  # shards that come of a pile
    firsts = range(0, shards, share)
    piles = [pile.with_name(f"{pile.name}-{first}") for first in firsts]
    for counts, documents in pieces:
        goes = entropy.integers(source, documents.height, 63) % shards // share
        for place, path in enumerate(piles):
            chosen = np.flatnonzero(goes == place)
            _put(path, taken(counts, chosen), documents[chosen])
    for first, path in zip(firsts, piles, strict=True):
        own = min(share, shards - first)
        yield from _dealt(_together(_pieces(path), TOGETHER), own, path, source)


def _put(path: Path, counts: Counts, documents: pl.DataFrame) -> None:
    """One more piece at the end of a pile."""
    frame = io.BytesIO()
    documents.write_ipc(frame)
    about = np.array(counts.shape), np.frombuffer(frame.getvalue(), np.uint8)
    with path.open("ab") as file:
        for array in (counts.data, counts.indices, counts.indptr, *about):
            np.save(file, array)


def _pieces(path: Path) -> Iterator[Shard]:
    """The pieces of a pile, which is gone after the last."""
    with path.open("rb") as file:
        while file.peek(1):
            data, indices, indptr, shape, frame = (np.load(file) for _ in range(5))
            yield Rows(data, indices, indptr, tuple(shape.tolist())), pl.read_ipc(frame.tobytes())
    path.unlink()


def _together(pieces: Iterable[Shard], least: float = math.inf) -> Iterator[Shard]:
    """Pieces joined until they have so many documents, or all of them."""
    held: list[Shard] = []
    for piece in pieces:
        held.append(piece)
        if sum(documents.height for _, documents in held) >= least:
            yield _joined(held)
            held = []
    if held:
        yield _joined(held)


def _joined(pieces: Sequence[Shard]) -> Shard:
    counts, documents = zip(*pieces, strict=True)
    return stacked(counts, counts[0].shape[1]), pl.concat(documents, how="vertical_relaxed")


def _in_any_order(counts: Counts, documents: pl.DataFrame, source: entropy.Source) -> Shard:
    order = entropy.permutation(source, documents.height)
    return taken(counts, order), documents[order]
