"""A reader that uses a spaCy pipeline: its tokens, lemmas, stop words and numbers.

*Non-interference.* Texts that pass a neural network in one batch can change each other's last bits.
So each text passes by itself, in a memory zone that forgets the words of earlier texts.

*Any text.* An exception or a warning would reveal something about a text, so there is none:
characters that spaCy cannot handle are replaced, long texts are cut, and a piece on which the
pipeline still fails has no terms. A pipeline that fails on a public text is refused beforehand.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from importlib.metadata import version
from threading import Lock
from typing import Any

from syntf.core.errors import SyntfError
from syntf.settings import SPACY
from syntf.text.context_reader import ContextReader, Term
from syntf.text.lexicon import lemmas
from syntf.words.adapters import load_pipeline, unusable_pipeline
from syntf.words.language import embedded_pack

ZONE_TEXTS = 64
"""How many texts are read before spaCy forgets their words."""

UNUSED_COMPONENTS = tuple(
    "parser senter sentencizer ner entity_linker entity_ruler span_ruler span_finder spancat "
    "spancat_singlelabel textcat textcat_multilabel coref experimental_coref".split()
)
"""Usual names of components that neither lemmas nor tags need."""

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
        super().__init__(words, morphology)
        self.model = model
        self.stop_words = stop_words
        self.numbers = numbers
        nlp = _pipeline(model)
        about = nlp.meta
        named = f"{about['lang']}_{about['name']} {about['version']}"  # never a path
        self.name = SPACY + (f"{model} {version('spacy')}" if model.startswith("blank:") else named)
        try:
            self._has_lemmas = bool(nlp("A public text, of 2 clauses.").has_annotation("LEMMA"))
        except Exception as error:
            raise SyntfError(unusable_pipeline(model, error)) from error
        if morphology == "lemma" and not self._has_lemmas and nlp.lang != "en":
            raise SyntfError(
                f"the spaCy pipeline {model!r} has no lemmatiser: choose morphology lower or orth, "
                "or a pipeline with one"
            )

    def terms(self, texts: Sequence[str]) -> Iterator[list[Term]]:
        """Yield the terms of each text, without those left out."""
        for start in range(0, len(texts), ZONE_TEXTS):
            zone = _pipeline(self.model).memory_zone()
            with _one_at_a_time, zone, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read = list(super().terms(texts[start : start + ZONE_TEXTS]))
            yield from read

    def analysed(self, piece: str) -> Iterable[Any]:
        """Return spaCy's tokens; only lemmas need more than the tokenizer."""
        nlp = _pipeline(self.model)
        found: Iterable[Any] = nlp(piece) if self.morphology == "lemma" else nlp.make_doc(piece)
        return found

    def term(self, token: Any) -> Term:
        """Return the term of a token, or () to leave it out."""
        word = token.text.replace("’", "'")
        lower = word.lower()
        stops, is_number = self.stop_words, token.like_num
        is_stop = token.is_stop if stops is None else lower in stops
        if not any(map(str.isalnum, word)) or (not self.numbers if is_number else is_stop):
            return ()
        lemma = token.lemma_.lower() if self._has_lemmas else _english_lemmas().get(lower)
        forms = self._forms(word, lemma or lower)
        is_stopped = self.morphology == "lemma" and stops is not None and forms[0] in stops
        return () if is_stopped and not is_number else forms


@cache
def _english_lemmas() -> Mapping[str, str]:
    return dict(lemmas(embedded_pack()).iter_rows())


def _pipeline(model: str) -> Any:
    return load_pipeline(model, UNUSED_COMPONENTS)
