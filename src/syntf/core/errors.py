"""Errors for people: each message says what is wrong and what to do next."""

from collections.abc import Iterable
from difflib import get_close_matches

QUOTED_CHARACTERS = 60
"""The largest number of characters that a message quotes from a file."""


def quoted(value: object) -> str:
    """Quote a word of a public file in a message, shortened.

    >>> quoted("x" * 100) == repr("x" * 59 + "…")
    True
    """
    return repr(shortened(value))


def shortened(value: object) -> str:
    """Shorten a text for a message, such as what another library says about a file."""
    text = str(value)
    return text if len(text) <= QUOTED_CHARACTERS else f"{text[: QUOTED_CHARACTERS - 1]}…"


def printable(line: str) -> str:
    """Replace characters that could control a terminal.

    >>> printable(f"a name {chr(27)}[2J") == f"a name {chr(0xFFFD)}[2J"
    True
    """
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in line)


class SyntfError(ValueError):
    """Bad input or parameters. The command line prints one line and exits with 2."""


class Refused(SyntfError):
    """A budget, a check or a goal says no. The command line exits with 1."""


class BudgetError(Refused):
    """A ledger refuses a run that would exceed a budget: nothing was charged or drawn."""


class TableError(RuntimeError):
    """A row of the mechanism is not the one its loss was measured on: nothing was drawn."""


def is_complete(error: BaseException) -> bool:
    """Tell whether a note of an error says that the release is complete nevertheless."""
    return any("is complete nevertheless" in note for note in getattr(error, "__notes__", []))


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a hint at a similar name, to end a sentence with; empty if none is similar.

    >>> suggestion("tex", ["Text", "topic"]), suggestion("x", ["text"])
    ("; did you mean 'Text'?", '')
    """
    by_letters = {one.casefold(): one for one in known}
    near = get_close_matches(name.casefold(), list(by_letters), n=1)
    return f"; did you mean {by_letters[near[0]]!r}?" if near else ""
