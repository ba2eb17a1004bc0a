"""Word vectors from objects of other libraries: gensim's KeyedVectors and spaCy's pipelines.

Objects are recognised by their attributes, so neither library is imported unless it is used. Of a
spaCy pipeline, only the table of vectors is used.
"""

from functools import cache
from typing import Any

import numpy as np

from syntf.core.errors import SyntfError
from syntf.core.extras import needed_for
from syntf.settings import SPACY
from syntf.words.quantize import Table, distinct, quantize


def from_object(source: Any) -> Table:
    """Return the vectors of a gensim ``KeyedVectors`` or a spaCy pipeline."""
    if hasattr(source, "index_to_key") and hasattr(source, "vectors"):
        words = list(map(str, source.index_to_key))
        return distinct(words, quantize(words, np.asarray(source.vectors), "the KeyedVectors"))
    if hasattr(getattr(source, "vocab", None), "vectors"):
        return from_pipeline(source)[0]
    raise SyntfError(
        "vectors must be a file, spacy:MODEL, WordVectors, gensim's KeyedVectors or a spaCy "
        f"pipeline, not {type(source).__name__}"
    )


@cache
def load_pipeline(name: str, without: tuple[str, ...] = ()) -> Any:
    """Return an installed spaCy model, the pipeline in a folder, or ``blank:LANGUAGE``.

    It is loaded once in a process, without the components of these names.
    """
    with needed_for(f"{SPACY}{name}", "spacy"):
        import spacy
    kind, _, language = name.partition(":")
    try:
        return spacy.blank(language) if kind == "blank" else spacy.load(name, exclude=without)
    except Exception as error:
        raise SyntfError(unusable_pipeline(name, error)) from error


def unusable_pipeline(name: str, error: Exception) -> str:
    """Return what to do about a pipeline that cannot be loaded or does not work."""
    return (
        f"spaCy cannot use the pipeline {name!r} ({type(error).__name__}): install one that was "
        f"made for this version of spaCy, for example by python -m spacy download {name}"
    )


def from_pipeline(pipeline: Any) -> tuple[Table, int]:
    """Return the vectors of a spaCy pipeline, and how many of them belong to their word.

    A pruned table maps many words to a few rows. The first word of each row is the frequent one
    that the vector belongs to; these words come first, in the order of the rows, and then all
    others. spaCy stores a missing vector as zeros, so words with zeros are left out.
    """
    vectors, strings = pipeline.vocab.vectors, pipeline.vocab.strings
    rows = getattr(vectors, "key2row", None)
    if not rows:
        raise SyntfError(
            "this spaCy pipeline has no word vectors of its own: use a model whose name ends in "
            "_md or _lg (_sm and floret have no table of words)"
        )
    values = np.asarray(vectors.data)
    nonzero = np.asarray(values.any(axis=1))
    first: dict[int, str] = {}
    others: list[tuple[int, str]] = []
    for key, row in rows.items():
        if key in strings and nonzero[row]:
            word = strings[key]
            if word != first.setdefault(row, word):
                others.append((row, word))
    own = sorted(first.items())
    place = {row: number for number, (row, _) in enumerate(own)}
    matrix = quantize([word for _, word in own], values[list(place)], "the spaCy pipeline")
    order = own + sorted(others)
    matrix = matrix[[place[row] for row, _ in order]]
    return distinct([word for _, word in order], matrix), len(own)
