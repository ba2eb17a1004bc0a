"""Where a vocabulary comes from: the comment lines at the head of its file.

A file that begins with the line ``# syntf vocabulary`` has a header; it goes on for as long
as lines begin with ``# ``, most of them ``# key: value``. Whatever follows is terms, and so is
every line of a file that begins in any other way: ``#`` is no comment there.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path

from syntf.core.errors import SyntfError, quoted

FIRST = "# syntf vocabulary"
PROVENANCE = "provenance"
MORPHOLOGY = "morphology"
SOURCE_DIGEST = "source-sha256"
TEXTS_DIGEST = "texts-sha256"


@dataclass(frozen=True)
class Origin:
    """The header of a vocabulary file: keys and values, in order. A key may be repeated."""

    fields: Sequence[tuple[str, str]]

    def values(self, key: str) -> list[str]:
        return [value for name, value in self.fields if name == key]

    def fitted_on(self, digests: Set[str]) -> bool:
        """Whether the terms come from texts, or from a file, with one of these SHA-256."""
        named = [*self.values(SOURCE_DIGEST), *self.values(TEXTS_DIGEST)]
        return any(digest.lower() in digests for digest in named)

    def as_text(self) -> str:
        """The header, and the empty line that ends it whatever the first term is.

        >>> print(Origin([("source", "two\\nlines.csv"), ("documents", "3")]).as_text(), end="|")
        # syntf vocabulary
        # source: two lines.csv
        # documents: 3
        <BLANKLINE>
        |
        """
        lines = [f"# {key}: {' '.join(value.split())}" for key, value in self.fields]
        return "\n".join([FIRST, *lines, "", ""])


def read_terms(path: str | PathLike[str]) -> tuple[Origin | None, list[str]]:
    """The header of a vocabulary file, if it has one, and its terms."""
    source = Path(path)
    if not source.is_file():
        raise SyntfError(f"no vocabulary file at {source}")
    text = source.read_text(encoding="utf-8-sig", errors="replace")
    lines = [line.strip() for line in text.split("\n")]
    if lines[0] != FIRST:
        return None, [line for line in lines if line]
    end = next((i for i, line in enumerate(lines) if not line.startswith("# ")), len(lines))
    fields = [line[2:].partition(":") for line in lines[1:end]]
    origin = Origin([(key.strip().lower(), value.strip()) for key, _, value in fields])
    for value in origin.values(PROVENANCE):
        if value not in ("public", "fitted"):
            raise SyntfError(f"{source}: provenance must be public or fitted, not {quoted(value)}")
    return origin, [line for line in lines[end:] if line]


def texts_digest(texts: Iterable[str]) -> str:
    """A digest of texts in whatever order, so that a shuffled or converted file has the same.

    The sum of their SHA-256, as numbers: constant memory, and enough to recognise a corpus.

    >>> texts_digest(["a", "b"]) == texts_digest(["b", "a"]) != texts_digest(["ab", ""])
    True
    """
    each = (sha256(text.encode("utf-8", "replace")).digest() for text in texts)
    total = sum(int.from_bytes(digest) for digest in each) % (1 << 256)
    return f"{total:064x}"
