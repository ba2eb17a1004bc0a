"""Fit a vocabulary on texts: count in how many texts each term occurs, and select terms.

A fitted vocabulary depends on the texts. If it is used to release the same texts, the loss does not
cover what its words reveal, and the release is marked as not private.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress, islice
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError
from syntf.text import token_table
from syntf.text.documents import document_frequency
from syntf.text.reader import look_up
from syntf.text.token_table import TokenTable, cached_table
from syntf.text.tokenizer import Analysis, Memo, first_known
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.vocabulary import Vocabulary

BATCH_TEXTS = 1 << 13
"""How many texts are held in memory."""


def fit_vocabulary(
    texts: Iterable[str],
    analyzer: Analysis[Any],
    vectors: WordVectors,
    *,
    min_df: float = 2,
    max_df: float = 1.0,
    max_size: int | None = None,
    only: Callable[[Sequence[str]], NDArray[np.bool_]] | None = None,
) -> Vocabulary:
    """Return the terms with a vector that occur in `min_df` to `max_df` of the texts, sorted.

    Parameters
    ----------
    min_df, max_df : an integer is a number of texts, a float a share of them, as in scikit-learn.
    max_size : keep at most this many terms, those in the most texts; of equal ones, the first in
        the alphabet.
    only : tells for each term whether it may be selected at all.
    """
    counts, size = count_documents(texts, analyzer, vectors)
    least, most = (df if isinstance(df, Integral) else df * size for df in (min_df, max_df))
    terms = [term for term, count in counts.items() if least <= count <= most]
    if only is not None:
        terms = list(compress(terms, only(terms)))
    if not terms:
        raise SyntfError(
            f"the text (terms in {_amount(min_df)} or more, {_amount(max_df)} or fewer) has 0 "
            "terms with a word vector: lower min_df, raise max_df, or give more texts"
        )
    terms.sort(key=lambda term: (-counts[term], term))
    return Vocabulary.given(sorted(terms[:max_size]), vectors, provenance="fitted")


def count_documents(
    texts: Iterable[str], analyzer: Analysis[Any], vectors: WordVectors
) -> tuple[Mapping[str, int], int]:
    """Count the texts that contain each term with a vector, and all texts.

    The fast analyzer uses a token table, unless words are counted as written: then each
    capitalisation is a term of its own.

    >>> from syntf.text.tokenizer import Analyzer
    >>> count_documents(["Mice, mice!", "a mouse"], Analyzer(), WordVectors.embedded())
    ({'mouse': 2}, 2)
    """
    if not token_table.supports(analyzer) or analyzer.morphology == "orth":
        return count_by_definition(texts, analyzer, vectors)
    make = cached_table if vectors.is_embedded else TokenTable.build
    table, empty = make(analyzer, vectors.words), len(vectors.words)
    frequency, size = np.zeros(empty + 1, dtype=np.intp), 0
    remaining = iter(texts)
    while batch := list(islice(remaining, BATCH_TEXTS)):
        frequency += document_frequency(look_up(batch, table, empty), empty + 1)
        size += len(batch)
    found = np.flatnonzero(frequency[:empty]).tolist()
    return {vectors.words[term]: int(frequency[term]) for term in found}, size


def count_by_definition(
    texts: Iterable[str], analyzer: Analysis[Any], vectors: WordVectors
) -> tuple[Mapping[str, int], int]:
    """Count as :func:`count_documents` does, for any analyzer, token by token."""
    counts, size = Counter[str](), 0
    term_of = Memo(first_known(analyzer, lambda word: vectors.find(word) is not None))
    for tokens in analyzer.read(texts):
        counts.update({term_of[token] for token in tokens})
        size += 1
    del counts[""]
    return dict(counts), size


def _amount(limit: float) -> str:
    return f"{limit} documents" if isinstance(limit, Integral) else f"a share of {limit:g}"
