"""Commands that take what was not said from a configuration file."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from syntf.core.errors import SyntfError

USED = "syntf.config"
"""Where a context keeps the file and what was taken from it."""


class Configured(click.Command):
    """A command with `--config` and `--no-config`; the command line wins over any file."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.params += [
            click.Option(
                ["--config"],
                type=click.Path(path_type=Path),
                metavar="FILE",
                expose_value=False,
                help="Options from this file. [default: the nearest syntf.toml, or pyproject.toml "
                "with tool.syntf, here or above]",
            ),
            click.Option(
                ["--no-config"], is_flag=True, expose_value=False, help="Read no such file."
            ),
        ]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:  # completion, which must read no files
            return super().parse_args(ctx, args)
        given = self.make_parser(ctx).parse_args(args=list(args))[0]
        help_option = self.get_help_option(ctx)
        if help_option is not None and help_option.name in given:
            return super().parse_args(ctx, args)
        path, values = self._read(ctx, given)
        ctx.default_map = values
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            if error.param is not None and error.param.name in values:
                error.add_note(f"from {_short(path)}")
            raise

    def invoke(self, ctx: click.Context) -> Any:
        if USED in ctx.meta:  # with --quiet too: it can change what is released
            path, values = ctx.meta[USED]
            listed = ", ".join(
                f"{key} = {json.dumps(value.said, ensure_ascii=False)}"
                for key, value in values.items()
            )
            click.echo(f"syntf: from {_short(path)}: {listed}", err=True)
        return super().invoke(ctx)

    def _read(
        self, ctx: click.Context, given: Mapping[str, Any]
    ) -> tuple[Path | None, dict[str, Any]]:
        """The file and what it gives of options that the command line does not."""
        if given.get("no_config"):
            if "config" in given:
                raise click.UsageError("give --config or --no-config, not both", ctx)
            return None, {}
        from syntf.cli import config  # with TOML, which no help needs

        found = None
        if "config" in given:
            found = config.read(Path(given["config"]))
            if found is None:
                raise SyntfError(f"{given['config']} has no table tool.syntf")
        else:
            with suppress(FileNotFoundError):  # of a folder that is no more
                found = config.find(Path.cwd())
        if found is None:
            return None, {}
        root = ctx.find_root()
        commands = {
            name: config.configurable(command) for name, command in configured(root.command)
        }
        name = ctx.command_path.removeprefix(f"{root.command_path} ")
        options = commands[name]
        taken = {
            key: value
            for key, value in config.chosen(found, commands, name).items()
            if options[key].name not in given
        }
        for others in config.EXCLUSIVE:
            if any(options[key].name in given for key in others if key in options):
                taken = {key: value for key, value in taken.items() if key not in others}
        if taken:
            ctx.meta[USED] = (found.path, taken)
        return found.path, {str(options[key].name): value.given for key, value in taken.items()}


def configured(command: click.Command, path: str = "") -> list[tuple[str, click.Command]]:
    """All commands below this one that a file can hold options for, by their names."""
    if isinstance(command, click.Group):
        return [
            found
            for name, sub in command.commands.items()
            for found in configured(sub, f"{path} {name}".strip())
        ]
    return [(path, command)] if isinstance(command, Configured) else []


def _short(path: Path | None) -> str:
    """A path as seen from here, where that is shorter."""
    with suppress(ValueError, OSError):
        return str((path or Path()).absolute().relative_to(Path.cwd()))
    return str(path)
