"""Strings that any file can hold: half a surrogate pair, which some formats can spell, is none."""

from typing import Any

UTF_8 = "utf-8-sig"
"""The encoding of files where none is said, with a byte order mark or without."""


def whole(value: Any) -> Any:
    """A string, or the strings in a list, with what cannot be encoded replaced.

    >>> whole(["caf\\u00e9", "\\ud83d", 7])
    ['café', '?', 7]
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [whole(item) for item in value]
    return value
