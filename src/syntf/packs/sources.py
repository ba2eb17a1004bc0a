"""Read what a language pack is made from: word vectors, lemmas and word lists.

Word vectors come from a file, a spaCy pipeline or a file of navec; lemmas from a file, a spaCy
pipeline, pymorphy3, simplemma or SudachiPy; stop words and words for numbers from files, or from
spaCy's data on the language, which needs no pipeline.
"""

import json
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.choices import SPACY
from syntf.core.errors import SyntfError, shortened
from syntf.core.progress import Stages, silent
from syntf.language.pack import Source
from syntf.text import spacy_analyzer
from syntf.text.lexicon import PARTS_OF_SPEECH
from syntf.vectors import adapters
from syntf.vectors.word_vectors import WordVectors

NAVEC = "navec:"
"""What stands before the name of a file of navec, as in ``navec:navec_news.tar``."""

UNKNOWN_LICENCE = "not stated"

_NOUNS = ("noun", "propn")


@dataclass(frozen=True, eq=False)
class RawVectors:
    """Words, the most frequent first, with their vectors.

    main : whether a word has a vector of its own; pruned tables give several words the same one.
    """

    words: Sequence[str]
    matrix: NDArray[Any]
    main: NDArray[np.bool_]
    source: Source


@dataclass(frozen=True)
class Lemma:
    """A word form, its part of speech and its dictionary form, all in lower case."""

    form: str
    part: str
    lemma: str


def read_vectors(given: Any, licence: str | None = None, stages: Stages = silent) -> RawVectors:
    """Read word vectors from a file, ``spacy:MODEL``, ``navec:FILE`` or an object of gensim."""
    what = "words, vectors, vocabulary, topical, codebook"
    if not isinstance(given, str | Path):
        table = adapters.from_object(given)
        return _own(table, Source(what, type(given).__name__, licence or UNKNOWN_LICENCE))
    name = str(given)
    if name.startswith(SPACY):
        return _read_spacy(name.removeprefix(SPACY), what, licence)
    if name.startswith(NAVEC):
        return _read_navec(Path(name.removeprefix(NAVEC)), what, licence)
    table = WordVectors.read(name, stages)
    return _own(table, Source(what, Path(name).name, licence or UNKNOWN_LICENCE))


def _own(table: WordVectors, source: Source) -> RawVectors:
    return RawVectors(table.words, table.matrix, np.ones(len(table.words), dtype=bool), source)


def _read_spacy(model: str, what: str, licence: str | None) -> RawVectors:
    """Read the vectors of a pipeline.

    A pruned table maps many words to a few rows. The first word of each row, in the order of the
    table, is the frequent one that the vector belongs to.
    """
    nlp = spacy_analyzer.load(model, [])
    vectors, strings = nlp.vocab.vectors, nlp.vocab.strings
    rows = getattr(vectors, "key2row", None)
    if not rows:
        raise SyntfError(
            f"the spaCy pipeline {model!r} has no word vectors of its own: use a model whose name "
            "ends in _md or _lg (_sm and floret have no table of words)"
        )
    values = np.asarray(vectors.data)
    usable: NDArray[np.bool_] = np.asarray(values.any(axis=1))
    first: dict[int, str] = {}
    others: list[tuple[int, str]] = []
    for key, row in rows.items():
        if key in strings and usable[row]:
            word = strings[key]
            if first.setdefault(row, word) != word:
                others.append((row, word))
    order = sorted(first.items()) + sorted(others)
    chosen = [row for row, _ in order]
    main = np.arange(len(order)) < len(first)
    about = nlp.meta
    origin = f"{about['lang']}_{about['name']} {about['version']}, spaCy pipeline"
    source = Source(what, origin, licence or about.get("license") or UNKNOWN_LICENCE)
    return RawVectors([word for _, word in order], values[chosen], main, source)


def _read_navec(path: Path, what: str, licence: str | None) -> RawVectors:
    """Read the quantised vectors of a file of navec, ordered by the counts of their words."""
    try:
        navec = import_module("navec").Navec.load(path)
    except ImportError:
        raise SyntfError(f"vectors from {NAVEC}FILE need navec: pip install navec") from None
    except (OSError, ValueError, KeyError, tarfile.TarError, json.JSONDecodeError) as error:
        raise SyntfError(f"cannot read {path} with navec: {shortened(error)}") from None
    order = np.argsort(-np.asarray(navec.vocab.counts), kind="stable")
    words = [navec.vocab.words[row] for row in order.tolist()]
    matrix = np.asarray(navec.pq.unpack())[order]
    usable = matrix.any(axis=1) & np.array([not word.startswith("<") for word in words])
    kept = [word for word, use in zip(words, usable.tolist(), strict=True) if use]
    source = Source(what, path.name, licence or UNKNOWN_LICENCE)
    return RawVectors(kept, matrix[usable], np.ones(len(kept), dtype=bool), source)


