"""The lexicon of a language: the lemma of each word form.

The lexicon of English is that of lemminflect, read without importing lemminflect, which takes
seconds if spaCy is installed. Other language packs have a file of lemmas in the same format: a line
``form,part of speech,lemma`` for each form.
"""

import gzip
from functools import lru_cache
from importlib.metadata import distribution
from pathlib import Path

import polars as pl

from syntf.words.language import PARTS_OF_SPEECH, LanguagePack

_LEMMINFLECT_FILES = ("lemma_lu.csv.gz", "lemma_overrides.csv")


@lru_cache(4)
def lemmas(pack: LanguagePack) -> pl.DataFrame:
    """Return the columns ``form`` and ``lemma``: each lower-case form once, with its lemma.

    A form of several parts of speech has the lemma of the first of
    :data:`~syntf.words.language.PARTS_OF_SPEECH`. Of several lemmas for one part of speech, the
    first of the last line counts. Forms with capitals are left out, because words are looked up in
    lower case.

    >>> from syntf.words.language import embedded_pack
    >>> english = dict(lemmas(embedded_pack()).iter_rows())
    >>> [english.get(form) for form in ("mice", "playing", "gladly", "unixes")]
    ['mouse', 'play', 'gladly', None]
    """
    form, part, lemma = pl.col("form"), pl.col("part"), pl.col("lemma")
    paths = [pack.path("lemmas")] if pack.lexicon == "lemmas" else []
    if pack.lexicon == "lemminflect":
        resources = Path(str(distribution("lemminflect").locate_file("lemminflect/resources")))
        paths = [resources / name for name in _LEMMINFLECT_FILES]
    raw = [path.read_bytes() for path in paths]
    plain = [gzip.decompress(one) if one.startswith(b"\x1f\x8b") else one for one in raw]
    lines = pl.Series("line", b"\n".join(plain).decode().split("\n")).str.strip_chars_end()
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
