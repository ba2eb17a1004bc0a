"""The lexicon of a language: the lemma of each word form.

The lexicon of English is that of lemminflect, read without importing lemminflect, which takes
seconds if spaCy is installed. Other language packs have a file of lemmas in the same format: a line
``form,part of speech,lemma`` for each form.
"""

import gzip
import zlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from syntf.core.errors import SyntfError, shortened
from syntf.words.language import LanguagePack

PARTS_OF_SPEECH = ("aux", "noun", "verb", "adj", "adv", "other")
"""The parts of speech of a lexicon, the preferred one first."""

_LEMMINFLECT_FILES = ("lemma_lu.csv.gz", "lemma_overrides.csv")


@lru_cache(4)
def lemmas(pack: LanguagePack) -> pl.DataFrame:
    """Return the columns ``form`` and ``lemma``: each lower-case form once, with its lemma.

    A form of several parts of speech has the lemma of the first of :data:`PARTS_OF_SPEECH`. Of
    several lemmas for one part of speech, the first of the last line counts. Forms with capitals
    are left out, because words are looked up in lower case.

    >>> from syntf.words.language import embedded_pack
    >>> english = dict(lemmas(embedded_pack()).iter_rows())
    >>> [english.get(form) for form in ("mice", "playing", "gladly", "unixes")]
    ['mouse', 'play', 'gladly', None]
    """
    form, part, lemma = pl.col("form"), pl.col("part"), pl.col("lemma")
    lines = pl.Series("line", _lines(pack).split("\n"), dtype=pl.String).str.strip_chars_end()
    fields = lines.str.split_exact(",", 2).struct.rename_fields(["form", "part", "lemma"])
    return (
        fields.struct.unnest()
        .filter(form == form.str.to_lowercase(), ~form.str.starts_with("#"), lemma.is_not_null())
        .with_columns(
            part.str.to_lowercase().cast(pl.Enum(PARTS_OF_SPEECH), strict=False),
            lemma.str.split("/").list.first().str.to_lowercase(),
        )
        .reverse()
        .sort(part, nulls_last=True, maintain_order=True)
        .unique("form", keep="first", maintain_order=True)
        .select("form", "lemma")
    )


def _lines(pack: LanguagePack) -> str:
    """Return the text of all files of a lexicon."""
    if pack.lexicon == "lemminflect":
        return "\n".join(_read(_lemminflect_file(name)) for name in _LEMMINFLECT_FILES)
    return _read(pack.path("lemmas")) if pack.lexicon else ""


def _lemminflect_file(name: str) -> Path:
    package = find_spec("lemminflect")
    places = package and package.submodule_search_locations
    path = Path(places[0] if places else "", "resources", name)
    if not path.is_file():
        raise SyntfError(
            f"the file {name} of lemminflect's lexicon is missing: pip install 'lemminflect==0.2.3'"
        )
    return path


def _read(path: Path) -> str:
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise SyntfError(f"cannot read {path}: {shortened(error)}") from None