def read_lemmas(given: str, code: str, words: Sequence[str]) -> tuple[Iterator[Lemma], Source]:
    """Return the lemmas of words from a file or a package, and where they come from.

    given : a file with ``form``, ``lemma`` and perhaps the part of speech in each line, divided
        by tabs; or ``spacy:MODEL``, ``pymorphy3``, ``simplemma`` or ``sudachi``.
    """
    if given.startswith(SPACY):
        return _spacy_lemmas(given.removeprefix(SPACY), words)
    if given == "pymorphy3":
        return _pymorphy_lemmas(code, words), _package("lemmas", given)
    if given == "simplemma":
        simplemma = _import(given)
        found = (Lemma(word, "noun", simplemma.lemmatize(word, lang=code)) for word in words)
        return found, _package("lemmas", given)
    if given == "sudachi":
        return _sudachi_lemmas(words), _package("lemmas", "sudachidict_core")
    path = Path(given)
    if not path.is_file():
        raise SyntfError(f"there is no file of lemmas at {path}")
    return _file_lemmas(path), Source("lemmas", path.name, UNKNOWN_LICENCE)


def _file_lemmas(path: Path) -> Iterator[Lemma]:
    for number, line in enumerate(_lines(path), 1):
        fields = line.split("\t")
        if not 2 <= len(fields) <= 3 or not fields[0] or not fields[1]:
            raise SyntfError(
                f"{path}: line {number} is not a form and a lemma, divided by a tab, with a part "
                "of speech after another tab or without"
            )
        yield Lemma(fields[0], _part(fields[2]) if len(fields) == 3 else "noun", fields[1])


def _spacy_lemmas(model: str, words: Sequence[str]) -> tuple[Iterator[Lemma], Source]:
    nlp = spacy_analyzer.load(model, spacy_analyzer.UNUSED_COMPONENTS)
    about = nlp.meta
    origin = f"{about['lang']}_{about['name']} {about['version']}, spaCy pipeline"
    source = Source("lemmas", origin, about.get("license") or UNKNOWN_LICENCE)

    def found() -> Iterator[Lemma]:
        for word, document in zip(words, nlp.pipe(words, batch_size=1000), strict=True):
            if len(document) == 1:
                yield Lemma(word, _part(document[0].pos_), document[0].lemma_ or word)

    return found(), source


def _pymorphy_lemmas(code: str, words: Sequence[str]) -> Iterator[Lemma]:
    analyzer = _import("pymorphy3").MorphAnalyzer(lang=code)
    names = {"NOUN": "noun", "VERB": "verb", "INFN": "verb", "ADJF": "adj", "ADVB": "adv"}
    for word in words:
        best = analyzer.parse(word)[0]
        if best.is_known:
            yield Lemma(word, names.get(str(best.tag.POS), "other"), best.normal_form)


def _sudachi_lemmas(words: Sequence[str]) -> Iterator[Lemma]:
    from syntf.text.sudachi_analyzer import part_of_speech

    for word in words:
        found = part_of_speech(word)
        if found is not None:
            yield Lemma(word, found[1], found[0])


def _part(name: str) -> str:
    """Return a part of speech of a lexicon; names of things count as nouns."""
    lower = name.lower()
    return "noun" if lower in _NOUNS else lower if lower in PARTS_OF_SPEECH else "other"


def read_word_list(given: str | None, what: str, code: str) -> tuple[list[str], Source]:
    """Return stop words or words for numbers, from a file or from spaCy's data on the language."""
    if given is not None:
        path = Path(given)
        if not path.is_file():
            raise SyntfError(f"there is no file of {what} at {path}")
        return sorted(set(_lines(path))), Source(what, path.name, UNKNOWN_LICENCE)
    option = what.replace(" ", "-")
    try:
        spacy = import_module("spacy")
        defaults = spacy.blank(code).Defaults if what == "stop words" else None
        if defaults is not None:
            words = defaults.stop_words
        else:
            words = getattr(import_module(f"spacy.lang.{code}.lex_attrs"), "_num_words", ())
    except ImportError:
        if what == "stop words":
            raise SyntfError(
                f"spaCy, which has {what} of many languages, is not installed or does not know "
                f"{code!r}: give a file with --{option}, one word on each line"
            ) from None
        words = ()
    return sorted({word.lower() for word in words}), _package(what, "spacy")


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SyntfError(f"cannot read {path} as UTF-8: {shortened(error)}") from None
    return [line.strip() for line in text.splitlines() if line.strip()]


def _import(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise SyntfError(f"lemmas from {package} need it: pip install {package}") from None


def _package(what: str, name: str) -> Source:
    """Describe an installed package by its version and licence."""
    try:
        about = metadata(name)
    except PackageNotFoundError:
        return Source(what, name, UNKNOWN_LICENCE)
    stated = [about[field] for field in ("License-Expression", "License") if field in about]
    licence = stated[0].splitlines()[0][:60] if stated else UNKNOWN_LICENCE
    return Source(what, f"{name} {about['Version']}", licence)
