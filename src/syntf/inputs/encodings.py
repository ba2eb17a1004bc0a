"""Encodings of texts: check their names, and decode bytes so that no text can stop a run."""

import codecs

from syntf.core.errors import SyntfError

UTF_8 = "utf-8-sig"
"""The default encoding: UTF-8, with a byte order mark or without."""

_NOT_OF_TEXTS = ("unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined")
"""Encodings that no text has; some refuse whole texts, others print warnings."""
_WITH_SHIFTS = ("iso2022", "hz", "utf-7")
"""Encodings in which a text can change the meaning of the bytes that follow it."""
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip


def codec_of(encoding: str) -> str:
    """Return the codec of a file's encoding; refuse a name that no file can be read with."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(encoding)  # some codecs, such as base64, are not of texts
        if name not in _NOT_OF_TEXTS and not name.startswith(_WITH_SHIFTS):
            return UTF_8 if name == "utf-8" else encoding
    except (LookupError, ValueError):
        pass
    raise SyntfError(
        f"{encoding!r} is no encoding in which every text can be read by itself: name another one, "
        "such as cp1252, or convert the files to UTF-8"
    )


def marked_codec(head: bytes, codec: str) -> str:
    """Return the codec that a byte order mark stands for, unless another than UTF-8 was chosen.

    >>> marked_codec("text".encode("utf-16"), UTF_8), marked_codec(b"text", UTF_8)
    ('utf-16', 'utf-8-sig')
    """
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), codec)
    return marked if codec == UTF_8 else codec


def decoded(raw: bytes, declared: str, otherwise: str) -> str:
    """Decode a text by the encoding that it declares itself; replace what does not fit.

    Any name may be declared. One that no text has, or that is unknown, gives way to `otherwise`.

    >>> decoded(b"caf\\xe9", "cp1252", UTF_8), decoded(b"caf\\xe9", "idna", "latin-1")
    ('café', 'café')
    """
    try:
        if codecs.lookup(declared).name not in _NOT_OF_TEXTS:
            return raw.decode(declared, "replace")
    except (LookupError, ValueError):  # ValueError: a name with NUL, or a codec that refuses bytes
        pass
    return raw.decode(otherwise, "replace")


def without_surrogates(value: str) -> str:
    """Replace halves of surrogate pairs, which some formats can spell but no file can hold.

    >>> without_surrogates("caf\\u00e9"), without_surrogates("a\\ud83d")
    ('café', 'a?')
    """
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
