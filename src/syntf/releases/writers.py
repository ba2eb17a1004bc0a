"""Synthetic counts in the formats that other tools read."""

import io
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntf.core import drawing
from syntf.core.counts import Counts, matrix, wide
from syntf.releases import archive

Writer = Callable[[Path, Counts, Sequence[str], int], None]
"""Writes counts to a path; the last argument is the number of the first document."""


PIECE = 1 << 18
"""Numbers of an array that are packed at once."""

LISTED = 1 << 12
"""Documents whose lists of terms are made at once."""


def npz(path: Path, counts: Counts, terms: Sequence[str], first: int) -> None:
    """For ``scipy.sparse.load_npz``."""
    arrays = {
        "indices": counts.indices,
        "indptr": counts.indptr,
        "format": np.array(b"csr"),
        "shape": np.array(counts.shape),
        "data": counts.data,
    }

    def pack(block: slice) -> archive.Member:
        ((name, array),) = list(arrays.items())[block]
        return archive.packed(f"{name}.npy", _npy(array))

    members = list(drawing.in_blocks(pack, len(arrays), 1))
    with path.open("wb") as file:
        archive.write(file, members)


def parquet(path: Path, counts: Counts, terms: Sequence[str], first: int) -> None:
    """One row a document: its number, its terms and their counts, as lists."""
    names = pl.Series(terms, dtype=pl.String)

    def lists(start: int) -> pl.DataFrame:
        ends = counts.indptr[start : start + LISTED + 1]
        own = slice(ends[0], ends[-1])
        numbers = np.arange(first + start, first + start + len(ends) - 1)
        flat = pl.DataFrame(
            {
                "document": np.repeat(numbers, np.diff(ends)),
                "terms": names[counts.indices[own]],
                "counts": counts.data[own].astype(np.int32, copy=False),
            }
        )
        return flat.group_by("document", maintain_order=True).all()

    table = pl.concat(map(lists, range(0, max(1, counts.shape[0]), LISTED)))
    with path.open("wb") as file:
        table.write_parquet(file, row_group_size=LISTED)


def mtx(path: Path, counts: Counts, terms: Sequence[str], first: int) -> None:
    """Matrix Market: ``scipy.io.mmread``, gensim's ``MmCorpus``, R, Julia."""
    from scipy.io import mmwrite

    with path.open("wb") as file:
        mmwrite(file, matrix(counts), field="real", precision=7)  # gensim reads no other field


def svmlight(path: Path, counts: Counts, terms: Sequence[str], first: int) -> None:
    """For ``sklearn.datasets.load_svmlight_file``: columns from 1, every target 0."""
    labels = [f"{column}:" for column in range(1, counts.shape[1] + 1)]
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.writelines(f"0 {' '.join(pairs)}\n" for pairs in _numbered(counts, labels))


def jsonl(path: Path, counts: Counts, terms: Sequence[str], first: int) -> None:
    """One object a line: the number of the document, and a count for each of its terms."""
    labels = [f"{json.dumps(term)}: " for term in terms]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(
            f'{{"document": {number}, "counts": {{{", ".join(pairs)}}}}}\n'
            for number, pairs in enumerate(_numbered(counts, labels), start=first)
        )


def text(path: Path, counts: Counts, terms: Sequence[str], first: int) -> None:
    """One line a document: each word as often as it was drawn, in alphabetical order."""
    order = sorted(range(len(terms)), key=terms.__getitem__)
    words = [terms[column] for column in order]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for columns, numbers in _rows(matrix(counts)[:, order].sorted_indices()):
            drawn = (
                word
                for at, count in zip(columns, numbers, strict=True)
                for word in repeat(words[at], count)
            )
            file.write(" ".join(drawn) + "\n")


def _npy(array: NDArray[Any]) -> Iterator[bytes | memoryview]:
    """An array as a .npy file, in pieces, whole numbers as they are released."""
    header, kind = io.BytesIO(), wide(array.dtype)
    about = {**np.lib.format.header_data_from_array_1_0(array), "descr": kind.str}
    np.lib.format.write_array_header_1_0(header, about)
    yield header.getvalue()
    flat = array.reshape(-1)
    for start in range(0, flat.size, PIECE):
        piece = np.ascontiguousarray(flat[start : start + PIECE], kind)
        yield piece.view(np.uint8).data


def _numbered(counts: Counts, labels: Sequence[str]) -> Iterator[list[str]]:
    """For each document the labels of its columns, each with its count; most counts are 1."""
    once = [f"{label}1" for label in labels]
    for columns, numbers in _rows(counts):
        pairs = zip(columns, numbers, strict=True)
        yield [once[at] if count == 1 else f"{labels[at]}{count}" for at, count in pairs]


def _rows(counts: Counts) -> Iterator[tuple[list[int], list[int]]]:
    """Columns and counts of one document after the other."""
    for first, last in pairwise(counts.indptr.tolist()):
        yield counts.indices[first:last].tolist(), counts.data[first:last].tolist()


WRITERS: dict[str, tuple[str, Writer]] = {
    "npz": (".npz", npz),
    "parquet": (".parquet", parquet),
    "mtx": (".mtx", mtx),
    "svmlight": (".svmlight", svmlight),
    "jsonl": (".jsonl", jsonl),
    "text": (".txt", text),
}
"""By the name of the format: what its files end in, and how they are written."""
