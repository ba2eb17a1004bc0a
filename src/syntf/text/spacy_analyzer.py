"""An analyzer that uses a spaCy pipeline: its tokens, lemmas, stop words and numbers.

To spaCy, the meaning of a word depends on its context, so a text is read down to its terms in one
step: here a token *is* the tuple of its candidate terms.

*Non-interference.* A text's terms must depend on that text alone. Texts that pass a neural network
in one batch can change each other's last bits. So each text passes by itself, in a memory zone that
forgets the words of earlier texts; only the work for processes is grouped into batches.

*Any text.* An exception or a warning would reveal something about a text, so there is none:
characters that spaCy cannot handle are replaced, long texts are cut, and a piece on which the
pipeline still fails has no terms. A pipeline that fails on a public text is refused beforehand.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Set
from functools import cache, lru_cache
from itertools import chain, islice
from threading import Lock
from typing import Any

from syntf.core.choices import SPACY, Morphology
from syntf.core.errors import SyntfError
from syntf.core.parallel import processes
from syntf.text.tokenizer import check_options, lemmatize

Terms = tuple[str, ...]

PIECE_CHARACTERS = 10_000
"""How many characters the pipeline gets at a time: spaCy's tokenisers refuse long texts (the
Japanese one from 49,150 bytes on), and networks need memory in proportion."""

RUN_CHARACTERS = 200
"""Insert a blank after this many characters without one: brackets take spaCy quadratic time."""

BATCH_TEXTS = 64
"""How many texts a process gets at a time. Fewer texts are read in this process."""

UNUSED_COMPONENTS = (
    "parser senter sentencizer ner entity_linker entity_ruler span_ruler span_finder spancat "
    "spancat_singlelabel textcat textcat_multilabel coref experimental_coref"
).split()
"""Usual names of components that neither lemmas nor tags need."""

_LEMMA_COMPONENTS = (
    "tok2vec transformer curated_transformer tagger morphologizer attribute_ruler lemmatizer "
    "trainable_lemmatizer experimental_edit_tree_lemmatizer"
).split()

_UNSUPPORTED = re.compile("[\x00\ud800-\udfff]")
_RUN = re.compile(rf"\S{{{RUN_CHARACTERS}}}")
_PIECE = re.compile(rf"\S.{{0,{PIECE_CHARACTERS - 1}}}(?=\s|\Z)", re.DOTALL)

_lemmatize = lru_cache(1 << 18)(lemmatize)
_one_at_a_time = Lock()  # a memory zone belongs to one thread


def pieces(text: str) -> list[str]:
    """Cut a text at blanks into pieces that spaCy can handle.

    NULs and lone surrogates become blanks, and blanks are inserted into long runs without one.

    >>> pieces(" The cat\\x00sat.\\ud800 "), [len(piece) for piece in pieces("a" * 15_000)]
    (['The cat sat.  '], [9848, 5226])
    """
    return _PIECE.findall(_RUN.sub(r"\g<0> ", _UNSUPPORTED.sub(" ", text)))


class SpacyAnalyzer:
    """An analyzer that runs an installed spaCy pipeline on all cores.

    Parameters
    ----------
    model : name of a pipeline, or ``blank:LANGUAGE`` for tokens and stop words only.
    morphology : ``lemma`` (by the pipeline's lemmatiser; an English pipeline without one uses
        :func:`~syntf.text.tokenizer.lemmatize`), ``lower`` or ``orth``.
    stop_words : terms to leave out, lower case; None for the pipeline's own list.
    numbers : include what the pipeline recognises as a number.
    """

    def __init__(
        self,
        model: str,
        morphology: Morphology = "lemma",
        *,
        stop_words: Set[str] | None = None,
        numbers: bool = False,
    ) -> None:
        check_options(morphology, stop_words)
        self.model = model
        self.morphology = morphology
        self.stop_words = None if stop_words is None else frozenset(stop_words)
        self.numbers = numbers
        nlp = self._pipeline()
        self.name = recorded_name(model, nlp)
        self._lemmas = _has_lemmas(model, nlp)
        if morphology == "lemma" and not self._lemmas and nlp.lang != "en":
            raise SyntfError(
                f"the spaCy pipeline {model!r} has no lemmatiser: choose morphology lower or orth, "
                "or a pipeline with one"
            )

    def read(self, texts: Iterable[str]) -> Iterator[list[Terms]]:
        """Yield for each text its tokens that have terms."""
        from multiprocessing import current_process

        from joblib import delayed

        remaining = iter(texts)
        batches = iter(lambda: list(islice(remaining, BATCH_TEXTS)), [])
        first = list(islice(batches, 2))
        one_process = len(first) < 2 or current_process().daemon
        parallel = processes(1 if one_process else -1, return_as="generator")
        tasks = (delayed(self._read)(batch) for batch in chain(first, batches))
        return chain.from_iterable(parallel(tasks))

    def token_of(self, word: str) -> Terms:
        return tuple(chain.from_iterable(self._read([word])[0]))

    def candidates(self, token: Terms) -> Terms:
        return token

    def _read(self, texts: list[str]) -> list[list[Terms]]:
        nlp = self._pipeline()
        with _one_at_a_time, nlp.memory_zone(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [
                [terms for piece in pieces(text) for terms in self._terms_of(nlp, piece)]
                for text in texts
            ]

    def _terms_of(self, nlp: Any, piece: str) -> list[Terms]:
        try:
            return [terms for token in nlp(piece) if (terms := self._terms(token))]
        except MemoryError:
            raise
        except Exception:
            return []

    def _terms(self, token: Any) -> Terms:
        word = token.text.replace("’", "'")
        if not any(map(str.isalnum, word)):
            return ()
        lower = word.lower()
        number = token.like_num
        if not self.numbers if number else self._is_stop_word(token, lower):
            return ()
        if self.morphology == "lower":
            return (lower,)
        if self.morphology == "orth":
            return (word, lower)
        lemma = token.lemma_.lower() or lower if self._lemmas else _lemmatize(lower)
        stopped = self.stop_words is not None and lemma in self.stop_words and not number
        return () if stopped else (lemma, lower)

    def _is_stop_word(self, token: Any, lower: str) -> bool:
        return bool(token.is_stop) if self.stop_words is None else lower in self.stop_words

    def _pipeline(self) -> Any:
        return _pipeline(self.model, self.morphology == "lemma")


@cache
def _pipeline(model: str, lemmas: bool) -> Any:
    """Return the pipeline, loaded once in a process, without components that terms do not need."""
    return load(model, UNUSED_COMPONENTS if lemmas else [*UNUSED_COMPONENTS, *_LEMMA_COMPONENTS])


def load(model: str, exclude: list[str]) -> Any:
    """Load an installed pipeline, or a blank one, without the excluded components."""
    try:
        import spacy
    except ImportError:
        raise SyntfError("spaCy is not installed: pip install 'syntf[spacy]'") from None
    kind, _, language = model.partition(":")
    if kind == "blank":
        try:
            return spacy.blank(language)
        except ImportError:
            raise SyntfError(f"spaCy has no language {language!r}, as in {SPACY}blank:en") from None
    try:
        return spacy.load(model, exclude=exclude)
    except Exception as error:
        missing = isinstance(error, OSError) and "[E050]" in str(error)
        raise SyntfError(
            f"no spaCy pipeline {model!r} is installed: python -m spacy download {model}, "
            "or pip install the package that holds it"
            if missing
            else f"spaCy cannot load the pipeline {model!r} ({type(error).__name__}): install the "
            "one made for this version of spaCy"
        ) from error


def recorded_name(model: str, nlp: Any) -> str:
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
