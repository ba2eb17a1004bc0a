"""Encodings of text files: check their names, refuse bytes that do not fit, suggest another."""

import codecs
import io
from typing import Any, Literal

from syntf.core.errors import SyntfError

Undecodable = Literal["stop", "replace"]

UTF_8 = "utf-8-sig"
"""The default encoding: UTF-8, with a byte order mark or without."""

_NOT_OF_FILES = ("unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined")
"""Encodings that files do not have; some of them print warnings."""
_WITH_SHIFTS = ("iso2022", "hz", "utf-7")
"""Encodings in which a text can change the meaning of the bytes that follow it."""
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_NULS = 0.25
"""The share of NUL bytes from which bytes look like UTF-16 without a byte order mark."""
_FEW = 0.3
"""The largest share of bytes outside ASCII that Western European texts have."""
_BUFFER = 1 << 18


def check_encoding(encoding: str) -> None:
    """Refuse the name of an encoding that does not exist, or that cannot be read safely."""
    try:
        "".encode(encoding)
    except LookupError:
        raise SyntfError(f"no encoding is called {encoding!r}") from None
    except UnicodeError:
        raise SyntfError(f"no file is in the encoding {encoding!r}") from None
    name = codecs.lookup(encoding).name
    if name in _NOT_OF_FILES:
        raise SyntfError(f"no file is in the encoding {encoding!r}")
    if name.startswith(_WITH_SHIFTS):
        raise SyntfError(
            f"files in {encoding!r} cannot be read, since a text in this encoding can "
            "change how the next one is read: convert them to UTF-8"
        )


def codec_of(encoding: str) -> str:
    """Return the codec to decode with: UTF-8 may begin with a byte order mark."""
    return UTF_8 if encoding.lower() in ("utf-8", "utf8") else encoding


def codec_of_document(raw: bytes, codec: str) -> str:
    """Return the codec of a whole file: that of its byte order mark, unless another was given.

    >>> codec_of_document("text".encode("utf-16"), UTF_8), codec_of_document(b"text", UTF_8)
    ('utf-16', 'utf-8-sig')
    """
    return (marked_encoding(raw[:4]) or codec) if codec == UTF_8 else codec


def decodable(file: Any, codec: str, name: str) -> io.BufferedReader:
    """Return a file of the same bytes that raises SyntfError at the first undecodable one.

    The message gives the line, the likely encoding and the options that help.
    """
    return io.BufferedReader(_Decodable(file, codec, name), _BUFFER)


def decode(raw: bytes, codec: str, name: str, undecodable: Undecodable) -> str:
    """Decode a whole file; refuse or replace the bytes that do not fit."""
    try:
        return raw.decode(codec, "replace" if undecodable == "replace" else "strict")
    except UnicodeDecodeError as error:
        raise refusal(name, codec, error, raw[:4], 0) from None


def refusal(
    name: str, codec: str, error: UnicodeDecodeError, head: bytes, lines: int
) -> SyntfError:
    """Return the error for undecodable bytes, which suggests an encoding and quotes nothing.

    Parameters
    ----------
    head : the first four bytes of the file.
    lines : the lines before the bytes that `error` is about.
    """
    before = error.object[: error.start].decode(codec, "replace")
    line = lines + before.count("\n") + 1
    encoding = "utf-8" if codec == UTF_8 else codec
    likely = likely_encoding(head, error.object)
    if marked_encoding(head) == codec:
        advice = "it begins with the byte order mark of this encoding, so it is damaged"
    elif likely and likely != codec:
        advice = f"it is probably {likely}: add --encoding {likely}"
    else:
        advice = "give its encoding, such as --encoding cp1251 (Cyrillic) or gb18030 (Chinese)"
    return SyntfError(
        f"cannot read {name}: line {line} is not {encoding}; {advice}, or replace such bytes with "
        "--undecodable replace"
    )


def marked_encoding(head: bytes) -> str | None:
    """Return the encoding that a byte order mark stands for; None for UTF-8 or without a mark.

    >>> marked_encoding("text".encode("utf-16")[:4]), marked_encoding(b"text")
    ('utf-16', None)
    """
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


def likely_encoding(head: bytes, raw: bytes) -> str | None:
    """Guess the encoding of undecodable bytes for a message; None if several are as likely.

    >>> likely_encoding(b"caf", "café".encode("latin-1"))
    'cp1252'
    >>> likely_encoding(codecs.BOM_UTF16_LE + b"a ", b"")
    'utf-16'
    >>> likely_encoding(b"c\\0a\\0", "café".encode("utf-16-le"))
    'utf-16-le'
    """
    if marked := marked_encoding(head):
        return marked
    if raw.count(0) > _NULS * len(raw):
        return "utf-16-be" if raw[::2].count(0) > raw[1::2].count(0) else "utf-16-le"
    others = sum(byte >= 0x80 for byte in raw)
    for name in ("utf-8", "cp1252", "latin-1"):
        if name == "utf-8" or others < _FEW * len(raw):
            try:
                raw.decode(name)
            except UnicodeDecodeError:
                continue
            return name
    return None


class _Decodable(io.RawIOBase):
    """The bytes of a file, each decoded once, to raise an error at the first that cannot be."""

    def __init__(self, file: Any, codec: str, name: str) -> None:
        self._file, self._codec, self._name = file, codec, name
        self._decoder = codecs.getincrementaldecoder(codec)("strict")
        self._head: bytes | None = None
        self._lines = 0

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        block = self._file.read(len(into))
        if self._head is None:
            self._head = block[:4]
        try:
            text = self._decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            raise refusal(self._name, self._codec, error, self._head, self._lines) from None
        self._lines += text.count("\n")
        into[: len(block)] = block
        return len(block)
