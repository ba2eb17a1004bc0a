"""The report of a release made again, from its other files and public word vectors."""

from pathlib import Path

from syntf import __version__
from syntf.core.errors import SyntfError
from syntf.mechanism.base import Mechanism
from syntf.privacy.guarantee import Guarantee
from syntf.report.contents import Evaluated, Released
from syntf.report.page import NAME as REPORT
from syntf.report.page import page
from syntf.report.portrait import portrait
from syntf.verification.files import plain_bytes
from syntf.verification.result import WORD, Finding, plain
from syntf.vocabulary.vocabulary import Vocabulary


def again(
    guarantee: Guarantee,
    mechanism: Mechanism,
    vocabulary: Vocabulary,
    released: Released,
    evaluated: Evaluated | None = None,
) -> str:
    """The page that these give, in the bytes that the release has without an evaluation."""
    seen = portrait(mechanism, vocabulary, length=guarantee.length)
    return page(guarantee, seen, released, evaluated)


def check_report(
    folder: Path,
    guarantee: Guarantee,
    mechanism: Mechanism,
    vocabulary: Vocabulary,
    released: Released,
) -> Finding:
    if guarantee.version != __version__:
        told = f"written by syntf {plain(guarantee.version)}; this is {__version__}"
        return Finding(told, status=WORD)
    text = again(guarantee, mechanism, vocabulary, released).encode()
    if plain_bytes(folder / REPORT, len(text)) != text:
        raise SyntfError("says something else than guarantee.json, the table and the counts")
    return Finding("made again from the other files, the same bytes")
