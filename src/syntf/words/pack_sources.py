"""Read what a language pack is made from: word vectors, lemmas and word lists.

Word vectors come from a file or a spaCy pipeline; lemmas from a file, a spaCy pipeline, simplemma,
pymorphy3 (Russian and Ukrainian) or SudachiPy (Japanese); stop words and words for numbers from
files, or from spaCy's data on the language, which needs no pipeline. Nothing is downloaded.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.metadata import metadata
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from syntf.core.errors import SyntfError, shortened
from syntf.core.extras import needed_for
from syntf.settings import SPACY
from syntf.words.adapters import from_pipeline, load_pipeline
from syntf.words.language import PARTS_OF_SPEECH, Source
from syntf.words.vectors import WordVectors

UNKNOWN_LICENCE = "not stated"

_VECTORS = "words, vectors, vocabulary, topical, codebook"
_PARTS = {
    "propn": "noun", "infn": "verb", "adjf": "adj", "advb": "adv",
    "名詞": "noun", "動詞": "verb", "形容詞": "adj", "形状詞": "adj", "副詞": "adv",
}  # fmt: skip
"""Parts of speech of spaCy, pymorphy3 and Sudachi that have another name here."""


class Lemma(NamedTuple):
    """A word form, its part of speech and its dictionary form."""

    form: str
    part: str
    lemma: str


def read_vectors(
    given: str | PathLike[str], licence: str | None
) -> tuple[WordVectors, int, Source]:
    """Read word vectors from a file or ``spacy:MODEL``.

    Return the vectors, how many of the first of them belong to their word alone, and their source.
    """
    name = fspath(given)
    if name.startswith(SPACY):
        pipeline = load_pipeline(name.removeprefix(SPACY))
        table, own = from_pipeline(pipeline)
        return WordVectors(*table), own, _pipeline_source(_VECTORS, pipeline, licence)
    vectors = WordVectors.read(name)
    source = Source(_VECTORS, Path(name).name, licence or UNKNOWN_LICENCE)
    return vectors, len(vectors.words), source


def read_lemmas(given: str, code: str, words: Sequence[str]) -> tuple[list[Lemma], Source]:
    """Return the lemmas of words from a file or a package, and where they come from.

    given : a file with ``form``, ``lemma`` and perhaps the part of speech in each line, divided
        by tabs; or ``spacy:MODEL``, ``simplemma``, ``pymorphy3`` or ``sudachi``.
    """
    if given.startswith(SPACY):
        pipeline = load_pipeline(given.removeprefix(SPACY))
        return list(_spacy_lemmas(pipeline, words)), _pipeline_source("lemmas", pipeline)
    if given in _PACKAGES:
        read, package = _PACKAGES[given]
        with needed_for(f"--lemmas {given}", "languages"):
            return list(read(code, words)), _package_source("lemmas", package)
    path = Path(given)
    return list(_file_lemmas(path)), Source("lemmas", path.name, UNKNOWN_LICENCE)


def read_word_list(given: str | None, what: str, code: str) -> tuple[list[str], Source]:
    """Return *stop words* or *numbers*, from a file or from spaCy's data on the language."""
    if given is not None:
        return sorted(set(_lines(Path(given)))), Source(what, Path(given).name, UNKNOWN_LICENCE)
    module, name = {
        "stop words": ("stop_words", "STOP_WORDS"),
        "numbers": ("lex_attrs", "_num_words"),
    }[what]
    language = code.partition("-")[0]
    try:
        words = getattr(import_module(f"spacy.lang.{language}.{module}"), name, ())
    except ImportError:
        if what == "numbers":  # a language may do without
            return [], Source(what, "none", "none")
        raise SyntfError(
            f"spaCy, which has {what} of many languages, is not installed or does not know "
            f"{code!r}: give a file with --stop-words, one word on each line"
        ) from None
    return sorted({word.lower() for word in words}), _package_source(what, "spacy")


def _file_lemmas(path: Path) -> Iterator[Lemma]:
    for number, line in enumerate(_lines(path), 1):
        form, _, rest = line.partition("\t")
        lemma, _, part = rest.partition("\t")
        if not form or not lemma:
            raise SyntfError(
                f"{path}: line {number} is not a form and a lemma, divided by a tab, with a part "
                "of speech after another tab or without"
            )
        yield Lemma(form, _part(part or "noun"), lemma)


def _spacy_lemmas(pipeline: Any, words: Sequence[str]) -> Iterator[Lemma]:
    read = pipeline.pipe(words, batch_size=1000, disable=["parser", "ner"])
    for word, document in zip(words, read, strict=True):
        if len(document) == 1:
            yield Lemma(word, _part(document[0].pos_), document[0].lemma_ or word)


def _simplemma_lemmas(code: str, words: Sequence[str]) -> Iterator[Lemma]:
    simplemma = import_module("simplemma")
    try:
        for word in words:
            yield Lemma(word, "noun", simplemma.lemmatize(word, lang=code))
    except ValueError:
        raise SyntfError(
            f"simplemma has no lemmas for {code!r}: give --lemmas another source"
        ) from None


def _pymorphy_lemmas(code: str, words: Sequence[str]) -> Iterator[Lemma]:
    analyzer = import_module("pymorphy3").MorphAnalyzer(lang=code)
    for word in words:
        best = analyzer.parse(word)[0]
        if best.is_known:
            yield Lemma(word, _part(str(best.tag.POS)), best.normal_form)


def _sudachi_lemmas(code: str, words: Sequence[str]) -> Iterator[Lemma]:
    """Yield the normalised form of each word that Sudachi does not divide, as it reads texts."""
    sudachipy = import_module("sudachipy")
    tokenizer = sudachipy.Dictionary(dict="core").create(mode=sudachipy.SplitMode.B)
    for word in words:
        found = list(tokenizer.tokenize(word))
        if len(found) == 1:
            yield Lemma(word, _part(found[0].part_of_speech()[0]), found[0].normalized_form())


_PACKAGES = {
    "simplemma": (_simplemma_lemmas, "simplemma"),
    "pymorphy3": (_pymorphy_lemmas, "pymorphy3"),
    "sudachi": (_sudachi_lemmas, "sudachidict_core"),
}
"""What reads lemmas from a package, and the package whose version and licence are recorded."""


def _part(name: str) -> str:
    """Return a part of speech of a lexicon; names of things count as nouns."""
    lower = name.strip().lower()
    part = _PARTS.get(lower, lower)
    return part if part in PARTS_OF_SPEECH else "other"


def _lines(path: Path) -> list[str]:
    """Return the lines of a file without empty ones."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SyntfError(f"cannot read {path} as UTF-8: {shortened(error)}") from None
    return [line.strip() for line in text.split("\n") if line.strip()]


def _pipeline_source(what: str, pipeline: Any, licence: str | None = None) -> Source:
    about = pipeline.meta
    origin = f"{about['lang']}_{about['name']} {about['version']}, spaCy pipeline"
    return Source(what, origin, licence or about.get("license") or UNKNOWN_LICENCE)


def _package_source(what: str, name: str) -> Source:
    """Describe an installed package by its version and licence."""
    about = metadata(name)
    stated = [about[field] for field in ("License-Expression", "License") if field in about]
    licence = stated[0].splitlines()[0][:60] if stated else UNKNOWN_LICENCE
    return Source(what, f"{name} {about['Version']}", licence)
