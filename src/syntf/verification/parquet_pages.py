"""Check what stands between the values of a Parquet file that cannot be written again.

Another version of a library, or Spark, encodes the same values in other bytes. Here the headers of
its pages, its indexes and its statistics are read. They may have the fields alone that writers
have, and texts in them must be values of the column. A dictionary must not be larger than the
distinct values, nor a page than its values.

Guarantee
---------
What is not a value of the table fits only where values are encoded: a few bytes for each of them,
or a dictionary as large as they are, beside pages that do not use it.
"""

import zlib
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import numpy as np
import polars as pl

from syntf.core import tables
from syntf.core.errors import SyntfError
from syntf.verification.parquet_fields import BOUNDS, OFFSETS, PAGE
from syntf.verification.thrift import Shape, Thrift, fits

Fields = dict[int, Any]
"""A structure of Thrift: its fields by their numbers."""

_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
"""The types of pages that writers have."""
_TEXT_BOUNDS = 1, 2, 5, 6
"""The fields of statistics with the smallest or the largest value."""

_BYTES = 6
"""The physical type of strings."""
_WIDTHS = {0: 1, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 4, 7: 16}
"""Bytes of a value of each physical type at most; for strings, besides the string itself."""

_LARGEST_CHARACTER = "\U0010ffff".encode()

_PLAIN, _OLD_DICTIONARY, _RLE, _INDEXES, _SPLIT = 0, 2, 3, 8, 9
_DELTAS = 5, 6, 7
_UNCOMPRESSED, _SNAPPY, _GZIP, _ZSTD, _LZ4 = 0, 1, 2, 6, 7
"""The encodings and the compressions that writers use."""

_SPARE_PACKED_BYTES = 64
"""Bytes by which a packed page may exceed its content and a sixth of it; snappy takes 32."""

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_MOST_LISTED = 64
"""Entries of a list in what the footer says of a column, at most."""


@dataclass
class _Values:
    """What the rows of a row group hold in one column, lists and structures included.

    distinct : the number of distinct values.
    distinct_bytes : the size of all distinct texts as a dictionary.
    text_bytes : the size of all texts.
    texts : the distinct texts, in order.
    """

    distinct: int = 0
    distinct_bytes: int = 0
    text_bytes: int = 0
    texts: pl.Series = field(default_factory=lambda: pl.Series([], dtype=pl.Binary))

    @classmethod
    def of(cls, column: pl.Series) -> "_Values":
        found, parts = cls(), list[pl.Series]()
        for leaf in tables.leaves(column):
            if leaf.dtype == pl.String or leaf.dtype == pl.Binary:
                texts = leaf.cast(pl.Binary)
                parts.append(texts.unique())
                found.text_bytes += int(texts.bin.size().sum())
            elif leaf.dtype.is_float():  # numbers that are equal can have different bytes
                numbers = leaf.to_numpy()
                found.distinct += len(np.unique(numbers.view(f"u{numbers.itemsize}")))
            else:
                found.distinct += leaf.n_unique()
        if parts:
            found.distinct += sum(map(len, parts))
            found.distinct_bytes = sum(int(part.bin.size().sum()) + 4 * len(part) for part in parts)
            found.texts = pl.concat([part.alias("") for part in parts]).unique().sort()
        return found

    def has(self, bound: bytes) -> bool:
        """Tell whether a text is a value, its beginning, or the next larger text of that length.

        Writers shorten long texts in statistics; the largest one is then rounded up.
        """
        place = int(self.texts.search_sorted(bound)) if bound else 0
        if not bound or (place < len(self.texts) and self.texts[place].startswith(bound)):
            return True
        bound = bound.rstrip(b"\0")  # Spark rounds up what is before the largest byte or character
        while bound.endswith(_LARGEST_CHARACTER):
            bound = bound[: -len(_LARGEST_CHARACTER)]
        last = len(bound) - 1  # where the last character begins, which was rounded up
        while last > 0 and bound[last] & 0xC0 == 0x80:
            last -= 1
        starts = bound[:-1], bound[: max(0, last)]
        return place > 0 and bool(bound) and self.texts[place - 1].startswith(starts)


