"""How a command ends: its exit code, and the one line on standard error that says why."""

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from pathlib import Path

import click

from syntf.core.errors import COMPLETE, Refused, SyntfError, TableError, printable


class Exit(IntEnum):
    """The exit codes of every command."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    FAULT = 70
    INTERRUPTED = 130
    CLOSED = 141


MEANINGS = {
    Exit.DONE: "done; verify, audit and ledger verify: every check passed",
    Exit.REFUSED: "refused: a check failed, or a budget or goal was not met",
    Exit.USAGE: "not done: wrong command or option, bad input, disk full",
    Exit.FAULT: "a bug in syntf; please report it",
    Exit.INTERRUPTED: "interrupted",
    Exit.CLOSED: "the program that read the output stopped reading",
}


def epilog() -> str:
    """Return the list of exit codes for the end of the help."""
    lines = [f"  {code.value:>3}  {meaning}" for code, meaning in MEANINGS.items()]
    return "\n".join(["\b", "Exit codes:", *lines])


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
        case OSError():
            where = f" ({error.filename})" if error.filename else ""
            _print_failure(f"{error.strerror or error}{where}", error)
        case KeyboardInterrupt() | click.Abort():
            with suppress(ValueError):  # only the main thread may set a handler
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # let threads end undisturbed
            _print_failure("interrupted", error.__context__ or error)
            return Exit.INTERRUPTED
        case _:  # includes panics of polars, which are not Exceptions
            if cause := _lack_of_resources(error):
                _print_failure(cause, error)
            else:
                _print_failure(_bug(error), error)
                return Exit.FAULT
    return Exit.USAGE


def disable_core_dumps() -> None:
    """Keep a crash from writing the memory, which holds the texts, to disk."""
    with suppress(ImportError, OSError, ValueError):  # Windows has no core dumps
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


@contextmanager
def keep_broken_pipes() -> Iterator[None]:
    """Raise a closed pipe without its error number: click would end the program with 1 for it."""
    try:
        yield
    except BrokenPipeError as error:
        raise BrokenPipeError from error


def flush_output() -> None:
    """Write the rest of the output, or discard it if nobody reads it any more."""
    if sys.stdout is None:  # closed before the program began
        return
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


def _lack_of_resources(error: BaseException) -> str:
    """Return what the machine lacked, or an empty text if that is not why the command stopped."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) and cause not in chain:
        chain.append(cause)
    if "BrokenExecutor" in {base.__name__ for each in chain for base in type(each).__mro__}:
        return "a worker process died, perhaps because memory ran out"
    return "not enough memory" if any(map(_is_lack_of_memory, chain)) else ""


def _is_lack_of_memory(error: BaseException) -> bool:
    """Recognise also the messages of threads and libraries, and a library that cannot load."""
    if isinstance(error, RuntimeError | ImportError):
        signs = ("start new thread", "failed to map segment", "memory")
        return any(sign in str(error) for sign in signs)
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    loading = any(frame.f_code.co_name == "<module>" for frame in frames)
    return isinstance(error, MemoryError) or (isinstance(error, SystemError) and loading)


def _bug(error: BaseException) -> str:
    """Say what failed and where, without the error's message: it may quote a text."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    package = Path(__file__).parents[1]
    own = [frame for frame in frames if package in Path(frame.f_code.co_filename).parents]
    frame = (own or frames)[-1]
    where = f"{Path(frame.f_code.co_filename).name}, {frame.f_code.co_name}"
    return f"a bug in syntf ({type(error).__name__} in {where}): please report it"


def _print_failure(message: str, error: BaseException) -> None:
    """Print why a command stopped half-way; say whether a release was written."""
    written = COMPLETE in _notes(error)
    lacking = "; no release was written" * (sys.argv[1:2] == ["anonymize"] and not written)
    _print(f"{message}{lacking}", error)


def _print(message: str, error: BaseException) -> None:
    """Print one line with the notes that were added to the error."""
    line = " ".join("; ".join([message, *_notes(error)]).split())
    click.echo(f"syntf: {printable(line)}", err=True)


def _notes(error: BaseException | None) -> list[str]:
    """Return the notes of an error and of the errors that it interrupted."""
    notes: list[str] = []
    while error is not None:
        notes += [note for note in getattr(error, "__notes__", []) if note not in notes]
        error = error.__context__
    return notes
