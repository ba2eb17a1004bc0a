"""How a command ends: its exit code, and the one line on standard error that says why."""

import os
import sys
import traceback
from contextlib import suppress
from enum import IntEnum
from pathlib import Path

import click

from syntf.core.errors import Refused, SyntfError, TableError, is_complete, printable


class Exit(IntEnum):
    """The exit codes of every command."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    NOT_CHECKED = 3
    FAULT = 70
    INTERRUPTED = 130
    CLOSED = 141


MEANINGS = {
    Exit.DONE: "done; verify: every check passed",
    Exit.REFUSED: "refused: a check failed, or a budget or goal was not met",
    Exit.USAGE: "not done: wrong command or option, bad input, disk full",
    Exit.NOT_CHECKED: "verify: another version of syntf must check this release",
    Exit.FAULT: "a bug in syntf; please report it",
    Exit.INTERRUPTED: "interrupted",
    Exit.CLOSED: "the program that read the output stopped reading",
}


def report(error: BaseException) -> int:
    """Print in one line what stopped a command, and return the exit code for it."""
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case click.exceptions.NoArgsIsHelpError():
            click.echo(error.format_message())
        case click.UsageError():
            _print(_with_help(error.format_message(), error.ctx), error)
        case click.ClickException():
            _print(error.format_message(), error)
        case Refused():
            _print(str(error), error)
            return Exit.REFUSED
        case SyntfError() | TableError():
            _print(str(error), error)
        case BrokenPipeError():
            return Exit.CLOSED
        case MemoryError():
            _print(f"not enough memory{_unwritten(error)}", error)
        case OSError():
            where = f" ({error.filename})" if error.filename else ""
            _print(f"{error.strerror or error}{where}{_unwritten(error)}", error)
        case KeyboardInterrupt():
            if sys.stderr.isatty():
                click.echo(err=True)  # after the ^C that the terminal shows
            _print(f"interrupted{_unwritten(error)}", error)
            return Exit.INTERRUPTED
        case _:  # also what libraries written in Rust raise, which are not Exceptions
            _print(f"{_bug(error)}{_unwritten(error)}", error)
            return Exit.FAULT
    return Exit.USAGE


def disable_core_dumps() -> None:
    """Keep a crash from writing the memory, which holds the texts, to disk."""
    with suppress(ImportError, OSError, ValueError):  # Windows has no core dumps
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def flush_output() -> None:
    """Write the rest of the output, or discard it if nobody reads it any more."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:  # a full disk, for example: Python reports it when it ends
        pass


def _with_help(message: str, context: click.Context | None) -> str:
    """Add where the help is to a message, after a full stop if the message has none."""
    if context is None:
        return message
    stop = "" if message.endswith((".", "?", ")")) else "."
    return f"{message}{stop} See: {context.command_path} --help"


def _unwritten(error: BaseException) -> str:
    making = sys.argv[1:2] == ["anonymize"] and not is_complete(error)
    return "; no release was written" * making


def _bug(error: BaseException) -> str:
    """Say what failed and where, without the error's message: it may quote a text."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    package = Path(__file__).parents[1]
    own = [frame for frame in frames if package in Path(frame.f_code.co_filename).parents]
    frame = (own or frames)[-1]
    where = f"{Path(frame.f_code.co_filename).name}, {frame.f_code.co_name}"
    return f"a bug in syntf ({type(error).__name__} in {where}): please report it"


def _print(message: str, error: BaseException) -> None:
    """Print one line with the notes that were added to the error."""
    notes = getattr(error, "__notes__", [])
    line = " ".join("; ".join([message, *notes]).split())
    click.echo(f"syntf: {printable(line)}", err=True)
