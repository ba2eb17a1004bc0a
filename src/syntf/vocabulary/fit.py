"""How many texts contain each term, by compiled code where there is some.

:func:`syntf.vocabulary.vocabulary.count_documents` defines it. In lower case, the terms with a
vector are the
words of the vectors, so a table of tokens finds them; as written, any capitals make a new term.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np

from syntf.text import token_table
from syntf.text.documents import document_frequency
from syntf.text.reader import look_up
from syntf.text.token_table import TokenTable, cached_table
from syntf.text.tokenizer import Analysis
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.vocabulary import count_documents

BATCH = 1 << 13
"""Texts held at once."""


def document_counts(
    texts: Iterable[str], analyzer: Analysis[Any], vectors: WordVectors
) -> tuple[Mapping[str, int], int]:
    """How many of the texts contain each term with a vector, and how many texts there are.

    >>> from syntf.text.tokenizer import Analyzer
    >>> document_counts(["Mice, mice!", "a mouse"], Analyzer(), WordVectors.embedded())
    ({'mouse': 2}, 2)
    """
    if not token_table.supports(analyzer) or analyzer.morphology == "orth":
        return count_documents(texts, analyzer, vectors)
    make = cached_table if vectors.is_embedded else TokenTable.build
    table, empty = make(analyzer, vectors.words), len(vectors.words)
    frequency, size = np.zeros(empty + 1, dtype=np.intp), 0
    every = iter(texts)
    while batch := list(islice(every, BATCH)):
        frequency += document_frequency(look_up(batch, table, empty), empty + 1)
        size += len(batch)
    found = np.flatnonzero(frequency[:empty]).tolist()
    return {vectors.words[term]: int(frequency[term]) for term in found}, size
