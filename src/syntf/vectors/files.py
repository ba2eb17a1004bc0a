"""Read files of word vectors in any supported format.

Formats are GloVe's and word2vec's text, word2vec's binary form, each plain or gzipped, and ``.npz``
with arrays ``words`` and ``vectors``. A file's bytes show its format; the suffix decides only where
a tiny word2vec file could be text or binary. Nothing is ever unpickled.
"""

import io
import re
import zlib
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Literal, cast
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError, shortened
from syntf.core.progress import Advance, Stages, silent
from syntf.vectors.quantize import Faults, Table, make_table, quantize, to_int8, word_number
from syntf.vectors.text_files import read_text

try:  # isal is three times as fast
    from isal import isal_zlib as inflating
except ImportError:  # isal does not support this platform
    inflating = zlib  # type: ignore[misc]

Kind = Literal["GloVe text", "word2vec text", "word2vec binary", "npz"]

PIECE_BYTES = 1 << 20
"""How many bytes are read at a time."""

_DAMAGED = (OSError, EOFError, zlib.error, cast(type[Exception], inflating.error))
_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?(\d{1,12})[ \t](\d{1,6})[ \t]?\r?")
_REFUSED = {
    b"\x80": "a pickle, which could run a program and is never loaded: save the vectors with "
    "gensim's save_word2vec_format",
    b"\x93NUMPY": "a .npy file, which has no words: save words and vectors with numpy.savez",
    b"\xba\x16\x4f\x2f": "a fastText model: use the .vec file beside it",
}


def read(path: str | PathLike[str], stages: Stages = silent) -> Table:
    """Read the table in a file."""
    source = _existing(path)
    try:
        with (
            source.open("rb") as file,
            stages("reading vectors", source.stat().st_size) as advance,
            closing(_read_ahead(_pieces(file, advance))) as pieces,
        ):
            head = next(pieces, b"")
            kind = _kind(head, source)
            all_pieces = chain([head], pieces)
            if kind == "npz":
                return _read_npz(io.BytesIO(b"".join(all_pieces)), source)
            header = _header(head)
            if header is not None and kind == "word2vec binary":
                return _read_binary(all_pieces, source, *header)
            return read_text(all_pieces, source, header)
    except _DAMAGED as error:
        raise SyntfError(f"cannot read {source}: {shortened(error)}") from error


def kind(path: str | PathLike[str]) -> Kind:
    """Return the format of a file, from its first bytes."""
    source = _existing(path)
    try:
        with source.open("rb") as file:
            return _kind(next(_pieces(file, lambda size: None), b""), source)
    except _DAMAGED as error:
        raise SyntfError(f"cannot read {source}: {shortened(error)}") from error


def _existing(path: str | PathLike[str]) -> Path:
    source = Path(path)
    if not source.is_file():
        raise SyntfError(f"no vector file at {source}")
    return source


def _pieces(file: BinaryIO, advance: Advance) -> Iterator[bytes]:
    """Yield the bytes of a file, decompressed if it is gzipped."""
    unpacker = None
    for piece in iter(lambda: file.read(PIECE_BYTES), b""):
        if file.tell() == len(piece) and piece[:2] == b"\x1f\x8b":
            unpacker = inflating.decompressobj(wbits=31)
        advance(len(piece))
        if unpacker is None:
            yield piece
            continue
        unpacked = []
        while piece:
            if unpacker.eof:  # padding, or another member
                piece = piece.lstrip(b"\0")
                if not piece:
                    break
                unpacker = inflating.decompressobj(wbits=31)
            unpacked.append(unpacker.decompress(piece))
            piece = unpacker.unused_data
        yield b"".join(unpacked)
    if unpacker is not None and not unpacker.eof:
        raise EOFError("the compressed data ends too early")


def _read_ahead(pieces: Iterator[bytes]) -> Generator[bytes, None, None]:
    """Yield the pieces; a thread reads and decompresses the next while one is parsed."""
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, pieces, None)
        while (piece := coming.result()) is not None:
            coming = thread.submit(next, pieces, None)
            yield piece


