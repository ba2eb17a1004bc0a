"""Measure how many words of the texts a vocabulary knows, for the owner of the texts.

Guarantee
---------
None: these figures are exact, and a single document changes them. They are not part of a release
(``docs/decisions/0005-coverage.md``).
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from syntf.text.tokenizer import Analysis, Memo

Kind = Literal["left out", "known", "unknown"]


@dataclass(frozen=True)
class Coverage:
    """The number of documents, of tokens of each kind, and of documents without a known word."""

    documents: int
    left_out: int
    known: int
    unknown: int
    empty: int

    @property
    def tokens(self) -> int:
        return self.left_out + self.known + self.unknown


def coverage(texts: Iterable[str], analyzer: Analysis[Any], inputs: Iterable[str]) -> Coverage:
    """Count the tokens of all texts.

    >>> from syntf.text.tokenizer import Analyzer
    >>> coverage(["The cats chased 2 qwxyz.", "Qwxyz!"], Analyzer(), ["cat", "chase"])
    Coverage(documents=2, left_out=2, known=2, unknown=2, empty=1)
    """
    terms = frozenset(inputs)

    def kind(token: Any) -> Kind:
        candidates = analyzer.candidates(token)
        if not candidates:
            return "left out"
        return "unknown" if terms.isdisjoint(candidates) else "known"

    kind_of = Memo(kind)
    count, documents, empty = Counter[Kind](), 0, 0
    for tokens in analyzer.read(texts):
        found = Counter(kind_of[token] for token in tokens)
        count.update(found)
        documents += 1
        empty += not found["known"]
    return Coverage(documents, count["left out"], count["known"], count["unknown"], empty)
