"""How a command ends: its exit code, and the one line that says why."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import click

from syntf.errors import Refused, SyntfError, TableError


class Exit(IntEnum):
    """What a script can tell from how a command ended."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    FAULT = 70
    INTERRUPTED = 130
    CLOSED = 141


MEANINGS = {
    Exit.DONE: "done; of verify, audit and ledger verify: all is well",
    Exit.REFUSED: "the answer is no: a check failed, a budget or a goal was missed",
    Exit.USAGE: "not carried out: a mistyped command, bad input, a full disk",
    Exit.FAULT: "a fault in syntf itself, with a traceback to report",
    Exit.INTERRUPTED: "interrupted",
    Exit.CLOSED: "whatever read the output stopped reading",
}


def epilog() -> str:
    """The exit codes, for the end of the help."""
    lines = [f"  {code.value:>3}  {meaning}" for code, meaning in MEANINGS.items()]
    return "\n".join(["\b", "Exit codes:", *lines])


def of(error: BaseException) -> int:
    """Say in one line what stopped a command; its exit code."""
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case click.exceptions.NoArgsIsHelpError():
            click.echo(error.format_message())
        case click.UsageError():
            _say(f"{error.format_message()}{_help(error.ctx)}", error)
        case click.ClickException():
            _say(error.format_message(), error)
        case Refused():
            _say(str(error), error)
            return Exit.REFUSED
        case SyntfError() | TableError():
            _say(str(error), error)
        case BrokenPipeError():
            return Exit.CLOSED
        case OSError():
            where = f" ({error.filename})" if error.filename else ""
            _say(f"{error.strerror or error}{where}{_nothing_released()}", error)
        case MemoryError():
            _say(f"not enough memory{_nothing_released()}")
        case KeyboardInterrupt() | click.Abort():
            _say(f"interrupted{_nothing_released()}", error.__context__ or error)
            return Exit.INTERRUPTED
        case _:
            traceback.print_exception(error)
            _say(f"this is a fault of syntf, not yours{_nothing_released()}: please report it")
            return Exit.FAULT
    return Exit.USAGE


@contextmanager
def own_pipes() -> Iterator[None]:
    """Keep click from ending with 1 where the output is closed: it looks at the number alone."""
    try:
        yield
    except BrokenPipeError as error:
        raise BrokenPipeError from error


def let_go() -> None:
    """If nobody reads the output any more, what is left of it goes nowhere, in silence."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:  # a full disk, say: Python tells at its end
        pass


def _help(context: click.Context | None) -> str:
    return "" if context is None else f" See: {context.command_path} --help"


def _nothing_released() -> str:
    """What matters most of a run that broke off, where it was to make a release."""
    return "; no release was written" if sys.argv[1:2] == ["anonymize"] else ""


def _say(message: str, error: BaseException | None = None) -> None:
    """One line, with what was noted on the error on its way."""
    notes = getattr(error, "__notes__", [])
    click.echo(f"syntf: {' '.join('; '.join([message, *notes]).split())}", err=True)
