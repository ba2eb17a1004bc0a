"""Vocabularies: the terms a document may contain (inputs) and a release may show (outputs)."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeVar

from syntf.analysis import Analysis, Token
from syntf.errors import SyntfError
from syntf.vectors import WordVectors

Provenance = Literal["public", "fitted"]


@dataclass(frozen=True)
class Vocabulary:
    """Input and output terms with the rows of their vectors, and where they come from."""

    inputs: Sequence[str]
    input_rows: Sequence[int]
    outputs: Sequence[str]
    output_rows: Sequence[int]
    provenance: Provenance
    dropped: int = 0
    """Terms given that have no vector."""

    @classmethod
    def default(cls, vectors: WordVectors) -> "Vocabulary":
        """Every word with a vector as input; the embedded public list as outputs."""
        text = files("syntf").joinpath("data", "vocabulary.txt").read_text(encoding="utf-8")
        one = cls.given(text.splitlines(), vectors)
        rows = range(len(vectors.words))
        return cls(vectors.words, rows, one.outputs, one.output_rows, "public", one.dropped)

    @classmethod
    def given(
        cls,
        terms: Iterable[str],
        vectors: WordVectors,
        *,
        provenance: Provenance = "public",
        origin: str = "the vocabulary",
    ) -> "Vocabulary":
        """The same terms as inputs and outputs, as in the paper, where they have a vector."""
        distinct = list(dict.fromkeys(terms))
        for term in distinct:
            if not isinstance(term, str) or not term:
                raise SyntfError(f"the terms of a vocabulary must be words, not {term!r}")
        rows = {term: row for term in distinct if (row := vectors.find(term)) is not None}
        if not rows:
            raise SyntfError(
                f"{origin} has {len(distinct)} terms and none of them has a word vector: "
                "give one term a line, in the language of the vectors"
            )
        known, found = list(rows), list(rows.values())
        return cls(known, found, known, found, provenance, len(distinct) - len(known))

    @classmethod
    def read(cls, path: str | PathLike[str], vectors: WordVectors) -> "Vocabulary":
        """A file with one term a line."""
        source = Path(path)
        if not source.is_file():
            raise SyntfError(f"no vocabulary file at {source}")
        lines = source.read_text(encoding="utf-8-sig", errors="replace").split("\n")
        terms = [line.strip() for line in lines if line.strip()]
        return cls.given(terms, vectors, origin=str(source))

    @classmethod
    def fit(
        cls, texts: Iterable[str], analyzer: Analysis[Any], vectors: WordVectors, *, min_df: int = 2
    ) -> "Vocabulary":
        """The terms with a vector that at least `min_df` of these texts contain, sorted.

        It depends on the texts, so a release that uses it for the same texts is marked.
        """
        documents = Counter[str]()
        term = first_known(analyzer, lambda word: vectors.find(word) is not None)
        remembered = Remembered(term)
        for found in analyzer.read(texts):
            documents.update({remembered[token] for token in found})
        del documents[""]
        terms = sorted(word for word, count in documents.items() if count >= min_df)
        return cls.given(
            terms, vectors, provenance="fitted", origin=f"the text (terms in {min_df} documents)"
        )


def first_known(analyzer: Analysis[Token], known: Callable[[str], bool]) -> Callable[[Token], str]:
    """The function from a token to its first known term, or to '' if it has none."""
    return lambda token: next(filter(known, analyzer.candidates(token)), "")


Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Remembered(dict[Key, Value]):
    """A function of tokens that is computed once for each, bounded in what it remembers."""

    MOST = 4_000_000

    def __init__(self, function: Callable[[Key], Value]) -> None:
        self._function = function

    def __missing__(self, token: Key) -> Value:
        if len(self) >= self.MOST:
            self.clear()
        value = self[token] = self._function(token)
        return value
