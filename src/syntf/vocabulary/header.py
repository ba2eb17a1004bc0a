"""The header of a vocabulary file: comment lines in which its maker says where the terms come from.

A file whose first line is ``# syntf vocabulary`` has a header. It consists of the following lines
that begin with ``# ``, most of them ``# key: value``. All other lines are terms. In a file with any
other first line, every line is a term, even if it begins with ``#``.

Guarantee
---------
Whether a vocabulary is public is *declared*, by its header. It is never found out by comparing the
vocabulary with the texts of a release: the result would be visible in the release, and whoever
supplies the vocabulary could use it to test whether a text is in the corpus
(``docs/decisions/0020-declared-vocabularies.md``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from syntf.core.choices import Provenance
from syntf.core.errors import SyntfError, quoted

FIRST_LINE = "# syntf vocabulary"
PUBLIC = "public"
MORPHOLOGY = "morphology"
SOURCE_DIGEST = "source-sha256"

_PROVENANCE = "provenance"  # version 0.1 wrote "public" here without being told so
_BUILT_FROM_TEXTS = ("source", SOURCE_DIGEST, "texts-sha256", "documents")
_ALLOWED = {PUBLIC: ("yes", "no"), _PROVENANCE: ("public", "fitted")}


@dataclass(frozen=True)
class Header:
    """The keys and values of a header, in order. A key may occur several times."""

    fields: Sequence[tuple[str, str]]

    def values(self, key: str) -> list[str]:
        """Return all values of a key."""
        return [value for name, value in self.fields if name == key]

    @property
    def provenance(self) -> Provenance:
        """What the header declares the terms to be.

        ``public: yes`` declares them public, ``public: no`` or ``provenance: fitted`` fitted. A
        header without a declaration means fitted if it says that the terms were built from texts.

        >>> Header([("documents", "3")]).provenance
        'fitted'
        >>> Header([("documents", "3"), ("public", "yes")]).provenance
        'public'
        """
        if "no" in self.values(PUBLIC) or "fitted" in self.values(_PROVENANCE):
            return "fitted"
        built = any(self.values(key) for key in _BUILT_FROM_TEXTS)
        return "fitted" if built and not self.values(PUBLIC) else "public"

    def as_text(self) -> str:
        """Return the lines of the header and an empty line, which ends it whatever term follows.

        >>> print(Header([("source", "two\\nlines.csv"), ("documents", "3")]).as_text(), end="|")
        # syntf vocabulary
        # source: two lines.csv
        # documents: 3
        <BLANKLINE>
        |
        """
        lines = [f"# {key}: {' '.join(value.split())}" for key, value in self.fields]
        return "\n".join([FIRST_LINE, *lines, "", ""])


def read_terms(path: str | PathLike[str]) -> tuple[Header | None, list[str]]:
    """Return the header of a vocabulary file, or None if it has none, and its terms."""
    source = Path(path)
    if not source.is_file():
        raise SyntfError(f"no vocabulary file at {source}")
    text = source.read_text(encoding="utf-8-sig", errors="replace")
    lines = [line.strip() for line in text.split("\n")]
    if lines[0] != FIRST_LINE:
        return None, [line for line in lines if line]
    end = next((i for i, line in enumerate(lines) if not line.startswith("# ")), len(lines))
    fields = [line[2:].partition(":") for line in lines[1:end]]
    header = Header([(key.strip().lower(), value.strip()) for key, _, value in fields])
    for key, value in header.fields:
        if value not in _ALLOWED.get(key, (value,)):
            allowed = " or ".join(_ALLOWED[key])
            raise SyntfError(f"{source}: {key} must be {allowed}, not {quoted(value)}")
    return header, [line for line in lines[end:] if line]
