"""The program: its commands, and how every one of them ends.

A command is a module of `syntf.cli.commands` with a `command`, named here once. Those modules
hold options alone and import what a command does when it runs: `syntf --help` stays instant.
"""

import sys
from importlib import import_module
from typing import Any

import click

from syntf import __version__
from syntf.cli import exits

COMMANDS = {
    "Make a release": ("init", "example", "anonymize", "serve", "vocabulary", "ledger"),
    "Understand it": ("explain", "bounds", "coverage"),
    "Check it": ("verify", "audit", "report"),
    "Measure what it keeps": ("evaluate", "tune", "reproduce", "frontier"),
    "Around it": ("cache", "completion"),
}
"""The modules, in the order and under the headings of the help."""

RESEARCH_COMMANDS = ("reproduce", "frontier")
"""Commands of `syntf.research`, which is loaded by name only: the product does not import it."""


class Program(click.Group):
    """A group whose help lists its commands under headings, and that ends as we say."""

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with exits.own_pipes():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with exits.own_pipes():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, names in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(f"{name:<10}", self.commands[name].get_short_help_str(100)) for name in names]
                )


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
    epilog=exits.epilog(),
)
@click.version_option(__version__, message="syntf %(version)s")
def app() -> None:
    """Turn texts into synthetic term-frequency vectors with a privacy guarantee.

    Start with an example, then use a file of your own:

    \b
      syntf example
      syntf anonymize example.csv --keep topic --out release
    """


for name in (name for names in COMMANDS.values() for name in names):
    package = "syntf.research" if name in RESEARCH_COMMANDS else "syntf.cli"
    app.add_command(import_module(f"{package}.commands.{name}").command)


def spread(arguments: list[str]) -> list[str]:
    """Let --keep take several columns, where INPUT comes first so that nothing is ambiguous.

    >>> spread(["anonymize", "mails.csv", "--keep", "topic", "year", "--shuffle"])
    ['anonymize', 'mails.csv', '--keep', 'topic', '--keep', 'year', '--shuffle']
    """
    inputs = {"anonymize": 1, "init": 0}.get(arguments[0] if arguments else "")
    if inputs is None or any(argument.startswith("-") for argument in arguments[1 : 1 + inputs]):
        return arguments
    result = arguments[: 1 + inputs]
    keeping = 0  # columns taken since --keep
    for argument in arguments[1 + inputs :]:
        if argument.startswith("-"):
            keeping = int(argument == "--keep")
        elif keeping:
            result += ["--keep"] * (keeping > 1)
            keeping += 1
        result.append(argument)
    return result


def main() -> None:
    """Run the command; whatever stops it is one line and an exit code."""
    exits.leave_no_core()
    try:
        code = app(spread(sys.argv[1:]), "syntf", standalone_mode=False) or exits.Exit.DONE
    except SystemExit:  # of completion, which is no command
        raise
    except BaseException as error:
        code = exits.of(error)
    exits.let_go()
    sys.exit(int(code))