def check_pages(raw: bytes, footer: Fields, own: bytes) -> None:
    """Refuse a file with anything between its values; `own` is a file with the same ones."""
    table = pl.read_parquet(BytesIO(own))
    groups = footer.get(4, [])
    if len(groups) > 2 + (table.height >> 9) + (len(raw) >> 16):
        raise SyntfError("the rows are divided into very many parts")
    first = 0
    for group in groups:
        rows = table.slice(first, group[3])
        first += group[3]
        values: dict[str, _Values] = {}
        for chunk in group[1]:
            name = chunk[3][3][0].decode()
            if name not in values:
                values[name] = _Values.of(rows[name])
            _check_chunk(raw, chunk, values[name])


def _check_chunk(raw: bytes, chunk: Fields, values: _Values) -> None:
    """Check the pages of a column, its statistics and its indexes."""
    about = chunk[3]
    lists = [part for part in (*about.values(), *about.get(16, {}).values()) if type(part) is list]
    stats = [tuple(sorted(part.items())) for part in about.get(13, [])]
    if (
        any(len(part) > _MOST_LISTED for part in lists)
        or len(set(about[2])) < len(about[2])
        or len(set(stats)) < len(stats)
    ):
        raise SyntfError("the footer lists something of a column twice or very often")
    _check_statistics(about.get(12, {}), about[1], values)
    place = start = min(about[9], about.get(11) or about[9])
    end = start + about[7]
    entries = needed = found = 0
    number = 0
    locations = list[tuple[int, int]]()
    while place < end:
        reader = Thrift(raw, place)
        header = reader.struct()
        _require(header, PAGE)
        kind, size, packed = header[1], header[2], header[3]
        after = reader.place + packed
        if min(size, packed) < 0 or after > end:
            raise SyntfError("a page is larger than its column")
        body = raw[reader.place : after]
        if kind == _DICTIONARY and place == start and not header.keys() & {5, 8}:
            entries = header[7][1]
            texts = values.distinct_bytes if about[1] == _BYTES else _WIDTHS[about[1]] * entries
            if header[7][2] not in (_PLAIN, _OLD_DICTIONARY) or not (
                0 <= entries <= values.distinct and size <= texts
            ):
                raise SyntfError("a dictionary has other values than the column")
            _check_packed(body, about[4], size)
        elif kind == _DATA and not header.keys() & {7, 8}:
            page = header[5]
            _check_statistics(page.get(5, {}), about[1], values)
            _check_packed(body, about[4], size)
            needed += _most_bytes(page[1], page[2], about[1], entries)
        elif kind == _DATA_2 and not header.keys() & {5, 7}:
            page = header[8]
            _check_statistics(page.get(8, {}), about[1], values)
            levels = page[5] + page[6]
            if min(page[5], page[6]) < 0 or levels > min(size, packed):
                raise SyntfError("a page is larger than its column")
            codec = about[4] if page.get(7, True) else _UNCOMPRESSED
            _check_packed(body[levels:], codec, size - levels)
            needed += _most_bytes(page[1], page[4], about[1], entries)
        else:
            raise SyntfError("a column has a page that no writer has")
        if kind != _DICTIONARY:
            found += size
            number += page[1]
            locations.append((place, after - place))
        place = after
    if number != about[5] or found > needed + (values.text_bytes if about[1] == _BYTES else 0):
        raise SyntfError("a page holds more than the values of its column")
    if len(locations) > 2 + (number >> 6) + (found >> 14):
        raise SyntfError("a column is divided into very many pages")
    _check_indexes(raw, chunk, values, locations)


def _most_bytes(number: int, encoding: int, kind: int, entries: int) -> int:
    """Return how many bytes the levels and the values of a page can take, without their texts."""
    if number < 0:
        raise SyntfError("a page is larger than its column")
    levels = 2 * _runs(number, 3)
    if encoding in (_OLD_DICTIONARY, _INDEXES):
        return levels + _runs(number, max(1, entries).bit_length())
    if encoding == _RLE or kind == 0:
        return levels + _runs(number, 1)
    if encoding in (_PLAIN, _SPLIT):
        return levels + _WIDTHS[kind] * number
    if encoding in _DELTAS:
        return levels + 10 * number + 2048  # the last block is filled up
    raise SyntfError("a page has an encoding that no writer has")


