"""Read the headers of an untrusted Parquet file, which are structures of Thrift."""

from typing import Any

from syntf.core.errors import SyntfError


class Thrift:
    """Read structures of Thrift's compact protocol, of bytes from `place` on."""

    def __init__(self, raw: bytes, place: int) -> None:
        self.raw, self.place = raw, place

    def byte(self) -> int:
        self.place += 1
        return self.raw[self.place - 1]

    def varint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                if not byte and shift > 7:  # a longer form of the same number
                    raise SyntfError("a number is too long")
                return value
            if shift > 63:
                raise SyntfError("a number is too long")

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def binary(self) -> bytes:
        size = self.varint()
        self.place += size
        if self.place > len(self.raw):
            raise EOFError
        return self.raw[self.place - size : self.place]

    def struct(self, depth: int = 0) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while kind := self.byte():
            step, kind = kind >> 4, kind & 15
            before, number = number, number + step if step else self.zigzag()
            if number <= before:  # a later value would hide the first one
                raise SyntfError("the fields of the footer are in another order")
            fields[number] = kind == 1 if kind in (1, 2) else self.value(kind, depth)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        if depth > 20:
            raise SyntfError("structures are nested too deeply")
        match kind:
            case 1 | 2 | 3:
                return self.byte()
            case 4 | 5 | 6:
                return self.zigzag()
            case 7:
                self.place += 8
                if self.place > len(self.raw):
                    raise EOFError
                return None
            case 8:
                return self.binary()
            case 9 | 10:
                head = self.byte()
                count = self.varint() if head >> 4 == 15 else head >> 4
                if count > len(self.raw):
                    raise EOFError
                return [self.value(head & 15, depth + 1) for _ in range(count)]
            case 12:
                return self.struct(depth + 1)
        raise SyntfError("an unknown kind of value")
