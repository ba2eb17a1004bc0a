"""Errors for people: each message says what is wrong and what to do next."""

import sys
from collections.abc import Iterable
from difflib import get_close_matches

COMPLETE = "the release had been written"
"""The note on an error that ends a run after its release is complete."""

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


def polars_errors() -> tuple[type[BaseException], ...]:
    """Return what polars raises; nothing if no module has imported it."""
    if "polars" not in sys.modules:
        return ()
    from polars import exceptions

    return exceptions.PolarsError, exceptions.PanicException


def is_panic(error: BaseException) -> bool:
    """Tell whether a library written in Rust gave up, such as polars, arro3 or minijinja.

    Each of them raises a class of its own, which has this name and is no `Exception`.
    """
    return type(error).__name__ == "PanicException"


class SyntfError(ValueError):
    """Bad input or parameters. The command line prints one line and exits with 2."""


class InputError(SyntfError):
    """The contents of the input are at fault: a run on the same input would fail again."""


class UnavailableError(SyntfError):
    """The input cannot be read now, for instance because of a network: a later run may succeed."""


class Refused(SyntfError):
    """A budget, a check or a goal says no. The command line exits with 1."""


class BudgetError(Refused):
    """A ledger refuses a run that would exceed a budget: nothing was charged or drawn."""


class NamingError(BudgetError):
    """A ledger refuses ids where it has known documents by their texts, or the reverse."""


class TableError(RuntimeError):
    """A row of the mechanism is not the one its loss was measured on: nothing was drawn."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a hint at a similar name, to end a sentence with; empty if none is similar.

    >>> suggestion("tex", ["Text", "topic"]), suggestion("x", ["text"])
    ("; did you mean 'Text'?", '')
    """
    by_letters = {one.casefold(): one for one in known}
    near = get_close_matches(name.casefold(), list(by_letters), n=1)
    return f"; did you mean {by_letters[near[0]]!r}?" if near else ""
