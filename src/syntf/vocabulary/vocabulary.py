"""Vocabularies: the terms a document may contain (inputs) and a release may show (outputs)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from os import PathLike

from syntf.core.choices import Provenance
from syntf.core.errors import SyntfError
from syntf.language.pack import embedded_pack
from syntf.text.tokenizer import Analyzer, tokenize
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary import wordnet
from syntf.vocabulary.header import MORPHOLOGY, read_terms


@dataclass(frozen=True)
class Vocabulary:
    """Input and output terms with the rows of their vectors.

    Attributes
    ----------
    inputs, input_rows : terms that a document may contain, and the rows of their vectors.
    outputs, output_rows : terms that a release may show, and the rows of their vectors.
    provenance : ``public``, or ``fitted`` on texts that are not declared public.
    dropped : how many of the given terms have no vector.
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
        return terms_digest(self.outputs)

    @classmethod
    def default(cls, vectors: WordVectors) -> "Vocabulary":
        """Return every word with a vector as input and the list of its language as outputs."""
        pack, words = vectors.pack, vectors.words
        terms = (pack or embedded_pack()).lines("vocabulary")
        if pack is None:
            return cls.given(terms, vectors).with_every_input(vectors)
        row, rows = -1, []
        try:
            for term in terms:  # they have the order of the words, so no dictionary is needed
                rows.append(row := words.index(term, row + 1))
        except ValueError:
            raise SyntfError(
                f"{pack.path('vocabulary')} does not list words of the pack in their order"
            ) from None
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
    def read(
        cls, path: str | PathLike[str], vectors: WordVectors, *, morphology: str | None = None
    ) -> "Vocabulary":
        """Read a file with one term on each line, with or without a header.

        The header, if there is one, declares whether the vocabulary is public
        (:mod:`syntf.vocabulary.header`). A file that was built with another `morphology` is
        refused, because its terms would not match those of the texts.
        """
        header, terms = read_terms(path)
        for built in header.values(MORPHOLOGY) if header else ():
            if morphology not in (None, built):
                raise SyntfError(
                    f"{path} was built with morphology {built}, but {morphology} is selected: "
                    f"add --morphology {built}, or build the vocabulary again"
                )
        provenance = header.provenance if header else "public"
        return cls.given(terms, vectors, provenance=provenance, origin=str(path))

    def most_frequent(self, size: int | None) -> "Vocabulary":
        """Return the `size` outputs whose vectors come first, in their present order.

        Files of word vectors list frequent words first, so this needs no text: a vocabulary stays
        as public as it was. If the inputs are the outputs, they stay the same.
        """
        if size is None or size >= len(self.outputs):
            return self
        first = sorted(range(len(self.outputs)), key=self.output_rows.__getitem__)[:size]
        outputs = [self.outputs[place] for place in sorted(first)]
        return self._with_outputs(outputs, [self.output_rows[place] for place in sorted(first)])

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

    def with_synonyms(self, analyzer: Analyzer, vectors: WordVectors) -> "Vocabulary":
        """Append the synonyms of the outputs in WordNet, sorted.

        If inputs and outputs are the same terms, they stay so. Otherwise only outputs are added,
        and only terms that are inputs already. WordNet is public, so the provenance stays.
        """
        shared = self.inputs is self.outputs
        inputs = set(self.inputs)

        def known(word: str) -> bool:
            return vectors.find(word) is not None if shared else word in inputs

        def term(lemma: str) -> str:
            """Return the term as a text would yield it, but trust WordNet that it is a lemma."""
            forms = analyzer.candidates(lemma)
            return next(filter(known, forms[analyzer.morphology == "lemma" :]), "")

        lemmas = set[str]().union(*wordnet.synonyms(self.outputs).values())
        terms = {term(lemma) for lemma in lemmas if tokenize(lemma) == [lemma]}
        new = sorted(terms - {"", *self.outputs})
        added = {word: row for word in new if (row := vectors.find(word)) is not None}
        return self._with_outputs([*self.outputs, *added], [*self.output_rows, *added.values()])

    def _with_outputs(self, outputs: list[str], rows: list[int]) -> "Vocabulary":
        """Replace the outputs, and the inputs too if they are the same terms."""
        changed = replace(self, outputs=outputs, output_rows=rows)
        shared = self.inputs is self.outputs
        return replace(changed, inputs=outputs, input_rows=rows) if shared else changed


def as_lines(terms: Iterable[str]) -> str:
    """Return terms as the text of a file, one on each line."""
    return "\n".join([*terms, ""])


def terms_digest(terms: Iterable[str]) -> str:
    """Return the SHA-256 of terms, one on each line."""
    return sha256(as_lines(terms).encode()).hexdigest()
