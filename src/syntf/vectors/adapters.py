"""Word vectors that other libraries hold in memory: gensim's KeyedVectors, spaCy's pipelines.

Both are known by what they offer, so neither library is needed for the other, nor for
files. Nothing of a pipeline but its table of vectors is used.
"""

from typing import Any

import numpy as np

from syntf.core.errors import SyntfError
from syntf.vectors.quantize import rounded, table, word_number
from syntf.vectors.word_vectors import WordVectors

SPACY = "spacy:"
"""What begins the name of a spaCy model, where a file could be named as well."""


def from_object(source: Any) -> WordVectors:
    """The vectors of a gensim ``KeyedVectors`` or a spaCy pipeline."""
    if hasattr(source, "index_to_key") and hasattr(source, "vectors"):
        return _from_gensim(source)
    if hasattr(getattr(source, "vocab", None), "vectors"):
        return _from_spacy(source)
    raise SyntfError(
        "vectors must be a file, spacy:MODEL, WordVectors, gensim's KeyedVectors or a spaCy "
        f"pipeline, not {type(source).__name__}"
    )


def from_model(name: str) -> WordVectors:
    """The vectors of an installed spaCy model, or of a pipeline in a folder."""
    try:
        import spacy
    except ImportError as error:
        raise SyntfError(
            f"vectors from {SPACY}{name} need spaCy: pip install 'syntf[spacy]'"
        ) from error
    try:
        return _from_spacy(spacy.load(name))
    except OSError as error:
        raise SyntfError(
            f"no spaCy model {name!r}: python -m spacy download NAME, with a NAME that ends in "
            "_md or _lg, or give the folder of a pipeline"
        ) from error


def _from_gensim(source: Any) -> WordVectors:
    words = list(source.index_to_key)
    if not all(isinstance(word, str) for word in words):
        raise SyntfError("the keys of these KeyedVectors are not all words")
    matrix = rounded(words, np.asarray(source.vectors), "the KeyedVectors")
    return WordVectors(*table(words, matrix, word_number, []))


def _from_spacy(pipeline: Any) -> WordVectors:
    """In the order of the table's rows; words that share a row, as in pruned tables, sorted.

    spaCy writes a missing vector as zeros, so words with zeros are left out, and counted.
    """
    vocab = pipeline.vocab
    vectors, strings = vocab.vectors, vocab.strings
    rows = getattr(vectors, "key2row", None)
    if not rows:
        raise SyntfError(
            "this spaCy pipeline has no word vectors of its own: use a model whose name ends in "
            "_md or _lg (_sm and floret have no table of words)"
        )
    found = sorted((row, strings[key]) for key, row in rows.items() if key in strings)
    words = [word for _, word in found]
    values = np.asarray(vectors.data)[[row for row, _ in found]]
    given = values.any(axis=1)
    notes = []
    if len(found) < len(rows):
        notes.append(f"{len(rows) - len(found):,} vectors have no word in the pipeline")
    if not given.all():
        notes.append(f"{(~given).sum():,} words have a vector of zeros and were left out")
        words = [words[row] for row in np.flatnonzero(given)]
        values = values[given]
    matrix = rounded(words, values, "the spaCy pipeline")
    return WordVectors(*table(words, matrix, word_number, notes))
