"""The program: its commands, and how every one of them ends.

A command is a module of `syntf.cli.commands` with a `command`, named here once. Those modules
hold options alone and import what a command does when it runs: `syntf --help` stays instant.
"""

import sys
from importlib import import_module

import click

from syntf import __version__
from syntf.errors import SyntfError, TableError

COMMANDS = (
    "anonymize",
    "verify",
    "explain",
    "bounds",
    "audit",
    "evaluate",
    "tune",
    "reproduce",
    "frontier",
    "example",
    "coverage",
    "vocabulary",
    "cache",
    "ledger",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88})
@click.version_option(__version__, message="syntf %(version)s")
def app() -> None:
    """Turn texts into synthetic term-frequency vectors with a privacy guarantee.

    Start with an example, then use a file of your own:

    \b
      syntf example
      syntf anonymize example.csv --keep topic --out release
    """


for name in COMMANDS:
    app.add_command(import_module(f"syntf.cli.commands.{name}").command)


def spread(arguments: list[str]) -> list[str]:
    """Let --keep take several columns, where INPUT comes first so that nothing is ambiguous.

    >>> spread(["anonymize", "mails.csv", "--keep", "topic", "year", "--shuffle"])
    ['anonymize', 'mails.csv', '--keep', 'topic', '--keep', 'year', '--shuffle']
    """
    if arguments[:1] != ["anonymize"] or arguments[1:2] == [] or arguments[1].startswith("-"):
        return arguments
    result = arguments[:2]
    keeping = 0  # columns taken since --keep
    for argument in arguments[2:]:
        if argument.startswith("-"):
            keeping = int(argument == "--keep")
        elif keeping:
            result += ["--keep"] * (keeping > 1)
            keeping += 1
        result.append(argument)
    return result


def main() -> None:
    """Run the command; every problem a person can mend is one line and exit code 2."""
    try:
        code = app(spread(sys.argv[1:]), "syntf", standalone_mode=False) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        code = 2
    except click.ClickException as error:
        code = _fail(error.format_message())
    except (SyntfError, TableError) as error:
        code = _fail(str(error), error)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        code = _fail(f"{error.strerror or error}{where}{_nothing_released()}", error)
    except MemoryError:
        code = _fail(f"not enough memory{_nothing_released()}")
    except (KeyboardInterrupt, click.Abort) as error:
        _fail(f"interrupted{_nothing_released()}", error.__context__ or error)
        code = 130
    sys.exit(code)


def _nothing_released() -> str:
    """What matters most of a run that broke off, where it was to make a release."""
    return "; no release was written" if sys.argv[1:2] == ["anonymize"] else ""


def _fail(message: str, error: BaseException | None = None) -> int:
    """One line, with what was noted on the error on its way."""
    notes = getattr(error, "__notes__", [])
    click.echo(f"syntf: {' '.join('; '.join([message, *notes]).split())}", err=True)
    return 2
