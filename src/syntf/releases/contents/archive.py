"""Write .npz files: zip archives of arrays, compressed fast, with the same bytes every time.

The standard library compresses with zlib alone, which takes fifteen times as long for counts, and
stamps each member with the time. Members are compressed in memory, so a file is written once from
front to back. Numbers that do not fit 32 bits use the 64-bit fields of the format (zip64).
"""

import io
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.parallel import in_blocks

try:  # four times as fast as zlib at its fastest, and as small as zlib at its default
    from isal import isal_zlib as deflating

    LEVEL = 3
except ImportError:  # a platform without it
    deflating = zlib  # type: ignore[misc]
    LEVEL = 1

PIECE = 1 << 18
"""Numbers of an array that are converted and compressed at once."""

LARGE = 0xFFFFFFFF
"""Numbers from here on are written to a 64-bit field."""

_IN_OTHER_FIELD = 0xFFFFFFFF  # stands in the 32-bit field of such a number
_DEFLATED, _DATE = 8, 0x21  # the method, and midnight on the first day of 1980
_PLAIN, _WITH_64_BITS = 20, 45  # versions of the format that a reader must know


def write_arrays(
    file: IO[bytes], arrays: Mapping[str, NDArray[Any]], types: Mapping[str, np.dtype[Any]]
) -> None:
    """Write arrays, each converted to its type; ``numpy.load`` reads them."""
    write(file, list(pack_arrays(arrays, types)))


def pack_arrays(
    arrays: Mapping[str, NDArray[Any]], types: Mapping[str, np.dtype[Any]]
) -> Iterator["Member"]:
    """Yield arrays as members of an archive, each converted to its type; several threads pack."""
    names = list(arrays)

    def pack_one(block: slice) -> Member:
        name = names[block.start]
        return packed(f"{name}.npy", npy_pieces(arrays[name], types[name]))

    yield from in_blocks(pack_one, len(names), 1)


@dataclass(frozen=True)
class Member:
    """A file in an archive, compressed."""

    name: bytes
    crc: int
    size: int
    packed: Sequence[bytes]

    @property
    def packed_size(self) -> int:
        return sum(map(len, self.packed))

    def entry(self, start: int) -> bytes:
        """Return the entry in the list at the end of the archive; this member begins at `start`."""
        narrow, extra = _fields(self.size, self.packed_size, start)
        return (
            struct.pack("<4sH", b"PK\1\2", _WITH_64_BITS)
            + self._common(narrow[:2], bool(extra))
            + struct.pack("<HHHHHLL", len(self.name), len(extra), 0, 0, 0, 0, narrow[2])
            + self.name
            + extra
        )

    def header(self) -> bytes:
        """Return the bytes before the member. There both sizes have 64-bit fields, or neither."""
        narrow, extra = _fields(self.size, self.packed_size)
        if extra:
            narrow, extra = [_IN_OTHER_FIELD] * 2, _extra(self.size, self.packed_size)
        lengths = struct.pack("<HH", len(self.name), len(extra))
        return b"PK\3\4" + self._common(narrow, bool(extra)) + lengths + self.name + extra

    def _common(self, sizes: Sequence[int], large: bool) -> bytes:
        size, packed = sizes
        version = _WITH_64_BITS if large else _PLAIN
        return struct.pack("<HHHHHLLL", version, 0, _DEFLATED, 0, _DATE, self.crc, packed, size)


def packed(name: str, content: Iterable[bytes | memoryview]) -> Member:
    """Compress a member that is given in pieces."""
    packer = deflating.compressobj(LEVEL, deflating.DEFLATED, -15)
    crc, size, pieces = 0, 0, []
    for piece in content:
        crc = deflating.crc32(piece, crc)
        size += len(piece)
        pieces.append(packer.compress(piece))
    return Member(name.encode("ascii"), crc, size, [*pieces, packer.flush()])


def write(file: IO[bytes], members: Sequence[Member]) -> None:
    """Write all members, then the list of them."""
    place, entries = 0, []
    for member in members:
        entries.append(member.entry(place))
        parts = [member.header(), *member.packed]
        file.writelines(parts)
        place += sum(map(len, parts))
    count, size = len(entries), sum(map(len, entries))
    (narrow_size, narrow_place), extra = _fields(size, place)
    if extra:
        versions = _WITH_64_BITS, _WITH_64_BITS
        entries += [
            struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, *versions, 0, 0, count, count, size, place),
            struct.pack("<4sLQL", b"PK\6\7", 0, place + size, 1),
        ]
    end = struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, count, count, narrow_size, narrow_place, 0)
    file.writelines([*entries, end])


def npy_pieces(array: NDArray[Any], kind: np.dtype[Any]) -> Iterator[bytes | memoryview]:
    """Yield the pieces of a .npy file that holds an array, converted to `kind`."""
    header = io.BytesIO()
    about = {**np.lib.format.header_data_from_array_1_0(array), "descr": kind.str}
    np.lib.format.write_array_header_1_0(header, about)
    yield header.getvalue()
    flat = array.reshape(-1)
    for start in range(0, flat.size, PIECE):
        piece = np.ascontiguousarray(flat[start : start + PIECE], kind)
        yield piece.view(np.uint8).data


def _fields(*numbers: int) -> tuple[list[int], bytes]:
    """Return numbers for 32-bit fields, and the field with those that are too large."""
    large = [number for number in numbers if number >= LARGE]
    narrow = [_IN_OTHER_FIELD if number >= LARGE else number for number in numbers]
    return narrow, _extra(*large) if large else b""


def _extra(*numbers: int) -> bytes:
    return struct.pack(f"<HH{len(numbers)}Q", 1, 8 * len(numbers), *numbers)
