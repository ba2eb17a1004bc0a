"""Vocabularies: the terms a document may contain (inputs) and a release may show (outputs)."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Literal

from syntf.core.errors import SyntfError
from syntf.words import wordnet
from syntf.words.language import embedded_pack
from syntf.words.vectors import WordVectors

Provenance = Literal["public", "fitted"]

FIRST_LINE = "# syntf vocabulary"


@dataclass(frozen=True)
class Vocabulary:
    """Input and output terms with the rows of their vectors.

    Attributes
    ----------
    inputs, input_rows : terms that a document may contain, and the rows of their vectors.
    outputs, output_rows : terms that a release may show, and the rows of their vectors.
    provenance : ``public``, or ``fitted`` on texts that are not declared public.
    dropped : how many of the given terms have no vector.

    Examples
    --------
    >>> vectors = WordVectors.embedded()
    >>> words = Vocabulary.given(["cat", "dog", "qwxyz"], vectors)
    >>> words.outputs, words.dropped, len(words.with_every_input(vectors).inputs)
    (['cat', 'dog'], 1, 100000)
    >>> Vocabulary.default(vectors).most_frequent(3).outputs
    ['year', 'people', 'percent']
    """

    inputs: Sequence[str]
    input_rows: Sequence[int]
    outputs: Sequence[str]
    output_rows: Sequence[int]
    provenance: Provenance
    dropped: int = 0

    @property
    def digest(self) -> str:
        """The SHA-256 of the outputs, one on each line, as in a release's ``vocabulary.txt``."""
        return sha256(as_lines(self.outputs).encode()).hexdigest()

    @classmethod
    def default(cls, vectors: WordVectors) -> "Vocabulary":
        """Return every word with a vector as input and the list of its language as outputs."""
        terms = (vectors.pack or embedded_pack()).lines("vocabulary")
        return cls.given(terms, vectors).with_every_input(vectors)

    @classmethod
    def given(
        cls,
        terms: Iterable[str],
        vectors: WordVectors,
        *,
        provenance: Provenance = "public",
        origin: str = "the vocabulary",
    ) -> "Vocabulary":
        """Return those of the terms that have a vector, as inputs and outputs, as in the paper."""
        distinct = list(dict.fromkeys(terms))
        for term in distinct:
            if not isinstance(term, str) or not term:
                raise SyntfError(f"the terms of a vocabulary must be words, not {term!r}")
        rows = {term: row for term in distinct if (row := vectors.find(term)) is not None}
        if not rows:
            raise SyntfError(
                f"{origin} has {len(distinct)} terms and none of them has a word vector: "
                "give one term on each line, in the language of the vectors"
            )
        known, found = list(rows), list(rows.values())
        return cls(known, found, known, found, provenance, len(distinct) - len(known))

    @classmethod
    def read(cls, path: str | PathLike[str], vectors: WordVectors) -> "Vocabulary":
        """Read a file with one term on each line.

        The terms are public on the word of whoever makes the release. This is *declared*. It is
        never found out by comparing them with the texts: the result would be visible in the
        release, and whoever supplies the vocabulary could use it to test whether a text is in the
        corpus.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig", errors="replace")
        except OSError as error:
            raise SyntfError(f"cannot read the vocabulary {path}: {error.strerror}") from None
        if text.startswith(FIRST_LINE):
            raise SyntfError(
                f"{path} is a vocabulary of version 0.2, which may come from texts that are not "
                "public: use fit_vocabulary, or remove the lines with # if its terms are public"
            )
        terms = filter(None, map(str.strip, text.split("\n")))
        return cls.given(terms, vectors, origin=str(path))

    def most_frequent(self, size: int | None) -> "Vocabulary":
        """Return the `size` outputs whose vectors come first, in their present order.

        Files of word vectors list frequent words first, so this needs no text: a vocabulary stays
        as public as it was. If the inputs are the outputs, they stay the same.
        """
        if size is None or size >= len(self.outputs):
            return self
        kept = sorted(sorted(range(len(self.outputs)), key=self.output_rows.__getitem__)[:size])
        rows = [self.output_rows[place] for place in kept]
        return self._with_outputs([self.outputs[place] for place in kept], rows)

    def with_every_input(self, vectors: WordVectors) -> "Vocabulary":
        """Return every word with a vector as input, followed by outputs that are not among them.

        Such an output uses the vector of its lower case.
        """
        if self.inputs is vectors.words:
            return self
        every = range(len(vectors.words))
        rows = zip(self.outputs, self.output_rows, strict=True)
        more = {term: row for term, row in rows if term not in vectors}
        if not more:
            return replace(self, inputs=vectors.words, input_rows=every)
        return replace(self, inputs=[*vectors.words, *more], input_rows=[*every, *more.values()])

    def with_synonyms(self, vectors: WordVectors, *, lower: bool = True) -> "Vocabulary":
        """Append the synonyms of the outputs in WordNet, sorted.

        Synonyms are single words that have a vector and are neither function words nor words for
        numbers; in lower case, or as WordNet writes them. If inputs and outputs are the same terms,
        they stay so. Otherwise only outputs are added, and only terms that are inputs already.
        WordNet is public, so the provenance stays.
        """
        shared = self.inputs is self.outputs
        pack = vectors.pack or embedded_pack()
        left_out = pack.stop_words | pack.number_words | {*self.outputs}
        inputs = None if shared else set(self.inputs)
        found = set[str]().union(*wordnet.synonyms(self.outputs).values())
        added = {}
        for lemma in sorted({lemma.lower() if lower else lemma for lemma in found}):
            row = vectors.find(lemma)
            is_new = lemma not in left_out and lemma.lower() not in left_out
            if row is None or not is_new or lemma.isdigit() or not is_single_word(lemma):
                continue
            if inputs is None or lemma in inputs:
                added[lemma] = row
        return self._with_outputs([*self.outputs, *added], [*self.output_rows, *added.values()])

    def _with_outputs(self, outputs: list[str], rows: list[int]) -> "Vocabulary":
        """Replace the outputs, and the inputs too if they are the same terms."""
        changed = replace(self, outputs=outputs, output_rows=rows)
        shared = self.inputs is self.outputs
        return replace(changed, inputs=outputs, input_rows=rows) if shared else changed


def is_single_word(word: str, *, apostrophe: bool = True) -> bool:
    """Tell whether a text is one run of letters, digits and combining marks.

    apostrophe : whether one apostrophe may stand inside the word.

    >>> [is_single_word(word) for word in ("cat", "o'clock", "e-mail", "cable car")]
    [True, True, False, False]
    """
    parts = word.split("'")
    return len(parts) <= 1 + apostrophe and all(
        part and all(sign.isalnum() or unicodedata.category(sign) in ("Mn", "Mc") for sign in part)
        for part in parts
    )


def as_lines(terms: Iterable[str]) -> str:
    """Return terms as the text of a file, one on each line."""
    return "\n".join([*terms, ""])
