"""A reader that uses a spaCy pipeline: its tokens, lemmas, stop words and numbers.

*Non-interference.* Texts that pass a neural network in one batch can change each other's last bits.
So each text passes by itself, in a memory zone that forgets the words of earlier texts.

*Any text.* An exception or a warning would reveal something about a text, so there is none:
characters that spaCy cannot handle are replaced, long texts are cut, and a piece on which the
pipeline still fails has no terms. A pipeline that fails on a public text is refused beforehand.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from threading import Lock
from typing import Any

from syntf.core.errors import SyntfError
from syntf.core.extras import needed_for
from syntf.settings import SPACY
from syntf.text.context_reader import ContextReader, Term, pieces
from syntf.text.lexicon import lemmas
from syntf.words.language import embedded_pack

ZONE_TEXTS = 64
"""How many texts are read before spaCy forgets their words."""

UNUSED_COMPONENTS = (
    "parser senter sentencizer ner entity_linker entity_ruler span_ruler span_finder spancat "
    "spancat_singlelabel textcat textcat_multilabel coref experimental_coref"
).split()
"""Usual names of components that neither lemmas nor tags need."""

_LEMMA_COMPONENTS = (
    "tok2vec transformer curated_transformer tagger morphologizer attribute_ruler lemmatizer "
    "trainable_lemmatizer experimental_edit_tree_lemmatizer"
).split()

_one_at_a_time = Lock()  # a memory zone belongs to one thread


class SpacyReader(ContextReader):
    """Reads words with an installed spaCy pipeline.

    Parameters
    ----------
    words : the known words.
    model : name of a pipeline, or ``blank:LANGUAGE`` for tokens and stop words only.
    morphology : ``lemma`` (by the pipeline's lemmatiser; an English pipeline without one uses the
        embedded lexicon), ``lower`` or ``orth``.
    stop_words : words to leave out, lower case; None for the pipeline's own list.
    numbers : include what the pipeline recognises as a number.
    """

    def __init__(
        self,
        words: Sequence[str],
        model: str,
        morphology: str,
        *,
        stop_words: Set[str] | None,
        numbers: bool,
    ) -> None:
        super().__init__(words)
        self.model = model
        self.morphology = morphology
        self.stop_words = stop_words
        self.numbers = numbers
        nlp = self._pipeline()
        self.name = _recorded_name(model, nlp)
        self._has_lemmas = _has_lemmas(model, nlp)
        if morphology == "lemma" and not self._has_lemmas and nlp.lang != "en":
            raise SyntfError(
                f"the spaCy pipeline {model!r} has no lemmatiser: choose morphology lower or orth, "
                "or a pipeline with one"
            )

    def terms(self, texts: Sequence[str]) -> Iterator[list[Term]]:
        """Yield the terms of each text, without those left out."""
        nlp = self._pipeline()
        for start in range(0, len(texts), ZONE_TEXTS):
            with _one_at_a_time, nlp.memory_zone(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read = [
                    [term for piece in pieces(text) for term in self._terms_of(nlp, piece)]
                    for text in texts[start : start + ZONE_TEXTS]
                ]
            yield from read

    def _terms_of(self, nlp: Any, piece: str) -> list[Term]:
        try:
            return [term for token in nlp(piece) if (term := self._term(token))]
        except MemoryError:
            raise
        except Exception:
            return []

    def _term(self, token: Any) -> Term:
        """Return the term of a token, or () to leave it out."""
        word = token.text.replace("’", "'")
        if not any(map(str.isalnum, word)):
            return ()
        lower = word.lower()
        is_number = token.like_num
        if not self.numbers if is_number else self._is_stop_word(token, lower):
            return ()
        if self.morphology == "lower":
            return (lower,)
        if self.morphology == "orth":
            return (word, lower)
        lemma = token.lemma_.lower() if self._has_lemmas else _english_lemmas().get(lower)
        lemma = lemma or lower
        is_stopped = self.stop_words is not None and lemma in self.stop_words and not is_number
        return () if is_stopped else (lemma, lower)

    def _is_stop_word(self, token: Any, lower: str) -> bool:
        return bool(token.is_stop) if self.stop_words is None else lower in self.stop_words

    def _pipeline(self) -> Any:
        return _pipeline(self.model, self.morphology == "lemma")


@cache
def _english_lemmas() -> Mapping[str, str]:
    return dict(lemmas(embedded_pack()).iter_rows())


@cache
def _pipeline(model: str, with_lemmas: bool) -> Any:
    """Return a pipeline, loaded once in a process, without components that terms do not need."""
    with needed_for(f"the analyzer {SPACY}{model}", "spacy"):
        import spacy
    kind, _, language = model.partition(":")
    if kind == "blank":
        try:
            return spacy.blank(language)
        except ImportError:
            raise SyntfError(f"spaCy has no language {language!r}, as in {SPACY}blank:en") from None
    unused = UNUSED_COMPONENTS if with_lemmas else UNUSED_COMPONENTS + _LEMMA_COMPONENTS
    try:
        return spacy.load(model, exclude=unused)
    except Exception as error:
        is_missing = isinstance(error, OSError) and "[E050]" in str(error)
        raise SyntfError(
            f"no spaCy pipeline {model!r} is installed: python -m spacy download {model}, "
            "or pip install the package that holds it"
            if is_missing
            else f"spaCy cannot load the pipeline {model!r} ({type(error).__name__}): install the "
            "one made for this version of spaCy"
        ) from error


def _recorded_name(model: str, nlp: Any) -> str:
    """Return the name that the guarantee records, never a path."""
    import spacy

    if model.startswith("blank:"):
        return f"{SPACY}{model} {spacy.__version__}"
    return f"{SPACY}{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"


def _has_lemmas(model: str, nlp: Any) -> bool:
    """Try the pipeline on a public text and tell whether it gives lemmas."""
    try:
        return bool(nlp("A public text, of 2 clauses.").has_annotation("LEMMA"))
    except Exception as error:
        raise SyntfError(
            f"the spaCy pipeline {model!r} does not work ({type(error).__name__}): install the "
            "one made for this version of spaCy"
        ) from error
