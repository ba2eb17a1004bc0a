"""The lexicon of English word forms from lemminflect, read without importing lemminflect.

Importing lemminflect takes seconds if spaCy is installed, and each of its look-ups copies the
result. We only need the lemma of each form, and whether the form can be a noun.
"""

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from syntf.core.errors import SyntfError

try:  # isal is three times as fast
    from isal import isal_zlib as inflating
except ImportError:  # a platform without it
    import zlib as inflating  # type: ignore[no-redef]

_FILES = ("lemma_lu.csv.gz", "lemma_overrides.csv")
_GZIP = 31  # the number by which zlib knows a gzip file
_PARTS_OF_SPEECH = ("aux", "noun", "verb", "adj", "adv")


class Lexicon(NamedTuple):
    """The lemma of each lower-case form, and the forms that can be nouns."""

    lemmas: dict[str, str]
    nouns: frozenset[str]


@cache
def lexicon() -> Lexicon:
    """Return all forms. A form of several parts of speech has the lemma of the first of them.

    The order is auxiliary, noun, verb, adjective, adverb.

    >>> lemmas, nouns = lexicon()
    >>> [(lemmas[form], form in nouns) for form in ("mice", "playing", "gladly")]
    [('mouse', True), ('play', False), ('gladly', False)]
    """
    by_part: dict[str, dict[str, str]] = {part: {} for part in _PARTS_OF_SPEECH}
    for form, part, lemma in _entries():
        by_part[part][form] = lemma
    lemmas: dict[str, str] = {}
    for part in reversed(_PARTS_OF_SPEECH):
        lemmas |= by_part[part]
    return Lexicon(lemmas, frozenset(by_part["noun"]))


def digest() -> str:
    """Return the SHA-256 of the lexicon's files."""
    hashed = sha256()
    for name in _FILES:
        hashed.update(_read_file(name))
    return hashed.hexdigest()


@cache
def raw_lines() -> bytes:
    """Return the lines of both files: form, part of speech and lemmas, the preferred one first."""
    return inflating.decompress(_read_file(_FILES[0]), _GZIP) + b"\n" + _read_file(_FILES[1])


def offsets() -> dict[str, int]:
    """Return the position of each form in :func:`raw_lines`."""
    found, place = {}, 0
    for line in raw_lines().split(b"\n"):
        found[line.partition(b",")[0].decode()] = place
        place += len(line) + 1
    return found


def _entries() -> Iterator[tuple[str, str, str]]:
    """Yield form, part of speech and first lemma of each line; later lines override earlier ones.

    Forms with capitals are left out, because words are looked up in lower case.
    """
    for line in raw_lines().decode().split("\n"):
        if line and line[0] != "#":
            form, part, lemmas = line.strip().split(",")
            if form == form.lower():
                yield form, part.lower(), lemmas.partition("/")[0].lower()


def _read_file(name: str) -> bytes:
    package = find_spec("lemminflect")
    places = (package and package.submodule_search_locations) or [""]
    try:
        return Path(places[0], "resources", name).read_bytes()
    except OSError:
        raise SyntfError(
            f"the file {name} of lemminflect's lexicon is missing: pip install 'lemminflect==0.2.3'"
        ) from None
