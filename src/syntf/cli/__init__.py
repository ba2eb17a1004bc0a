"""The program `syntf`: one file a command, loaded when it is used."""

import os
import sys
from importlib import import_module
from typing import Any

import click

from syntf import __version__
from syntf.cli import ends
from syntf.core.errors import suggestion

COMMANDS = {
    "Make a release": {
        "example": "Write the example: 320 messages, 5 topics, 8 authors.",
        "anonymize": "Release one row for each document.",
        "serve": "Open a page that takes a file to a release; a service.",
        "ledger": "Budgets over all releases: create, show, cancel.",
    },
    "Understand it": {
        "explain": "Show what a text or a word becomes.",
        "bounds": "Show the loss per word, document and author.",
    },
    "Check it": {
        "verify": "Check a release that you received.",
        "evaluate": "Measure what a release of your texts keeps and hides.",
        "tune": "Find the smallest loss that keeps your topics.",
    },
    "Public data": {
        "codebook": "Public topics of your own: build, show.",
        "language": "Packs for other languages: build, add, list.",
    },
}
"""The help of every command, under the headings of the help. A command is `cli/NAME.py`."""

GONE = {
    "init": "write a syntf.toml by hand; the option names are its keys",
    "vocabulary": "give --vocabulary FILE, a file with one term per line",
    "preview": "syntf anonymize --dry-run",
    "coverage": "syntf anonymize --dry-run",
    "audit": "the tests of the repository: make test",
    "report": "syntf evaluate --out DIR",
    "reproduce": "make paper in a clone of the repository",
    "frontier": "make bench in a clone of the repository",
    "search": "other tools: search does not survive a loss of 10",
    "cache": "deleting the folder that $SYNTF_CACHE names",
    "completion": "the documentation of click on shell completion",
}
"""Commands of 0.2 that are gone, with what takes their place. Removed in 0.4."""


class Program(click.Group):
    """The group of all commands; its help lists them under headings."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for commands in COMMANDS.values() for name in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.list_commands(ctx):
            found: click.Command = import_module(f"syntf.cli.{cmd_name}").command
            return found
        if cmd_name in GONE:
            ctx.fail(f"'{cmd_name}' is gone since 0.3. Use {GONE[cmd_name]}.")
        if not (ctx.resilient_parsing or cmd_name.startswith("-")):
            hint = suggestion(cmd_name, self.list_commands(ctx))
            ctx.fail(f"No such command {cmd_name!r}{hint or '.'}")
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, commands in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:<10}", help) for name, help in commands.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Exit codes"):
            formatter.write_dl([(f"{code:>3}", text) for code, text in ends.MEANINGS.items()])


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.version_option(__version__, message="syntf %(version)s")
def app() -> None:
    """Turn texts into synthetic term-frequency vectors with a privacy guarantee.

    Start with an example, then use a file of your own:

    \b
      syntf example
      syntf anonymize example.csv --keep topic --shuffle --out release
    """


def split_keep(arguments: list[str]) -> list[str]:
    """Let --keep take several columns, if INPUT comes first so that nothing is ambiguous.

    >>> split_keep(["anonymize", "mails.csv", "--keep", "topic", "year", "--shuffle"])
    ['anonymize', 'mails.csv', '--keep', 'topic', '--keep', 'year', '--shuffle']
    """
    if arguments[:1] != ["anonymize"] or any(one.startswith("-") for one in arguments[1:2]):
        return arguments
    result = arguments[:2]
    columns = 0  # since --keep
    for argument in arguments[2:]:
        if argument.startswith("-"):
            columns = int(argument == "--keep")
        elif columns:
            result += ["--keep"] * (columns > 1)
            columns += 1
        result.append(argument)
    return result


def main() -> None:
    """Run the command in sys.argv; any error becomes one line and an exit code."""
    ends.disable_core_dumps()
    if "_SYNTF_COMPLETE" in os.environ:  # a shell asks how to complete a line
        app(prog_name="syntf")
    code: Any
    try:  # not by app(), which hides that a pipe was closed
        with app.make_context("syntf", split_keep(sys.argv[1:])) as context:
            code = app.invoke(context) or ends.Exit.DONE
    except BaseException as error:
        code = ends.report(error)
    ends.flush_output()
    sys.exit(int(code))
