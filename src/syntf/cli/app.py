"""The program `syntf`: its commands, loaded when they are used, and how they end.

A command is known here by its name, the place of its :class:`click.Command` and one line of help,
so that ``syntf --help`` imports no command.
"""

import sys
from collections import UserDict
from importlib import import_module
from typing import Any

import click

from syntf import __version__
from syntf.cli import exits
from syntf.core.extras import missing_package, package_of

COMMANDS = {
    "Make a release": {
        "init": ("setup:init", "Write a syntf.toml with the options that you repeat."),
        "example": ("setup:example", "Write the example: 320 messages, 5 topics, 8 authors."),
        "anonymize": ("anonymize:command", "Make a release from texts."),
        "serve": ("serve:command", "Anonymise texts in a service; shows how on a page."),
        "codebook": ("public.codebook:command", "Public topics for whole documents: build, show."),
        "vocabulary": ("public.vocabulary:command", "Vocabularies from public texts: build, show."),
        "language": (
            "public.language:command",
            "Packs for other languages: build, align, add, list.",
        ),
        "ledger": ("ledger:command", "Budgets over all releases: create, show, verify."),
    },
    "Understand it": {
        "preview": ("preview:command", "Show what a release would be like; keep private."),
        "explain": ("explain:command", "Show what words become, and how alike they look."),
        "bounds": ("bounds:command", "Show the loss per word, document and author."),
        "coverage": ("coverage:command", "Show how many of your words are known; keep private."),
    },
    "Check it": {
        "verify": ("verify:command", "Check a release that you received."),
        "audit": ("audit:command", "Try to break the guarantee of this installation."),
        "report": ("report:command", "Write the report page of a release again."),
    },
    "Measure what it keeps": {
        "evaluate": ("evaluate:command", "Measure what a release keeps: topics, authors."),
        "tune": ("tune:command", "Find settings for your texts."),
        "reproduce": (
            "syntf.research.commands.reproduce:command",
            "Repeat the evaluation of the paper.",
        ),
        "frontier": (
            "syntf.research.commands.frontier:command",
            "Compare utility and loss with other systems.",
        ),
    },
    "Other": {
        "cache": ("setup:cache", "What is kept between runs: path, clear."),
        "completion": ("setup:completion", "Let a shell complete commands and options."),
    },
}
"""Place and help of every command, under the headings of the help.

A place is a module of `syntf.cli.commands`, or the full name of another module, and the name of
the command in it. The product names the research package here and imports it nowhere.
"""


OPTIONAL = frozenset(("joblib", "matplotlib", "scipy", "sklearn"))
"""Packages that a base installation lacks, and that some commands need."""

MEASURING = frozenset(("evaluate", "frontier", "report", "reproduce", "tune"))
"""Commands that need the extra ``evaluate``; ``sklearn`` is enough for all others."""


class LazyCommands(UserDict[str, Any]):
    """Commands by name, given as places and imported when they are first used."""

    def __getitem__(self, name: str) -> click.Command:
        found = self.data[name]
        if isinstance(found, str):
            module, _, attribute = found.partition(":")
            full_name = module if module.startswith("syntf.") else f"syntf.cli.commands.{module}"
            found = self.data[name] = getattr(import_module(full_name), attribute)
        return found  # type: ignore[no-any-return]


class Program(click.Group):
    """The group of all commands; its help lists them under headings."""

    def make_context(self, *arguments: Any, **attributes: Any) -> click.Context:
        with exits.keep_broken_pipes():
            return super().make_context(*arguments, **attributes)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with exits.keep_broken_pipes():
                return super().invoke(ctx)
        except ModuleNotFoundError as error:
            if package_of(error) not in OPTIONAL:
                raise
            name = str(ctx.invoked_subcommand)
            extra = "evaluate" if name in MEASURING else "sklearn"
            raise missing_package(error, f"syntf {name}", extra) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, commands in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:<10}", help) for name, (_, help) in commands.items()])


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
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


app.commands = LazyCommands(
    {name: place for group in COMMANDS.values() for name, (place, _) in group.items()}
)


def split_keep(arguments: list[str]) -> list[str]:
    """Let --keep take several columns, if INPUT comes first so that nothing is ambiguous.

    >>> split_keep(["anonymize", "mails.csv", "--keep", "topic", "year", "--shuffle"])
    ['anonymize', 'mails.csv', '--keep', 'topic', '--keep', 'year', '--shuffle']
    """
    inputs = {"anonymize": 1, "preview": 1, "init": 0}.get(arguments[0] if arguments else "")
    if inputs is None or any(argument.startswith("-") for argument in arguments[1 : 1 + inputs]):
        return arguments
    result = arguments[: 1 + inputs]
    columns = 0  # since --keep
    for argument in arguments[1 + inputs :]:
        if argument.startswith("-"):
            columns = int(argument == "--keep")
        elif columns:
            result += ["--keep"] * (columns > 1)
            columns += 1
        result.append(argument)
    return result


def main() -> None:
    """Run the command in sys.argv; any error becomes one line and an exit code."""
    exits.disable_core_dumps()
    try:
        code = app(split_keep(sys.argv[1:]), "syntf", standalone_mode=False) or exits.Exit.DONE
    except SystemExit:  # shell completion ends itself
        raise
    except BaseException as error:
        code = exits.report(error)
    exits.flush_output()
    sys.exit(int(code))