def _header(head: bytes) -> tuple[int, int] | None:
    """Return the number of words and dimensions if the first line is word2vec's header."""
    found = _HEADER.fullmatch(head.partition(b"\n")[0])
    return (int(found[1]), int(found[2])) if found else None


def _kind(head: bytes, source: Path) -> Kind:
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return "npz"
    for start, what in _REFUSED.items():
        if head.startswith(start):
            raise SyntfError(f"{source} is {what}")
    header = _header(head)
    if header is None:
        return "GloVe text"
    body = head.partition(b"\n")[2]
    fields = body.partition(b"\n")[0].split()
    if len(fields) == header[1] + 1 and all(map(_is_number, fields[1:])):
        return "word2vec text"
    if re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]", body[: 1 << 12]):
        return "word2vec binary"
    return "word2vec binary" if ".bin" in source.suffixes else "word2vec text"


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _read_binary(pieces: Iterable[bytes], source: Path, count: int, numbers: int) -> Table:
    """Read word2vec's binary form: a header, then each word, a space and its float32 numbers.

    The original program ends each vector with a line feed, gensim does not.
    """
    if not count or not numbers:
        raise SyntfError(f"{source}: line 1 announces {count} words of {numbers} numbers each")
    size = 4 * numbers
    words: list[str] = []
    blocks: list[NDArray[np.int8]] = []
    faults = Faults()
    rest = b""
    start = True
    for piece in pieces:
        rest += piece.partition(b"\n")[2] if start else piece
        start = False
        at, before, vectors = 0, len(words), []
        while len(words) < count:
            space = rest.find(b" ", at)
            if space < 0 or len(rest) < space + 1 + size:
                break
            words.append(rest[at:space].lstrip(b"\r\n").decode("utf-8", "replace"))
            at = space + 1 + size
            vectors.append(rest[space + 1 : at])
        rest = rest[at:]
        if vectors:
            values = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, numbers)
            matrix, largest = to_int8(values)
            blocks.append(matrix)
            faults.add_rows(largest, words[before:], before)
    if len(words) < count:
        raise SyntfError(
            f"{source}: line 1 announces {count:,} words of {numbers} numbers, and the file ends "
            f"within word {len(words) + 1:,}; the file is incomplete, or line 1 is wrong"
        )
    if rest.strip(b"\r\n"):
        raise SyntfError(
            f"{source}: line 1 announces {count:,} words of {numbers} numbers, and "
            f"{len(rest):,} bytes follow the last of them"
        )
    faults.check(source)
    return make_table(words, np.concatenate(blocks), word_number, [])


def _read_npz(file: BinaryIO, source: Path) -> Table:
    """Read arrays ``words``, of strings, and ``vectors``, one row for each word."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            if not {"words", "vectors"} <= set(arrays.files):
                raise SyntfError(
                    f"{source} is a zip file without arrays 'words' and 'vectors': unpack it, or "
                    "save yours with numpy.savez(file, words=words, vectors=vectors)"
                )
            names, values = arrays["words"], arrays["vectors"]
            if not (isinstance(names, np.ndarray) and isinstance(values, np.ndarray)):
                raise SyntfError(f"{source}: 'words' or 'vectors' is not a NumPy array")
    except SyntfError:
        raise
    except (ValueError, KeyError, BadZipFile, EOFError, NotImplementedError) as error:
        if "allow_pickle" in str(error):
            raise SyntfError(
                f"{source} holds pickled objects, which are never loaded: save the words as "
                "strings, numpy.array(words, dtype=str)"
            ) from error
        raise SyntfError(f"cannot read {source}: {shortened(error)}") from error
    if names.dtype.kind == "S":
        names = np.char.decode(names, "utf-8", "replace")
    if names.ndim != 1 or names.dtype.kind != "U":
        raise SyntfError(f"{source}: words must be a row of strings, not {names.dtype}")
    words = names.tolist()
    return make_table(words, quantize(words, values, source), word_number, [])
