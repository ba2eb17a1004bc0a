"""The exceptions meant for people: a sentence that says what is wrong and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches


class SyntfError(ValueError):
    """Bad input or parameters. The command line prints it as one line and exits with 2."""


class Refused(SyntfError):
    """All was understood and the answer is no: by a budget, a check or a goal. Exits with 1."""


class TableError(RuntimeError):
    """A row of the mechanism is not the row that was accounted for: nothing is drawn from it."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """A hint at what was meant, to end a sentence with; nothing if nothing is near.

    >>> suggestion("tex", ["text", "topic"]), suggestion("x", ["text"])
    ("; did you mean 'text'?", '')
    """
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
