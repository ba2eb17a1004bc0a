"""`syntf init`: its options, which are those that it writes down."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from syntf.cli.commands import anonymize, evaluate
from syntf.cli.options import quiet

LEFT_OUT = frozenset(("out", "config", "no_config", "force", "resume", "seed", "as_json", "quiet"))


def fill_in(command: click.Command) -> click.Command:
    """Give `init` the options of `anonymize` and the label of `evaluate`."""
    label = [option for option in evaluate.command.params if option.name == "label"]
    for option in [*anonymize.command.params, *label]:
        if isinstance(option, click.Option) and option.name not in LEFT_OUT:
            command.params.insert(-1, option)
    return command


@click.command("init", short_help="Write a syntf.toml: options that you repeat, written once.")
@quiet
@click.pass_context
def command(context: click.Context, /, quiet: bool, **options: Any) -> None:
    """Write a syntf.toml here: every option that can be configured, with what it does.

    Options given now are filled in, all others are commented out. Asks nothing and overwrites
    nothing.

    \b
    Example:
      syntf init --text body --keep topic --shuffle
    """
    from syntf.cli import init

    given = {
        name: value
        for name, value in options.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    init.run(Path(), context.find_root().command, given, quiet=quiet)


command = fill_in(command)
