"""The exceptions meant for people: a sentence that says what is wrong and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches

COMPLETE = "the release had been written"
"""Noted on whatever breaks off a run after its release has appeared."""


MOST = 60
"""Characters quoted of anything that a file holds."""


def quoted(value: object) -> str:
    """A word of a public file, for a message: short, whatever the file is in truth.

    >>> quoted("x" * 100) == repr("x" * 59 + "…")
    True
    """
    return repr(said(value))


def said(value: object) -> str:
    """What another library says of a file, likewise."""
    text = str(value)
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"


def printable(line: str) -> str:
    """A line that cannot command a terminal, whatever file its words come from.

    >>> printable(f"a name {chr(27)}[2J") == f"a name {chr(0xFFFD)}[2J"
    True
    """
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in line)


class SyntfError(ValueError):
    """Bad input or parameters. The command line prints it as one line and exits with 2."""


class Refused(SyntfError):
    """All was understood and the answer is no: by a budget, a check or a goal. Exits with 1."""


class BudgetError(Refused):
    """A ledger that is whole refuses a run: nothing was spent, and nothing may be drawn."""


class TableError(RuntimeError):
    """A row of the mechanism is not the row that was accounted for: nothing is drawn from it."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """A hint at what was meant, to end a sentence with; nothing if nothing is near.

    >>> suggestion("tex", ["text", "topic"]), suggestion("x", ["text"])
    ("; did you mean 'text'?", '')
    """
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
