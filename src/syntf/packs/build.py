"""Build a language pack: choose its words, and write all files with their digests."""

import gzip
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf import __version__
from syntf.core.errors import SyntfError
from syntf.core.files import place_folder, sha256_of
from syntf.core.progress import Stages, silent
from syntf.language.pack import LanguagePack, Source, Tokenizer
from syntf.packs.codebook import make_codebook
from syntf.packs.sources import Lemma, RawVectors, read_lemmas, read_vectors, read_word_list
from syntf.text.tokenizer import Analyzer, normalize, split_at_apostrophes, tokenize
from syntf.vectors.quantize import quantize
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.topicality import names_something, weigh

WORDS = 100_000
"""Words of a pack at most, the most frequent ones."""
LEAST_WORDS = 100
OUTPUTS = 10_000
"""Output words of the words unit at most."""
SHOWN = 30_000
"""Words that labels and columns of the document unit may show at most."""

ELISION = ("fr", "it", "ca", "oc", "ga", "co", "lij", "vec", "wa", "fur")
"""Languages in which an apostrophe divides two words."""

BEFORE = "1.0.0"
"""The first version of syntf that may need packs of another kind."""


def build_pack(
    code: str,
    out: str | os.PathLike[str],
    *,
    vectors: Any,
    lemmas: str | None = None,
    stop_words: str | None = None,
    numbers: str | None = None,
    tokenizer: Tokenizer | None = None,
    licence: str | None = None,
    words: int = WORDS,
    force: bool = False,
    stages: Stages = silent,
) -> LanguagePack:
    """Build a language pack and write it into the folder `out`.

    Parameters
    ----------
    code : the language, such as ``fr``.
    out : the folder to write.
    vectors : a file of word vectors, ``spacy:MODEL``, ``navec:FILE``, or KeyedVectors of gensim.
    lemmas : a file, ``spacy:MODEL``, ``pymorphy3``, ``simplemma`` or ``sudachi``; None for none.
    stop_words, numbers : files with one word on each line; None for spaCy's data.
    tokenizer : how texts are split; None for the usual way of the language.
    licence : the licence of the vectors, if their source does not state it.
    words : the number of words at most.
    force : replace an earlier pack in the same folder.
    stages : receives the progress.
    """
    target = Path(out)
    if target.exists() and not force:
        raise SyntfError(f"{target} exists already: choose another --out, or add --force")
    if tokenizer is None:
        tokenizer = "sudachi" if code == "ja" else "elision" if code in ELISION else "words"
    raw = read_vectors(vectors, licence, stages)
    stops, stop_source = read_word_list(stop_words, "stop words", code)
    numerals, number_source = read_word_list(numbers, "numbers", code)
    rows, chosen = choose_words(raw, tokenizer, words)
    matrix = quantize(chosen, np.asarray(raw.matrix)[rows], "the vectors")
    sources = [raw.source, stop_source, number_source]
    new = target.with_name(f".{target.name}.{os.getpid()}")
    new.mkdir(parents=True)
    try:
        _write_lines(new / "words.txt", chosen)
        np.save(new / "vectors.npy", matrix)
        _write_lines(new / "stop_words.txt", _as_tokens(stops, tokenizer))
        _write_lines(new / "numbers.txt", numerals)
        if lemmas is not None:
            with stages("finding lemmas", 1):
                found, lemma_source = read_lemmas(lemmas, code, chosen)
                _write_lemmas(new / "lemmas.csv.gz", list(found))
            sources.append(lemma_source)
        pack = _describe(new, code, tokenizer, "" if lemmas is None else "lemmas", sources)
        _add_weights(pack, chosen, matrix, raw.main[rows], stages)
        complete = _describe(new, code, tokenizer, pack.lexicon, sources)
        complete.write_manifest()
        LanguagePack.read(new)
        place_folder(new, target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return LanguagePack.read(target)


def choose_words(raw: RawVectors, tokenizer: Tokenizer, most: int) -> tuple[list[int], list[str]]:
    """Return the rows and the words of a pack: words in lower case, without signs and digits."""
    split = split_at_apostrophes if tokenizer == "elision" else tokenize
    rows: dict[str, int] = {}
    for row, word in enumerate(raw.words):
        form = normalize(word).lower().replace("’", "'")
        if form not in rows and form[:1].isalpha() and split(form) == [form]:
            rows[form] = row
            if len(rows) == most:
                break
    if len(rows) < LEAST_WORDS:
        raise SyntfError(
            f"the vectors have {len(rows):,} usable words, and a language pack needs at least "
            f"{LEAST_WORDS}: give word vectors of the language, one word on each line"
        )
    return list(rows.values()), list(rows)


def _as_tokens(words: Sequence[str], tokenizer: Tokenizer) -> list[str]:
    """Return words as a text has them, sorted: with elision, *d'* is the token *d*."""
    found = {normalize(word).lower().replace("’", "'") for word in words}
    if tokenizer == "elision":
        found |= {part for word in found if "'" in word for part in split_at_apostrophes(word)}
    return sorted(found)


def _add_weights(
    pack: LanguagePack,
    words: Sequence[str],
    matrix: NDArray[np.int8],
    main: NDArray[np.bool_],
    stages: Stages,
) -> None:
    """Write the weights of words, the output words and the codebook into the folder of a pack."""
    topical = weigh(words, pack=pack).astype(np.float32)
    np.save(pack.folder / "topical.npy", topical)
    analyzer = Analyzer(pack=pack)
    named = names_something(words, pack) & main
    shown = [
        row
        for row in np.flatnonzero(named).tolist()
        if len(words[row]) > 1
        and words[row].isalpha()
        and analyzer.candidates(words[row])[:1] == (words[row],)
    ]
    if len(shown) < 2:
        raise SyntfError("no word of the vectors may name a topic: check the language of --lemmas")
    _write_lines(pack.folder / "vocabulary.txt", [words[row] for row in shown[:OUTPUTS]])
    vectors = WordVectors(words, matrix)
    vectors.pack = replace(pack, files={**pack.files, "topical": ("topical.npy", "")})
    outputs = np.array(shown[:SHOWN], dtype=np.int32)
    make_codebook(vectors, outputs, stages).write(pack.folder / "codebook.zip")


def _describe(
    folder: Path, code: str, tokenizer: Tokenizer, lexicon: str, sources: Sequence[Source]
) -> LanguagePack:
    """Return the pack in a folder, with the digests of the files that are there by now."""
    names = {
        "words": "words.txt", "vectors": "vectors.npy", "vocabulary": "vocabulary.txt",
        "topical": "topical.npy", "codebook": "codebook.zip", "stop_words": "stop_words.txt",
        "numbers": "numbers.txt", "lemmas": "lemmas.csv.gz",
    }  # fmt: skip
    there = {role: name for role, name in names.items() if (folder / name).is_file()}
    files = {role: (name, sha256_of(folder / name)) for role, name in there.items()}
    return LanguagePack(folder, code, tokenizer, lexicon, sources, files, __version__, BEFORE)


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("\n".join(lines), encoding="utf-8")


def _write_lemmas(path: Path, lemmas: Sequence[Lemma]) -> None:
    """Write forms with a part of speech and a lemma, in the format of the English lexicon."""
    lines = [
        f"{normalize(one.form).lower()},{one.part},{normalize(one.lemma).lower()}"
        for one in lemmas
        if not any(letter in one.form + one.lemma for letter in ",/#\n\r")
    ]
    with path.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write("\n".join(sorted(set(lines))).encode("utf-8"))
