"""Build a language pack: choose its words, and write all files with their digests."""

import gzip
import os
import shutil
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError
from syntf.core.files import place_folder, sha256_of
from syntf.core.progress import stage
from syntf.words.language import FILES, MANIFEST, PARTS_OF_SPEECH, LanguagePack, Tokenizer
from syntf.words.pack_sources import Lemma, read_lemmas, read_vectors, read_word_list
from syntf.words.topicality import weigh
from syntf.words.vectors import WordVectors
from syntf.words.vocabulary import is_single_word

MakeTopics = Callable[[WordVectors, NDArray[np.int32], Path], None]
"""Writes the codebook of a pack into a file, from its vectors and the rows of words to show."""

WORDS = 100_000
"""Words of a pack at most, the most frequent ones."""
LEAST_WORDS = 100
OUTPUTS = 10_000
"""Output words of the preset words at most."""
SHOWN = 30_000
"""Words that names and profiles of topics may show at most."""

ELISION = ("fr", "it", "ca", "oc", "ga", "co", "lij", "vec", "wa", "fur")
"""Languages in which an apostrophe divides two words."""


def build_pack(
    code: str,
    out: str | os.PathLike[str],
    *,
    vectors: str | os.PathLike[str],
    topics: MakeTopics,
    lemmas: str | None = None,
    stop_words: str | None = None,
    numbers: str | None = None,
    tokenizer: Tokenizer | None = None,
    licence: str | None = None,
    words: int = WORDS,
    force: bool = False,
) -> LanguagePack:
    """Build a language pack and write it into the folder `out`.

    Parameters
    ----------
    code : the language, such as ``fr``.
    out : the folder to write.
    vectors : a file of word vectors, or ``spacy:MODEL``.
    topics : makes the codebook of the pack, from the other parts of it.
    lemmas : a file, ``spacy:MODEL``, ``simplemma``, ``pymorphy3`` or ``sudachi``; None for none.
    stop_words, numbers : files with one word on each line; None for spaCy's data.
    tokenizer : how texts are split; None for the usual way of the language.
    licence : the licence of the vectors, if their source does not state it.
    words : the number of words at most.
    force : replace an earlier pack in the same folder.
    """
    target = Path(out)
    if target.exists() and not force:
        raise SyntfError(f"{target} exists already: choose another --out, or add --force")
    if tokenizer is None:
        tokenizer = "sudachi" if code == "ja" else "elision" if code in ELISION else "words"
    given, own, vector_source = read_vectors(vectors, licence)
    stops, stop_source = read_word_list(stop_words, "stop words", code)
    numerals, number_source = read_word_list(numbers, "numbers", code)
    sources = [vector_source, stop_source, number_source]
    rows = choose_words(given.words, tokenizer, words)
    chosen = list(rows)
    is_own = np.array(list(rows.values())) < own
    stops, numerals = _as_tokens(stops, tokenizer), sorted(map(_form, numerals))
    found: list[Lemma] = []
    if lemmas is not None:
        with stage("finding lemmas", 1) as advance:
            found, lemma_source = read_lemmas(lemmas, code, chosen)
            found = _once(found)
            advance(1)
        sources.append(lemma_source)
    named = _names_something(chosen, found)
    shown = _words_to_show(chosen, named & is_own, found, {*stops, *numerals})
    new = target.with_name(f".{target.name}.{os.getpid()}")
    new.mkdir(parents=True)
    try:
        for role, lines in (
            ("words", chosen),
            ("stop_words", stops),
            ("numbers", numerals),
            ("vocabulary", [chosen[row] for row in shown[:OUTPUTS]]),
        ):
            (new / FILES[role]).write_text("\n".join(lines), encoding="utf-8")
        np.save(new / FILES["vectors"], given.at(list(rows.values())))
        np.save(new / FILES["topical"], weigh(named).astype(np.float32))
        if lemmas is not None:
            entries = "\n".join(",".join(one) for one in found).encode()
            (new / FILES["lemmas"]).write_bytes(gzip.compress(entries, mtime=0))
        pack = LanguagePack(new, code, tokenizer, "lemmas" if lemmas else "", sources, {})
        outputs = np.array(shown[:SHOWN], dtype=np.int32)
        topics(WordVectors.of_pack(pack), outputs, pack.path("codebook"))
        digests = {role: sha256_of(pack.path(role)) for role in FILES if pack.path(role).is_file()}
        manifest = replace(pack, digests=digests).manifest
        (new / MANIFEST).write_text(manifest, encoding="utf-8")
        LanguagePack.read(new)
        place_folder(new, target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return LanguagePack.read(target)


def choose_words(words: Sequence[str], tokenizer: Tokenizer, most: int) -> dict[str, int]:
    """Return the words of a pack with their rows: in lower case, without signs and first digits.

    >>> choose_words(["The", "the", "e-mail", "2nd", "it's"] + [f"w{i}" for i in range(98)],
    ...     "words", 100)["it's"]
    4
    """
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        form = _form(word)
        usable = form[:1].isalpha() and is_single_word(form, apostrophe=tokenizer != "elision")
        if usable and form not in rows:
            rows[form] = row
            if len(rows) == most:
                break
    if len(rows) < LEAST_WORDS:
        raise SyntfError(
            f"the vectors have {len(rows):,} usable words, and a language pack needs at least "
            f"{LEAST_WORDS}: give word vectors of the language, one word on each line"
        )
    return rows


def _form(word: str) -> str:
    """Return a word in lower case and in one spelling: composed, with usual letters."""
    return unicodedata.normalize("NFKC", word).lower().replace("’", "'")


def _as_tokens(words: Sequence[str], tokenizer: Tokenizer) -> list[str]:
    """Return words as a text has them, sorted: with elision, *d'* is the token *d*."""
    found = {_form(word) for word in words}
    if tokenizer == "elision":
        found |= {part for word in found for part in word.split("'") if part}
    return sorted(found)


def _once(lemmas: Sequence[Lemma]) -> list[Lemma]:
    """Return one lemma, the first, for each form and part of speech, in lower case and sorted."""
    found: dict[tuple[str, str], str] = {}
    for one in lemmas:
        if not any(sign in one.form + one.lemma for sign in ",/#\n\r"):
            found.setdefault((_form(one.form), one.part), _form(one.lemma))
    return [Lemma(form, part, lemma) for (form, part), lemma in sorted(found.items())]


def _names_something(words: Sequence[str], lemmas: Sequence[Lemma]) -> NDArray[np.bool_]:
    """Tell for each word whether it can be a noun or is missing from the lemmas."""
    forms = {one.form for one in lemmas}
    nouns = {one.form for one in lemmas if one.part == "noun"}
    return np.array([word not in forms or word in nouns for word in words], dtype=bool)


def _words_to_show(
    words: Sequence[str],
    candidates: NDArray[np.bool_],
    lemmas: Sequence[Lemma],
    left_out: set[str],
) -> list[int]:
    """Return the rows of words that a release may show: dictionary forms that name something."""
    lemma_of: dict[str, str] = {}
    for one in sorted(lemmas, key=lambda one: PARTS_OF_SPEECH.index(one.part)):
        lemma_of.setdefault(one.form, one.lemma)
    shown = [
        row
        for row in np.flatnonzero(candidates).tolist()
        if len(word := words[row]) > 1
        and is_single_word(word, apostrophe=False)
        and not any(map(str.isdigit, word))
        and lemma_of.get(word, word) == word
        and word not in left_out
    ]
    if len(shown) < 2:
        raise SyntfError("no word of the vectors may name a topic: check the language of --lemmas")
    return shown
