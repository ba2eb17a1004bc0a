"""The lexicon of a language: the lemma of each word form, and whether it can be a noun.

The lexicon of English is that of lemminflect, read without importing lemminflect: importing it
takes seconds if spaCy is installed, and each of its look-ups copies the result. Other language
packs have a file of lemmas in the same format, a line ``form,part of speech,lemma`` for each form.
"""

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, cast

from syntf.core.errors import SyntfError, shortened
from syntf.language.pack import LEMMINFLECT, LanguagePack

PARTS_OF_SPEECH = ("aux", "noun", "verb", "adj", "adv", "other")
"""The parts of speech of a lexicon, the preferred one first."""

try:  # isal is three times as fast
    from isal import isal_zlib as inflating
except ImportError:  # a platform without it
    import zlib as inflating  # type: ignore[no-redef]

_FILES = ("lemma_lu.csv.gz", "lemma_overrides.csv")
_DAMAGED = (EOFError, cast(type[Exception], inflating.error))
_GZIP = 31  # the number by which zlib knows a gzip file


class Lexicon(NamedTuple):
    """The lemma of each lower-case form, and the forms that can be nouns."""

    lemmas: dict[str, str]
    nouns: frozenset[str]


@cache
def lexicon(pack: LanguagePack | None = None) -> Lexicon:
    """Return all forms of a language pack, by default of the embedded English one.

    A form of several parts of speech has the lemma of the first of :data:`PARTS_OF_SPEECH`.

    >>> lemmas, nouns = lexicon()
    >>> [(lemmas[form], form in nouns) for form in ("mice", "playing", "gladly")]
    [('mouse', True), ('play', False), ('gladly', False)]
    """
    by_part: dict[str, dict[str, str]] = {part: {} for part in PARTS_OF_SPEECH}
    for form, part, lemma in _entries(pack):
        by_part[part][form] = lemma
    lemmas: dict[str, str] = {}
    for part in reversed(PARTS_OF_SPEECH):
        lemmas |= by_part[part]
    return Lexicon(lemmas, frozenset(by_part["noun"]))


def digest(pack: LanguagePack | None = None) -> str:
    """Return the SHA-256 of the lexicon's files."""
    if not _is_lemminflect(pack):
        return pack.files["lemmas"][1] if pack and pack.lexicon else ""
    hashed = sha256()
    for name in _FILES:
        hashed.update(_read_file(name))
    return hashed.hexdigest()


@cache
def raw_lines(pack: LanguagePack | None = None) -> bytes:
    """Return the lines of all files: form, part of speech and lemmas, the preferred one first."""
    if _is_lemminflect(pack):
        return inflating.decompress(_read_file(_FILES[0]), _GZIP) + b"\n" + _read_file(_FILES[1])
    if pack is None or not pack.lexicon:
        return b""
    try:
        return inflating.decompress(pack.path("lemmas").read_bytes(), _GZIP)
    except (OSError, *_DAMAGED) as error:
        raise SyntfError(f"cannot read {pack.path('lemmas')}: {shortened(error)}") from None


def offsets(pack: LanguagePack | None = None) -> dict[str, int]:
    """Return the position of each form in :func:`raw_lines`."""
    found, place = {}, 0
    for line in raw_lines(pack).split(b"\n"):
        found[line.partition(b",")[0].decode()] = place
        place += len(line) + 1
    return found


def _is_lemminflect(pack: LanguagePack | None) -> bool:
    return pack is None or pack.lexicon == LEMMINFLECT


def _entries(pack: LanguagePack | None) -> Iterator[tuple[str, str, str]]:
    """Yield form, part of speech and first lemma of each line; later lines override earlier ones.

    Forms with capitals are left out, because words are looked up in lower case.
    """
    for line in raw_lines(pack).decode().split("\n"):
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
