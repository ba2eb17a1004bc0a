"""Vocabularies: the terms a document may contain (inputs) and a release may show (outputs)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.resources import files
from itertools import compress
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.choices import Provenance as Provenance
from syntf.core.errors import SyntfError
from syntf.text.tokenizer import Analysis, Analyzer, Memo, first_known, tokenize
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary import wordnet
from syntf.vocabulary.header import MORPHOLOGY, PROVENANCE, TEXTS_DIGEST, read_terms, texts_digest


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
    built_from: Set[str] = frozenset()
    """Digests of texts that its file says it was built from
    (:func:`syntf.vocabulary.header.texts_digest`)."""

    @property
    def digest(self) -> str:
        """The SHA-256 of the outputs, one a line: that of a release's ``vocabulary.txt``."""
        return terms_digest(self.outputs)

    @classmethod
    def default(cls, vectors: WordVectors) -> "Vocabulary":
        """Every word with a vector as input; the embedded public list as outputs."""
        text = files("syntf").joinpath("data", "vocabulary.txt").read_text(encoding="utf-8")
        terms, words = text.splitlines(), vectors.words
        if not vectors.is_embedded:
            return cls.given(terms, vectors).with_every_input(vectors)
        row, rows = -1, []
        for term in terms:  # they stand in the order of the words, so no table of these is needed
            rows.append(row := words.index(term, row + 1))
        return cls(words, range(len(words)), terms, rows, "public")

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
    def read(
        cls,
        path: str | PathLike[str],
        vectors: WordVectors,
        *,
        morphology: str | None = None,
        released: Set[str] = frozenset(),
        texts: Iterable[str] = (),
    ) -> "Vocabulary":
        """A file with one term a line, after a header or without one
        (:mod:`syntf.vocabulary.header`).

        If its header names one of the SHA-256 in `released` (of files) or that of the `texts`,
        or says so itself, it is fitted; if it names another `morphology`, its terms are not
        those of the texts: refused.
        """
        origin, terms = read_terms(path)
        made = cls.given(terms, vectors, origin=str(path))
        if origin is None:
            return made
        for built in origin.values(MORPHOLOGY):
            if morphology not in (None, built):
                raise SyntfError(
                    f"{path} was built with morphology {built}, and {morphology} is chosen: "
                    f"add --morphology {built}, or build the vocabulary again"
                )
        known = {*released, texts_digest(texts)} if origin.values(TEXTS_DIGEST) else released
        fitted = origin.fitted_on(known) or "fitted" in origin.values(PROVENANCE)
        built_from = frozenset(map(str.lower, origin.values(TEXTS_DIGEST)))
        return replace(made, provenance="fitted" if fitted else "public", built_from=built_from)

    def public_for(self, texts: Iterable[str]) -> bool:
        """Whether it is public, and not built from these very texts either."""
        if self.provenance != "public" or not self.built_from:
            return self.provenance == "public"
        return texts_digest(texts) not in self.built_from

    @classmethod
    def fit(
        cls,
        texts: Iterable[str],
        analyzer: Analysis[Any],
        vectors: WordVectors,
        *,
        min_df: float = 2,
        max_df: float = 1.0,
        max_size: int | None = None,
        only: Callable[[Sequence[str]], NDArray[np.bool_]] | None = None,
    ) -> "Vocabulary":
        """The terms with a vector that `min_df` to `max_df` of these texts contain, sorted.

        Whole numbers count texts, others are shares of them, as in scikit-learn. Of more than
        `max_size` terms, those found in the most texts are taken; where these are equal, the
        first in the alphabet. `only` says which terms may be taken at all.

        It depends on the texts, so a release that uses it for the same texts is marked.
        """
        counts = count_documents(texts, analyzer, vectors)
        return cls.of_counts(
            *counts, vectors, min_df=min_df, max_df=max_df, max_size=max_size, only=only
        )

    @classmethod
    def of_counts(
        cls,
        documents: Mapping[str, int],
        size: int,
        vectors: WordVectors,
        *,
        min_df: float = 2,
        max_df: float = 1.0,
        max_size: int | None = None,
        only: Callable[[Sequence[str]], NDArray[np.bool_]] | None = None,
    ) -> "Vocabulary":
        """The same, of terms that so many of `size` texts contain."""
        least, most = _texts(min_df, size), _texts(max_df, size)
        terms = [word for word, count in documents.items() if least <= count <= most]
        if only is not None:
            terms = list(compress(terms, only(terms)))
        if not terms:
            raise SyntfError(
                f"the text (terms in {_amount(min_df)} or more, {_amount(max_df)} or fewer) has 0 "
                "terms with a word vector: lower min_df, raise max_df, or give more texts"
            )
        terms.sort(key=lambda word: (-documents[word], word))
        return cls.given(sorted(terms[:max_size]), vectors, provenance="fitted")

    def most_frequent(self, size: int | None) -> "Vocabulary":
        """The `size` outputs whose vectors stand first, in the order they were given in.

        Files of word vectors list frequent words first, so it takes no text to find these: a
        vocabulary stays as public as it was. Inputs that are the outputs stay so.
        """
        if size is None or size >= len(self.outputs):
            return self
        first = sorted(range(len(self.outputs)), key=self.output_rows.__getitem__)[:size]
        outputs = [self.outputs[place] for place in sorted(first)]
        rows = [self.output_rows[place] for place in sorted(first)]
        made = replace(self, outputs=outputs, output_rows=rows)
        shared = self.inputs is self.outputs
        return replace(made, inputs=outputs, input_rows=rows) if shared else made

    def with_every_input(self, vectors: WordVectors) -> "Vocabulary":
        """Every word with a vector as input, and after them the outputs that are none of these.

        The vector of such an output is that of its lower case.
        """
        if self.inputs is vectors.words:
            return self
        every = range(len(vectors.words))
        rows = zip(self.outputs, self.output_rows, strict=True)
        own = {term: row for term, row in rows if term not in vectors}
        if not own:
            return replace(self, inputs=vectors.words, input_rows=every)
        return replace(self, inputs=[*vectors.words, *own], input_rows=[*every, *own.values()])

    def with_synonyms(self, analyzer: Analyzer, vectors: WordVectors) -> "Vocabulary":
        """These terms, and after them the synonyms of the outputs in WordNet, sorted.

        Where inputs and outputs are the same terms they stay so; else only outputs are added,
        and only what is an input already. WordNet is public, so where the terms come from
        stays what it was.
        """
        shared = self.inputs is self.outputs
        inputs = set(self.inputs)

        def known(word: str) -> bool:
            return vectors.find(word) is not None if shared else word in inputs

        def term(lemma: str) -> str:
            """As a text would yield it, but for forms that are dictionary forms to WordNet."""
            forms = analyzer.candidates(lemma)
            return next(filter(known, forms[analyzer.morphology == "lemma" :]), "")

        lemmas = set[str]().union(*wordnet.synonyms(self.outputs).values())
        terms = {term(lemma) for lemma in lemmas if tokenize(lemma) == [lemma]}
        new = sorted(terms - {"", *self.outputs})
        added = {word: row for word in new if (row := vectors.find(word)) is not None}
        outputs, rows = [*self.outputs, *added], [*self.output_rows, *added.values()]
        made = replace(self, outputs=outputs, output_rows=rows)
        return replace(made, inputs=outputs, input_rows=rows) if shared else made


def count_documents(
    texts: Iterable[str], analyzer: Analysis[Any], vectors: WordVectors
) -> tuple[Mapping[str, int], int]:
    """How many of the texts contain each term with a vector, and how many texts there are."""
    documents, size = Counter[str](), 0
    term = first_known(analyzer, lambda word: vectors.find(word) is not None)
    remembered = Memo(term)
    for found in analyzer.read(texts):
        documents.update({remembered[token] for token in found})
        size += 1
    del documents[""]
    return documents, size


def as_lines(terms: Iterable[str]) -> str:
    """Terms as the text of a file, one a line."""
    return "".join(f"{term}\n" for term in terms)


def terms_digest(terms: Iterable[str]) -> str:
    return sha256(as_lines(terms).encode()).hexdigest()


def _texts(limit: float, size: int) -> float:
    return int(limit) if isinstance(limit, Integral) else limit * size


def _amount(limit: float) -> str:
    return f"{limit} documents" if isinstance(limit, Integral) else f"a share of {limit:g}"
