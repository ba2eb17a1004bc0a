"""Remove personal information from texts with scrubadub, the baseline of the paper.

scrubadub 2 does not remove names by default. Version 1.2.0 of 2018, which the paper used, removed
every proper noun. Its rule is implemented here as a detector: a word that textblob's pattern tagger
calls a proper noun (NNP, NNPS) anywhere in a text is a name wherever it occurs in that text, in the
same letters and between word boundaries. Where two names begin at the same place, 1.2.0 took
either of them; here the longer one is taken. This gives the paper's utility on 20 newsgroups, .64.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from syntf.core.errors import SyntfError

PROPER_NOUNS = ("NNP", "NNPS")

NOT_NAMES = frozenset({"skype"})
"""Proper nouns, in lower case, that scrubadub does not regard as names."""


def scrub(texts: Iterable[str], *, names: bool = False) -> list[str]:
    """Clean each text with scrubadub's default detectors; `names` also removes proper nouns.

    A removed part becomes a placeholder such as ``{{EMAIL}}`` or ``{{NAME}}``. scrubadub is not
    known to fail on any text. If it does, the text becomes empty, because no part of it can be
    called clean, and a warning is given.
    """
    return scrub_in_ways(texts, [names])[0]


def scrub_in_ways(texts: Iterable[str], ways: Sequence[bool]) -> list[list[str]]:
    """Clean each text in several ways; each way says whether names are removed, see :func:`scrub`.

    Phone numbers are looked for once in each text, which takes most of the time.
    """
    scrubbers = [_scrubadub().Scrubber() for _ in ways]
    detectors = [scrubber._detectors["phone"] for scrubber in scrubbers]
    remembered = _remember_last(detectors[0].iter_filth) if detectors else None
    for names, scrubber, detector in zip(ways, scrubbers, detectors, strict=True):
        detector.iter_filth = remembered
        if names:
            scrubber.add_detector(_proper_noun_detector()())
    cleaned: list[list[str]] = [[] for _ in ways]
    for number, text in enumerate(texts):
        for part, scrubber in zip(cleaned, scrubbers, strict=True):
            part.append(_clean(scrubber, text, number))
    return cleaned


def _remember_last(find: Callable[..., Iterable[Any]]) -> Callable[..., Iterable[Any]]:
    """Return a function that keeps what was found in the last text, and finds it only once."""
    last_text: str | None = None
    last_found: list[Any] = []

    def find_once(text: str, document_name: str | None = None) -> list[Any]:
        nonlocal last_text, last_found
        if text is not last_text:
            last_text, last_found = None, list(find(text, document_name=document_name))
            last_text = text
        return last_found

    return find_once


def scrubber_version() -> str:
    """Return scrubadub's name and version; raise an error if it is not installed."""
    return f"scrubadub {_scrubadub().__version__}"


def find_names(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each name in a text, in order."""
    nouns = {word for word, tag in _pattern_tagger()(text) if tag in PROPER_NOUNS}
    names = sorted((noun for noun in nouns if noun.lower() not in NOT_NAMES), key=len, reverse=True)
    if names:
        pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
        yield from (match.span() for match in pattern.finditer(text))


def _clean(scrubber: Any, text: str, number: int) -> str:
    try:
        with warnings.catch_warnings():
            # scrubadub warns about every placeholder that it writes by default.
            warnings.simplefilter("ignore", DeprecationWarning)
            cleaned: str = scrubber.clean(text)
            return cleaned
    except Exception as error:
        kind = type(error).__name__  # not its message, which may quote the text
        warnings.warn(f"scrubadub failed on text {number}, now empty: {kind}", stacklevel=4)
        return ""


def _scrubadub() -> Any:
    """Import scrubadub when it is needed: it is optional and its import takes over a second."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about old syntax in textblob, which it imports
            import scrubadub
    except ImportError:
        raise SyntfError("scrubadub is not installed: pip install 'syntf[evaluate]'") from None
    return scrubadub


@cache
def _pattern_tagger() -> Callable[[str], list[tuple[str, str]]]:
    """Return textblob's tagger that needs no download, with its lexicon loaded."""
    _scrubadub()
    from textblob.en.taggers import PatternTagger

    tag: Callable[[str], list[tuple[str, str]]] = PatternTagger().tag
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the lexicon file, which is left open
        tag("word")
    return tag


@cache
def _proper_noun_detector() -> Any:
    """Create the detector class; it is added to single scrubbers and not registered globally."""
    package = _scrubadub()

    class ProperNounDetector(package.detectors.Detector):  # type: ignore[misc, name-defined]
        """Reports proper nouns as names."""

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
