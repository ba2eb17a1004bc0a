"""Texts with personal information removed by scrubadub: the baseline the paper compares with.

scrubadub 2 leaves names alone unless told otherwise. That of 2018, 1.2.0, took every proper
noun for a name, and gives the paper's utility: .64 on 20 newsgroups. Its rule is kept here
as a detector: a word that textblob's pattern tagger calls a proper noun (NNP, NNPS) anywhere
in a text is a name wherever it stands in that text, in the same letters and between word
boundaries. Where two names begin at one place, 1.2.0 took whichever a hash put first; here
it is the longer one.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from syntf.core.errors import SyntfError
from syntf.core.progress import Advance

PROPER_NOUNS = ("NNP", "NNPS")

NO_NAMES = frozenset({"skype"})
"""Proper nouns that scrubadub does not take for names, lower case."""


def scrub(
    texts: Iterable[str], *, names: bool = False, progress: Advance | None = None
) -> list[str]:
    """Each text as scrubadub cleans it with its defaults; with `names`, of proper nouns too.

    What is removed leaves a placeholder, such as ``{{EMAIL}}`` or ``{{NAME}}``. No text is
    known that scrubadub fails on: empty ones, long lines, NULs and lone surrogates pass. If it
    does fail, nothing in that text can be called clean: it becomes empty, and a warning tells
    of it.
    """
    scrubber = _package().Scrubber()
    if names:
        scrubber.add_detector(_detector()())
    cleaned = []
    for number, text in enumerate(texts):
        cleaned.append(_clean(scrubber, text, number))
        if progress:
            progress(1)
    return cleaned


def version() -> str:
    """The scrubber and its version, to stand beside results."""
    return f"scrubadub {_package().__version__}"


def find_names(text: str) -> Iterator[tuple[int, int]]:
    """Where the names in a text begin and end, in order."""
    nouns = {word for word, tag in _tagger()(text) if tag in PROPER_NOUNS}
    named = sorted((noun for noun in nouns if noun.lower() not in NO_NAMES), key=len, reverse=True)
    if named:
        anywhere = re.compile(rf"\b(?:{'|'.join(map(re.escape, named))})\b")
        yield from (found.span() for found in anywhere.finditer(text))


def _clean(scrubber: Any, text: str, number: int) -> str:
    try:
        with warnings.catch_warnings():
            # It warns of each placeholder that it writes by default.
            warnings.simplefilter("ignore", DeprecationWarning)
            cleaned: str = scrubber.clean(text)
            return cleaned
    except Exception as error:
        kind = type(error).__name__  # never its message, which may quote the text
        warnings.warn(f"scrubadub failed on text {number}, now empty: {kind}", stacklevel=3)
        return ""


def _package() -> Any:
    """scrubadub, imported when first needed: it is optional, and takes more than a second."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old syntax in the textblob it asks for
            import scrubadub
    except ImportError:
        raise SyntfError("scrubadub is not installed: pip install 'syntf[evaluate]'") from None
    return scrubadub


@cache
def _tagger() -> Callable[[str], list[tuple[str, str]]]:
    """The tagger of textblob that needs no download, with its lexicon read."""
    _package()
    from textblob.en.taggers import PatternTagger

    tag: Callable[[str], list[tuple[str, str]]] = PatternTagger().tag
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the file that it reads at its first word, left open
        tag("word")
    return tag


@cache
def _detector() -> Any:
    """The class of the detector: scrubbers are given it one by one, and none has it by default."""
    package = _package()

    class ProperNounDetector(package.detectors.Detector):  # type: ignore[misc, name-defined]
        """Proper nouns as names."""

        name = "proper_noun"
        filth_cls = package.filth.NameFilth

        def iter_filth(self, text: str, document_name: str | None = None) -> Iterator[Any]:
            for beg, end in find_names(text):
                yield self.filth_cls(
                    beg=beg,
                    end=end,
                    text=text[beg:end],
                    detector_name=self.name,
                    document_name=document_name,
                    locale=self.locale,
                )

    return ProperNounDetector
