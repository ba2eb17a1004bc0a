"""Word vectors from objects of other libraries: gensim's KeyedVectors and spaCy's pipelines.

Objects are recognised by their attributes, so neither library is imported unless it is used. Of a
spaCy pipeline, only the table of vectors is used.
"""

from typing import Any

import numpy as np

from syntf.core.errors import SyntfError
from syntf.core.extras import needed_for
from syntf.words.quantize import Table, make_table, quantize


def from_object(source: Any) -> Table:
    """Return the vectors of a gensim ``KeyedVectors`` or a spaCy pipeline."""
    if hasattr(source, "index_to_key") and hasattr(source, "vectors"):
        return _from_gensim(source)
    if hasattr(getattr(source, "vocab", None), "vectors"):
        return _from_spacy(source)
    raise SyntfError(
        "vectors must be a file, spacy:MODEL, WordVectors, gensim's KeyedVectors or a spaCy "
        f"pipeline, not {type(source).__name__}"
    )


def from_model(name: str) -> Table:
    """Return the vectors of an installed spaCy model, or of a pipeline in a folder."""
    with needed_for(f"vectors from spacy:{name}", "spacy"):
        import spacy
    try:
        return _from_spacy(spacy.load(name))
    except OSError as error:
        raise SyntfError(
            f"no spaCy model {name!r}: python -m spacy download NAME, with a NAME that ends in "
            "_md or _lg, or give the folder of a pipeline"
        ) from error


def _from_gensim(source: Any) -> Table:
    words = list(source.index_to_key)
    if not all(isinstance(word, str) for word in words):
        raise SyntfError("the keys of these KeyedVectors are not all words")
    return make_table(words, quantize(words, np.asarray(source.vectors), "the KeyedVectors"))


def _from_spacy(pipeline: Any) -> Table:
    """Return the vectors in the order of the pipeline's table.

    Words that share a row, as in pruned tables, are sorted. spaCy stores a missing vector as zeros,
    so words with zeros are left out and counted.
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
    nonzero = values.any(axis=1)
    notes = []
    if len(found) < len(rows):
        notes.append(f"{len(rows) - len(found):,} vectors have no word in the pipeline")
    if not nonzero.all():
        notes.append(f"{(~nonzero).sum():,} words have a vector of zeros and were left out")
        words = [words[row] for row in np.flatnonzero(nonzero)]
        values = values[nonzero]
    return make_table(words, quantize(words, values, "the spaCy pipeline"), notes)
