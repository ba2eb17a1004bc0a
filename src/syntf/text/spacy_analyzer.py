"""Analysis by a spaCy pipeline: its tokens, lemmas, stop words and numbers.

What a word means to spaCy depends on its neighbours, so a text is read down to the terms
at once: a token *is* the tuple of its candidates.

*One text alone.* A text's terms must depend on that text and no other. Texts that pass a
network in one batch can change each other's last bits, so each passes by itself, in a
memory zone that forgets the words of those before; batches are what processes are given.

*Any text.* An exception or a warning would tell of a text, so there is none: what spaCy
cannot take is replaced, what is too long for it is cut, and a piece that a pipeline still
fails on has no terms. A pipeline that fails on a public text is refused beforehand.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Set
from functools import cache, lru_cache
from itertools import chain, islice
from threading import Lock
from typing import Any

from syntf.core.choices import SPACY
from syntf.core.errors import SyntfError
from syntf.core.parallel import processes
from syntf.text.tokenizer import Morphology, check, lemmatize

Terms = tuple[str, ...]

PREFIX = SPACY

PIECE = 10_000
"""Characters that a pipeline is given at once: spaCy's tokenisers refuse long texts, the Japanese
one from 49,150 bytes on, and networks take memory in proportion."""

RUN = 200
"""Characters without a blank after which one is put: spaCy takes quadratic time for brackets."""

TOGETHER = 64
"""Texts handed to a process at once. Fewer are read in this one."""

BESIDES = (
    "parser senter sentencizer ner entity_linker entity_ruler span_ruler span_finder spancat "
    "spancat_singlelabel textcat textcat_multilabel coref experimental_coref"
).split()
"""What neither lemmas nor tags need, by the usual names."""

_FOR_LEMMAS = (
    "tok2vec transformer curated_transformer tagger morphologizer attribute_ruler lemmatizer "
    "trainable_lemmatizer experimental_edit_tree_lemmatizer"
).split()

_UNTAKEN = re.compile("[\x00\ud800-\udfff]")
_RUN = re.compile(rf"\S{{{RUN}}}")
_PIECE = re.compile(rf"\S.{{0,{PIECE - 1}}}(?=\s|\Z)", re.DOTALL)

_lemmatize = lru_cache(1 << 18)(lemmatize)
_one_at_a_time = Lock()  # a memory zone belongs to one thread


def pieces(text: str) -> list[str]:
    """A text in pieces that spaCy can take, cut at blanks.

    NULs and lone surrogates become blanks, and long runs without a blank get some.

    >>> pieces(" The cat\\x00sat.\\ud800 "), [len(piece) for piece in pieces("a" * 15_000)]
    (['The cat sat.  '], [9848, 5226])
    """
    return _PIECE.findall(_RUN.sub(r"\g<0> ", _UNTAKEN.sub(" ", text)))


class SpacyAnalyzer:
    """The analysis of an installed spaCy pipeline, on all cores.

    Parameters
    ----------
    model : name of a pipeline, or ``blank:LANGUAGE`` for tokens and stop words without one.
    morphology : ``lemma`` (by the pipeline's lemmatiser; an English pipeline without one takes
        :func:`~syntf.text.tokenizer.lemmatize`), ``lower`` or ``orth``.
    stop_words : terms to leave out, lower case; None for the pipeline's own.
    numbers : keep what the pipeline takes for a number.
    """

    def __init__(
        self,
        model: str,
        morphology: Morphology = "lemma",
        *,
        stop_words: Set[str] | None = None,
        numbers: bool = False,
    ) -> None:
        check(morphology, stop_words)
        self.model = model
        self.morphology = morphology
        self.stop_words = None if stop_words is None else frozenset(stop_words)
        self.numbers = numbers
        nlp = self._pipeline()
        self.name = recorded(model, nlp)
        self._lemmas = _has_lemmas(model, nlp)
        if morphology == "lemma" and not self._lemmas and nlp.lang != "en":
            raise SyntfError(
                f"the spaCy pipeline {model!r} has no lemmatiser: choose morphology lower or orth, "
                "or a pipeline with one"
            )

    def read(self, texts: Iterable[str]) -> Iterator[list[Terms]]:
        """The tokens that have terms, text by text."""
        from multiprocessing import current_process

        from joblib import delayed

        rest = iter(texts)
        batches = iter(lambda: list(islice(rest, TOGETHER)), [])
        first = list(islice(batches, 2))
        few = len(first) < 2 or current_process().daemon
        parallel = processes(1 if few else -1, return_as="generator")
        work = (delayed(self._read)(batch) for batch in chain(first, batches))
        return chain.from_iterable(parallel(work))

    def alone(self, word: str) -> Terms:
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
        low = word.lower()
        number = token.like_num
        if not self.numbers if number else self._stops(token, low):
            return ()
        if self.morphology == "lower":
            return (low,)
        if self.morphology == "orth":
            return (word, low)
        lemma = token.lemma_.lower() or low if self._lemmas else _lemmatize(low)
        stopped = self.stop_words is not None and lemma in self.stop_words and not number
        return () if stopped else (lemma, low)

    def _stops(self, token: Any, low: str) -> bool:
        return bool(token.is_stop) if self.stop_words is None else low in self.stop_words

    def _pipeline(self) -> Any:
        return _pipeline(self.model, self.morphology == "lemma")


@cache
def _pipeline(model: str, lemmas: bool) -> Any:
    """The pipeline, loaded once in a process, less what the terms do not need."""
    return load(model, BESIDES if lemmas else [*BESIDES, *_FOR_LEMMAS])


def load(model: str, exclude: list[str]) -> Any:
    """An installed pipeline, or a blank one, without the components named."""
    try:
        import spacy
    except ImportError:
        raise SyntfError("spaCy is not installed: pip install 'syntf[spacy]'") from None
    kind, _, language = model.partition(":")
    if kind == "blank":
        try:
            return spacy.blank(language)
        except ImportError:
            raise SyntfError(
                f"spaCy has no language {language!r}, as in {PREFIX}blank:en"
            ) from None
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


def recorded(model: str, nlp: Any) -> str:
    """The name to record it by: never a path, whichever way the pipeline was named."""
    import spacy

    if model.startswith("blank:"):
        return f"{PREFIX}{model} {spacy.__version__}"
    return f"{PREFIX}{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"


def _has_lemmas(model: str, nlp: Any) -> bool:
    """Try the pipeline on a public text: it must work, and may give lemmas."""
    try:
        return bool(nlp("A public text, of 2 clauses.").has_annotation("LEMMA"))
    except Exception as error:
        raise SyntfError(
            f"the spaCy pipeline {model!r} does not work ({type(error).__name__}): install the "
            "one made for this version of spaCy"
        ) from error
