"""How a command ends: its exit code, and the one line that says why."""

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
    Exit.FAULT: "a fault in syntf itself, to be reported",
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
            _say(_with_help(error.format_message(), error.ctx), error)
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
            _broke_off(f"{error.strerror or error}{where}", error)
        case KeyboardInterrupt() | click.Abort():
            with suppress(ValueError):  # no more while threads end; only the main one may say so
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            _broke_off("interrupted", error.__context__ or error)
            return Exit.INTERRUPTED
        case _:  # a panic of polars is no Exception
            if cause := _of_the_machine(error):
                _broke_off(cause, error)
            else:
                _broke_off(_fault(error), error)
                return Exit.FAULT
    return Exit.USAGE


def leave_no_core() -> None:
    """A crash writes no image of the memory, which holds the texts."""
    with suppress(ImportError, OSError, ValueError):  # Windows has none
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


@contextmanager
def own_pipes() -> Iterator[None]:
    """Keep click from ending with 1 where the output is closed: it looks at the number alone."""
    try:
        yield
    except BrokenPipeError as error:
        raise BrokenPipeError from error


def let_go() -> None:
    """If nobody reads the output any more, what is left of it goes nowhere, in silence."""
    if sys.stdout is None:  # closed before we began
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:  # a full disk, say: Python tells at its end
        pass


def _with_help(message: str, context: click.Context | None) -> str:
    """A message of click's ends in a sign or not; ours do not."""
    if context is None:
        return message
    stop = "" if message.endswith((".", "?", ")")) else "."
    return f"{message}{stop} See: {context.command_path} --help"


def _of_the_machine(error: BaseException) -> str:
    """What the machine could not give, if that is what stopped us."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) and cause not in chain:
        chain.append(cause)
    if "BrokenExecutor" in {kind.__name__ for one in chain for kind in type(one).__mro__}:
        return "a process that was at work died, for want of memory perhaps"
    return "not enough memory" if any(map(_of_memory, chain)) else ""


def _of_memory(error: BaseException) -> bool:
    """Also by the words of threads and libraries, and by one that fails to load without a word."""
    if isinstance(error, RuntimeError | ImportError):
        signs = ("start new thread", "failed to map segment", "memory")
        return any(sign in str(error) for sign in signs)
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    loading = any(frame.f_code.co_name == "<module>" for frame in frames)
    return isinstance(error, MemoryError) or (isinstance(error, SystemError) and loading)


def _fault(error: BaseException) -> str:
    """What failed and where, without the error's own words: they may quote a text."""
    places = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    package = Path(__file__).parents[1]
    ours = [frame for frame in places if package in Path(frame.f_code.co_filename).parents]
    frame = (ours or places)[-1]
    where = f"{Path(frame.f_code.co_filename).name}, {frame.f_code.co_name}"
    return f"a fault of syntf ({type(error).__name__} in {where}): please report it"


def _broke_off(message: str, error: BaseException) -> None:
    """What matters most of a run that broke off, where it was to make a release."""
    written = COMPLETE in _notes(error)
    lacking = "; no release was written" * (sys.argv[1:2] == ["anonymize"] and not written)
    _say(f"{message}{lacking}", error)


def _say(message: str, error: BaseException | None = None) -> None:
    """One line, with what was noted on the error on its way."""
    line = " ".join("; ".join([message, *_notes(error)]).split())
    click.echo(f"syntf: {printable(line)}", err=True)


def _notes(error: BaseException | None) -> list[str]:
    """What was noted on an error on its way, and on one that it interrupted."""
    notes: list[str] = []
    while error is not None:
        notes += [note for note in getattr(error, "__notes__", []) if note not in notes]
        error = error.__context__
    return notes
