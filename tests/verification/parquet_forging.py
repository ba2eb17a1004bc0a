"""Take a Parquet file apart, change its pages and its footer, and put it together again."""

from dataclasses import dataclass, field

MAGIC = b"PAR1"
BINARY, LIST, STRUCT, I32, I64 = 8, 9, 12, 5, 6


class Reader:
    """Structures of Thrift with the kind of each field, to write them again."""

    def __init__(self, raw, place):
        self.raw, self.place = raw, place

    def byte(self):
        self.place += 1
        return self.raw[self.place - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def struct(self):
        fields, number = {}, 0
        while head := self.byte():
            number += head >> 4
            kind = head & 15
            fields[number] = (kind, kind == 1 if kind in (1, 2) else self.value(kind))
        return fields

    def value(self, kind):
        if kind in (1, 2, 3):
            return self.byte()
        if kind in (4, 5, 6):
            value = self.varint()
            return value >> 1 ^ -(value & 1)
        if kind == BINARY:
            size = self.varint()
            self.place += size
            return self.raw[self.place - size : self.place]
        if kind == LIST:
            head = self.byte()
            count = self.varint() if head >> 4 == 15 else head >> 4
            return head & 15, [self.value(head & 15) for _ in range(count)]
        assert kind == STRUCT
        return self.struct()


def varint(value):
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def written(kind, value):
    """The bytes of a value."""
    if kind in (1, 2, 3):
        return bytes([value])
    if kind in (4, 5, 6):
        return varint(value << 1 if value >= 0 else (-value << 1) - 1)
    if kind == BINARY:
        return varint(len(value)) + value
    if kind == LIST:
        inner, items = value
        head = bytes([min(len(items), 15) << 4 | inner])
        head += varint(len(items)) if len(items) >= 15 else b""
        return head + b"".join(written(inner, item) for item in items)
    parts, number = [], 0
    for at, (inner, item) in sorted(value.items()):
        inner = (1 if item else 2) if inner in (1, 2) else inner
        parts.append(bytes([at - number << 4 | inner]))
        parts.append(b"" if inner in (1, 2) else written(inner, item))
        number = at
    return b"".join(parts) + b"\0"


def disguised(at, secret):
    """A text that holds an unknown field and then a number as field `at`, as libraries read it.

    They do so if they expect a number in its place.
    """
    unknown = bytes([BINARY]) + varint(100 << 1) + varint(len(secret)) + secret
    return unknown + bytes([I64]) + varint(at << 1) + varint(0)


@dataclass
class Column:
    """A column chunk: what the footer says of it, and each page as its header and its bytes."""

    chunk: dict
    pages: list = field(default_factory=list)
    behind: bytes = b""
    """Bytes behind the pages, to which another field of the footer may point."""

    @property
    def about(self):
        return self.chunk[3][1]

    def add(self, page, more, *, values=0):
        """Add bytes to a page, which is not packed, and values to its number of values."""
        header, body = self.pages[page]
        header[2] = header[3] = (I32, len(body + more))
        inner = header[7 if 7 in header else 5][1]
        inner[1] = (I32, inner[1][1] + values)
        self.pages[page] = header, body + more


class ParquetFile:
    """A file whose parts can be changed. Its indexes are left out."""

    def __init__(self, raw):
        size = int.from_bytes(raw[-8:-4], "little")
        self.footer = Reader(raw, len(raw) - 8 - size).struct()
        self.columns = []
        for group in self.footer[4][1][1]:
            for chunk in group[1][1][1]:
                for at in (4, 5, 6, 7):
                    chunk.pop(at, None)
                column = Column(chunk)
                about = column.about
                place = min(about[9][1], about.get(11, about[9])[1])
                end = place + about[7][1]
                while place < end:
                    reader = Reader(raw, place)
                    header = reader.struct()
                    place = reader.place + header[3][1]
                    column.pages.append((header, raw[reader.place : place]))
                self.columns.append(column)

    def column(self, name):
        return next(one for one in self.columns if one.about[3][1][1][0] == name.encode())

    def bytes(self):
        """The file, with all places and sizes computed again."""
        raw = MAGIC
        for column in self.columns:
            about, start = column.about, len(raw)
            for header, body in column.pages:
                about[11 if header[1][1] == 2 else 9] = (I64, len(raw))
                raw += written(STRUCT, header) + body
            about[7] = (I64, len(raw) - start)
            for at, size_at, kind in ((14, 15, about), (4, 5, column.chunk), (6, 7, column.chunk)):
                if at in kind:
                    kind[at], kind[size_at] = (I64, len(raw)), (I32, len(column.behind))
                    raw += column.behind
        footer = written(STRUCT, self.footer)
        return raw + footer + len(footer).to_bytes(4, "little") + MAGIC
