"""Read the headers of an untrusted Parquet file, which are structures of Thrift."""

from typing import Any

from syntf.core.errors import SyntfError

Shape = type | list[Any] | dict[int, Any]
"""What a value must be: of a type, a list of values of one shape, or a structure of such fields."""


class Byte(int):
    """A number that takes one byte. Libraries read other numbers in another way."""


def fits(value: Any, shape: Shape, *, others: bool = False) -> bool:
    """Tell whether a value has a shape, and a structure no fields but those of its shape.

    others : whether structures may have other fields, too.
    """
    if isinstance(shape, dict):
        return type(value) is dict and all(
            fits(inner, shape[at], others=others) if at in shape else others
            for at, inner in value.items()
        )
    if isinstance(shape, list):
        return type(value) is list and all(fits(one, shape[0], others=others) for one in value)
    return type(value) is shape


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
            case 1 | 2:
                byte = self.byte()
                if byte > 2:
                    raise SyntfError("a value is neither true nor false")
                return byte == 1
            case 3:
                return Byte(self.byte())
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