def _runs(number: int, bits: int) -> int:
    """Return how many bytes numbers of some bits can take as runs, or as eight side by side."""
    return -(-number // 8) * (bits + 4) + 16


def _check_statistics(statistics: Fields, kind: int, values: _Values) -> None:
    for at in _TEXT_BOUNDS:
        if at in statistics:
            _check_bound(statistics[at], kind, values)


def _check_bound(bound: bytes, kind: int, values: _Values) -> None:
    if not (values.has(bound) if kind == _BYTES else len(bound) <= _WIDTHS[kind]):
        raise SyntfError("the statistics of a column name a value that it does not have")


def _check_indexes(
    raw: bytes, chunk: Fields, values: _Values, pages: list[tuple[int, int]]
) -> None:
    """Check the indexes of a column, which describe its pages one by one."""
    if 4 in chunk:
        offsets = _read_index(raw, chunk[4], chunk[5], OFFSETS)
        told = [(page[1], page[2]) for page in offsets[1]]
        if told != pages or len(offsets.get(2, pages)) != len(pages):
            raise SyntfError("an index names other pages than those of its column")
    if 6 in chunk:
        bounds = _read_index(raw, chunk[6], chunk[7], BOUNDS)
        parts = [bounds[1], bounds[2], bounds[3], bounds.get(5, pages)]
        few = all(len(bounds.get(at, [])) <= _MOST_LISTED * len(pages) for at in (6, 7))
        if not few or any(len(part) != len(pages) for part in parts):
            raise SyntfError("an index names other pages than those of its column")
        for bound in [*bounds[2], *bounds[3]]:
            _check_bound(bound, chunk[3][1], values)


def _read_index(raw: bytes, place: int, size: int, shape: Shape) -> Fields:
    reader = Thrift(raw, place)
    index: Fields = reader.struct()
    _require(index, shape)
    if reader.place != place + size:
        raise SyntfError("there are bytes after an index")
    return index


def _require(part: Fields, shape: Shape) -> None:
    """Refuse fields, and values of types, that no writer has."""
    if not fits(part, shape):
        raise SyntfError("a page or an index has a field that no writer has")


def _check_packed(packed: bytes, codec: int, size: int) -> None:
    """Refuse bytes that hold more than `size` unpacked bytes, as far as that can be seen.

    Many blocks that unpack to nothing could hold a text, so packed bytes may hardly be more.
    """
    if codec == _UNCOMPRESSED:
        right = len(packed) == size
    elif codec == _SNAPPY:
        right = Thrift(packed, 0).varint() == size
    elif codec == _GZIP:
        unpacking = zlib.decompressobj(31)
        content = unpacking.decompress(packed, size + 1)
        plain = packed[3:4] == b"\0"  # no name and no comment
        right = plain and len(content) == size and unpacking.eof and not unpacking.unused_data
    elif codec == _ZSTD:
        right = not packed or _is_one_frame(packed, size)
    elif codec == _LZ4:
        right = True  # what reads it refuses bytes behind the end
    else:
        raise SyntfError("a column is packed in a way that neither syntf nor Spark uses")
    if not right or len(packed) > size + size // 6 + _SPARE_PACKED_BYTES:
        raise SyntfError("a page holds more than the values of its column")


def _is_one_frame(packed: bytes, size: int) -> bool:
    """Tell whether bytes are one frame of Zstandard, and nothing is between its blocks.

    size : the number of unpacked bytes, which the frame may state.
    """
    flags = packed[4]
    single, stated = flags >> 5 & 1, flags >> 6
    if packed[:4] != _ZSTD_MAGIC or flags & 0b1011:  # reserved, or with a dictionary
        return False
    place = 5 if single else 6
    width = (1 if single else 0, 2, 4, 8)[stated]
    number = int.from_bytes(packed[place : place + width], "little") + (256 if width == 2 else 0)
    if width and number != size:
        return False
    place += width
    last = 0
    while not last:
        head = int.from_bytes(packed[place : place + 3], "little")
        last, kind, block = head & 1, head >> 1 & 3, head >> 3
        if kind == 3 or not (block or last) or place + 3 > len(packed):
            return False
        place += 3 + (1 if kind == 1 else block)
    return place + 4 * (flags >> 2 & 1) == len(packed)
