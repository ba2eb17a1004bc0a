"""The lexicon of English word forms that lemminflect brings, read without importing lemminflect.

Its import takes seconds where spaCy is installed, and each look-up copies what it finds; all
that is needed of it is the lemma of each form, and whether the form may be a noun.
"""

import gzip
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from syntf.core.errors import SyntfError

_FILES = ("lemma_lu.csv.gz", "lemma_overrides.csv")
_PARTS = ("aux", "noun", "verb", "adj", "adv")


class Lexicon(NamedTuple):
    """The lemma of each lower-case form, and the forms that may be nouns."""

    lemmas: dict[str, str]
    nouns: frozenset[str]


@cache
def lexicon() -> Lexicon:
    """All forms; one that several parts of speech share has the lemma of the first of them.

    Their order is auxiliary, noun, verb, adjective, adverb.

    >>> lemmas, nouns = lexicon()
    >>> [(lemmas[form], form in nouns) for form in ("mice", "playing", "gladly")]
    [('mouse', True), ('play', False), ('gladly', False)]
    """
    by_part: dict[str, dict[str, str]] = {part: {} for part in _PARTS}
    for form, part, lemma in _entries():
        by_part[part][form] = lemma
    lemmas: dict[str, str] = {}
    for part in reversed(_PARTS):
        lemmas |= by_part[part]
    return Lexicon(lemmas, frozenset(by_part["noun"]))


def digest() -> str:
    """The SHA-256 of the files: it changes with whatever changes a lemma."""
    found = sha256()
    for name in _FILES:
        found.update(_bytes(name))
    return found.hexdigest()


@cache
def spelled() -> bytes:
    """The lines of both files: form, part of speech and lemmas, the preferred first."""
    return gzip.decompress(_bytes(_FILES[0])) + b"\n" + _bytes(_FILES[1])


def places() -> dict[str, int]:
    """Where in :func:`spelled` each form stands."""
    found, place = {}, 0
    for line in spelled().split(b"\n"):
        found[line.partition(b",")[0].decode()] = place
        place += len(line) + 1
    return found


def _entries() -> Iterator[tuple[str, str, str]]:
    """Form, part of speech and first lemma of each line; a later line stands for an earlier one.

    Forms with capitals are left out: words are looked up in lower case.
    """
    for line in spelled().decode().split("\n"):
        if line and line[0] != "#":
            form, part, lemmas = line.strip().split(",")
            if form == form.lower():
                yield form, part.lower(), lemmas.partition("/")[0].lower()


def _bytes(name: str) -> bytes:
    package = find_spec("lemminflect")
    places = (package and package.submodule_search_locations) or [""]
    try:
        return Path(places[0], "resources", name).read_bytes()
    except OSError:
        raise SyntfError(
            f"lemminflect's lexicon has no file {name}: pip install 'lemminflect==0.2.3'"
        ) from None
