"""Align a language pack with another one, so that one release can hold texts in both languages.

The word vectors are centred and turned by an orthogonal matrix, so that words of the same meaning
point in similar directions. The matrix is the solution of the orthogonal Procrustes problem
(Schönemann, 1966) for pairs of words: those of a dictionary, or else words with the same spelling
in both languages, mostly names and loanwords. Then the pairs are replaced by words that are each
other's nearest after turning, and the matrix is fitted again (Conneau et al., 2018). A fifth of the
first pairs is left out, to see whether the matrix finds them. The aligned pack has the topics of
the other pack. All steps are deterministic, and no text is used.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.codebook import Codebook
from syntf.codebook.tree import Points, unit_rows
from syntf.core.errors import SyntfError, shortened
from syntf.core.files import place_folder, sha256_of
from syntf.core.progress import Stages, silent
from syntf.language.pack import LanguagePack, Source
from syntf.packs.codebook import aligned_codebook
from syntf.vectors.quantize import quantize
from syntf.vectors.word_vectors import WordVectors

Pairs = NDArray[np.intp]
"""Rows of the two packs: pairs × 2."""

FREQUENT = 20_000
"""Words of each pack among which pairs of the same spelling are looked for, the most frequent."""
SHORTEST = 4
"""Letters of such words at least; shorter ones often mean something else."""
LEAST_PAIRS = 100
LEFT_OUT = 5
"""One of so many pairs is left out, to be found by the matrix."""
LEAST_FOUND = 0.1
"""Share of these pairs that must be found. By chance hardly any is."""
COMPARED = 12_000
"""Words of each pack among which nearest words are looked for."""
ROUNDS = 3
NEIGHBOURS = 10


def align_pack(
    source: LanguagePack,
    target: LanguagePack,
    out: str | os.PathLike[str],
    *,
    dictionary: str | os.PathLike[str] | None = None,
    as_is: bool = False,
    force: bool = False,
    stages: Stages = silent,
) -> LanguagePack:
    """Write a copy of a pack whose word vectors share the space and the topics of another pack.

    Parameters
    ----------
    source, target : the pack to align, and the pack to align it with.
    out : the folder to write.
    dictionary : a file with a word, a tab and its translation on each line; None to begin with
        words of the same spelling.
    as_is : take the vectors of both packs as aligned already, such as fastText's aligned vectors.
    force : replace an earlier pack in the same folder.
    stages : receives the progress.
    """
    place = Path(out)
    if place.exists() and not force:
        raise SyntfError(f"{place} exists already: choose another --out, or add --force")
    if source.code == target.code:
        raise SyntfError(f"both packs are for {source.code!r}: align packs of two languages")
    vectors, others = WordVectors.of_pack(source), WordVectors.of_pack(target)
    if as_is:
        if vectors.matrix.shape[1] != others.matrix.shape[1]:
            raise SyntfError("vectors of other numbers of dimensions are not aligned already")
        matrix, how = np.asarray(vectors.matrix), "vectors that were aligned already"
    else:
        pairs = _pairs_of(vectors, others, dictionary)
        with stages("aligning words", ROUNDS + 1) as advance:
            matrix, how = _turned(vectors, others, pairs, advance)
    about = Source("alignment", f"with {target.code} sha256:{target.digest}, {how}", "computed")
    topics = [replace(one, what="topics") for one in target.sources if "codebook" in one.what]
    new = place.with_name(f".{place.name}.{os.getpid()}")
    new.mkdir(parents=True)
    try:
        for name, _ in source.files.values():
            shutil.copyfile(source.folder / name, new / name)
        np.save(new / source.files["vectors"][0], matrix)
        table = WordVectors(vectors.words, matrix)
        table.pack = source
        outputs = Codebook.of_pack(source).outputs
        codebook = aligned_codebook(Codebook.of_pack(target), table, outputs, stages)
        codebook.write(new / source.files["codebook"][0])
        files = {role: (name, sha256_of(new / name)) for role, (name, _) in source.files.items()}
        sources = [*source.sources, *topics, about]
        replace(
            source, folder=new, files=files, sources=sources, is_embedded=False
        ).write_manifest()
        LanguagePack.read(new)
        place_folder(new, place)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return LanguagePack.read(place)


def _pairs_of(
    vectors: WordVectors, others: WordVectors, dictionary: str | os.PathLike[str] | None
) -> Pairs:
    """Return the pairs of words to begin with."""
    if dictionary is not None:
        pairs = _read_dictionary(Path(dictionary), vectors, others)
        where = f"{dictionary} has"
    else:
        left_out = {*_stop_words(vectors), *_stop_words(others)}
        row = {word: place for place, word in enumerate(others.words[:FREQUENT])}
        pairs = [
            (place, row[word])
            for place, word in enumerate(vectors.words[:FREQUENT])
            if len(word) >= SHORTEST and word in row and word not in left_out
        ]
        where = "the packs have the same spelling of"
    if len(pairs) < LEAST_PAIRS:
        raise SyntfError(
            f"{where} {len(pairs)} known words, and at least {LEAST_PAIRS} pairs are needed: give "
            "a dictionary of the two languages with --dictionary, a word, a tab and its "
            "translation on each line"
        )
    return np.array(pairs, dtype=np.intp)


def _stop_words(vectors: WordVectors) -> Sequence[str]:
    return [] if vectors.pack is None else sorted(vectors.pack.stop_words)


def _read_dictionary(
    path: Path, vectors: WordVectors, others: WordVectors
) -> list[tuple[int, int]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SyntfError(f"cannot read the dictionary {path}: {shortened(error)}") from None
    pairs = []
    for number, line in enumerate(lines, 1):
        words = line.split("\t")
        if len(words) != 2:
            raise SyntfError(f"{path}: line {number} is not a word, a tab and its translation")
        rows = vectors.find(words[0].strip()), others.find(words[1].strip())
        if rows[0] is not None and rows[1] is not None:
            pairs.append((rows[0], rows[1]))
    return pairs


def _turned(
    vectors: WordVectors, others: WordVectors, pairs: Pairs, advance: Callable[[int], None]
) -> tuple[NDArray[np.int8], str]:
    """Return the turned int8 vectors, and how they were turned.

    Raises
    ------
    SyntfError
        If hardly any pair that was left out is found.
    """
    own, _, _ = _centred(vectors)
    other, middle, length = _centred(others)
    left_out = np.arange(len(pairs)) % LEFT_OUT == 0
    hidden, pairs = pairs[left_out], pairs[~left_out]
    turn = procrustes(own[pairs[:, 0]], other[pairs[:, 1]])
    advance(1)
    for _ in range(ROUNDS):
        pairs = nearest_pairs(unit_rows(own[:COMPARED] @ turn), other[:COMPARED])
        turn = procrustes(own[pairs[:, 0]], other[pairs[:, 1]])
        advance(1)
    nearest = (own[hidden[:, 0]] @ turn @ other[:FREQUENT].T).argmax(axis=1)
    found = float(np.mean(nearest == hidden[:, 1]))
    if found < LEAST_FOUND:
        raise SyntfError(
            f"the packs could not be aligned: {found:.0%} of {len(hidden):,} pairs of words were "
            "found again; give a larger dictionary of frequent words with --dictionary"
        )
    digest = sha256(np.ascontiguousarray(turn, dtype="<f4").data).hexdigest()
    how = (
        f"orthogonal matrix sha256:{digest} from {len(pairs):,} pairs of words; it finds "
        f"{found:.0%} of {len(hidden):,} others"
    )
    turned = middle + length * unit_rows(own @ turn)
    return quantize(vectors.words, turned, "the aligned vectors"), how


def _centred(vectors: WordVectors) -> tuple[Points, Points, float]:
    """Return centred directions of words, the mean that was removed, and their mean length."""
    directions = unit_rows(np.asarray(vectors.matrix, dtype=np.float32))
    middle = directions[:FREQUENT].mean(axis=0)
    rest = directions - middle
    return unit_rows(rest), middle, float(np.linalg.norm(rest[:FREQUENT], axis=1).mean())


def procrustes(own: Points, other: Points) -> Points:
    """Return the matrix with orthogonal columns or rows that turns `own` closest to `other`."""
    left, _, right = np.linalg.svd(own.T.astype(np.float64) @ other, full_matrices=False)
    turn: Points = (left @ right).astype(np.float32)
    return turn


def nearest_pairs(own: Points, other: Points) -> Pairs:
    """Return pairs of rows that are each other's nearest, by cosine less that of many neighbours.

    Words that are near to everything are nearest to few after the mean cosine of their
    neighbours is subtracted (cross-domain similarity local scaling).
    """
    similar = own @ other.T
    count = min(NEIGHBOURS, len(own), len(other))
    around = np.partition(similar, -count, axis=1)[:, -count:].mean(axis=1)
    about = np.partition(similar, -count, axis=0)[-count:].mean(axis=0)
    scores = 2 * similar - around[:, None] - about[None]
    best, back = scores.argmax(axis=1), scores.argmax(axis=0)
    rows = np.flatnonzero(back[best] == np.arange(len(own)))
    return np.stack([rows, best[rows]], axis=1)
