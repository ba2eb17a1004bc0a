"""Remove personal information from texts with scrubadub, the baseline of the paper.

scrubadub 2 does not remove names by default. Version 1.2.0 of 2018, which the paper used, removed
every proper noun. Its rule is implemented here as a detector: a word that textblob's pattern tagger
calls a proper noun (NNP, NNPS) anywhere in a text is a name wherever it occurs in that text, in the
same letters and between word boundaries. Where two names begin at the same place, 1.2.0 took
either of them; here the longer one is taken. This gives the paper's utility on 20 newsgroups, .64.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from paper.tagging import INSTALL, textblob_tag
from syntf.core.errors import SyntfError

METHODS = ("scrubadub", "scrubadub-names")
"""scrubadub with its defaults, and with proper nouns removed too."""

PROPER_NOUNS = ("NNP", "NNPS")

NOT_NAMES = frozenset({"skype"})
"""Proper nouns, in lower case, that scrubadub does not regard as names."""


def scrub(texts: Iterable[str], methods: Sequence[str] = METHODS) -> list[list[str]]:
    """Clean each text by each method; return a list of texts for each method.

    A removed part becomes a placeholder such as ``{{EMAIL}}`` or ``{{NAME}}``. scrubadub is not
    known to fail on any text. If it does, the text becomes empty, because no part of it can be
    called clean, and a warning is given. Phone numbers are looked for once in each text, which
    takes most of the time.
    """
    scrubbers = [_scrubadub().Scrubber() for _ in methods]
    find_phones = scrubbers[0]._detectors["phone"].iter_filth
    remembered = lru_cache(1)(lambda text, document_name=None: [*find_phones(text, document_name)])
    for method, scrubber in zip(methods, scrubbers, strict=True):
        scrubber._detectors["phone"].iter_filth = remembered
        if method == "scrubadub-names":
            scrubber.add_detector(_proper_noun_detector()())
    cleaned: list[list[str]] = [[] for _ in methods]
    for number, text in enumerate(texts):
        for part, scrubber in zip(cleaned, scrubbers, strict=True):
            part.append(_clean(scrubber, text, number))
    return cleaned


def scrubber_version() -> str:
    """Return scrubadub's name and version; raise an error if it is not installed."""
    return f"scrubadub {_scrubadub().__version__}"


def find_names(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each name in a text, in order."""
    nouns = {word for word, tag in textblob_tag()(text) if tag in PROPER_NOUNS}
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
        warnings.warn(f"scrubadub failed on text {number}, now empty: {kind}", stacklevel=3)
        return ""


def _scrubadub() -> Any:
    """Import scrubadub when it is needed: it is optional and its import takes over a second."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about old syntax in textblob, which it imports
            import scrubadub
    except ImportError:
        raise SyntfError(f"scrubadub is not installed: {INSTALL}") from None
    return scrubadub


@cache
def _proper_noun_detector() -> Any:
    """Create the detector class; it is added to single scrubbers and not registered globally."""
    package = _scrubadub()

    class ProperNounDetector(package.detectors.Detector):  # type: ignore[misc, name-defined]
        """Reports proper nouns as names."""

        name = "proper_noun"
        filth_cls = package.filth.NameFilth

        def iter_filth(self, text: str, document_name: str | None = None) -> Iterator[Any]:
            where = {"document_name": document_name, "locale": self.locale}
            for beg, end in find_names(text):
                found = text[beg:end]
                yield self.filth_cls(beg, end, found, detector_name=self.name, **where)

    return ProperNounDetector
