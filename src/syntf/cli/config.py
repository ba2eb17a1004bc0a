"""Options from a configuration file, as click's default values.

The file is `syntf.toml`, or the table `[tool.syntf]` of a `pyproject.toml`, in the working folder
or a folder above it. Options of several commands stand at the top, options of one command in a
section with its name. A file can change what is released, so a command prints what it took from it.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from syntf.cli.options import CONFIGURATION, Command, Option
from syntf.core.errors import SyntfError, suggestion

NAME = "syntf.toml"
PYPROJECT = "pyproject.toml"

COMMAND_LINE_ONLY = frozenset(
    "config no-config help force resume insecure-seed quiet json quick head dry-run".split()
)
"""Options that overwrite files, repeat draws or hide output: they must be given every time."""

SECTIONS_ONLY = frozenset(("out", "author", "id", "keep", "shuffle"))
"""Options that mean something different for every command, or describe one release."""

EXCLUSIVE = ({"epsilon", "loss"}, {"vocabulary", "fit-vocabulary"})
"""Keys of which one, given closer to the command, replaces the others."""

USED = "syntf.config"
"""The key under which a context keeps the file and its values."""

Options = Mapping[str, click.Option]


@dataclass(frozen=True)
class Config:
    """A configuration file and its content."""

    path: Path
    table: Mapping[str, Any]


class ConfiguredCommand(Command):
    """A command with `--config` and `--no-config`; the command line wins over any file."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        common: dict[str, Any] = {
            "is_eager": True, "expose_value": False, "group": CONFIGURATION,
        }  # fmt: skip
        self.params += [
            Option(
                ["--config"],
                type=click.Path(path_type=Path),
                metavar="FILE",
                callback=_use_file,
                help="Read options from this file. [default: the nearest syntf.toml, or "
                "pyproject.toml with tool.syntf, in this folder or above]",
                **common,
            ),
            Option(
                ["--no-config"],
                is_flag=True,
                callback=_use_no_file,
                help="Read no configuration file.",
                **common,
            ),
        ]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            rest = super().parse_args(ctx, args)
        except click.BadParameter as error:
            if error.param is not None and _from_file(ctx, error.param):
                error.add_note(f"from {_relative(ctx.meta[USED][0])}")
            raise
        self._drop_replaced_values(ctx)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Print what comes from the file, also with --quiet, and run the command."""
        path, values = ctx.meta.get(USED, (None, {}))
        options = configurable(self)
        used = [key for key in values if _from_file(ctx, options[key])]
        if used:
            listed = (f"{key} = {json.dumps(values[key], ensure_ascii=False)}" for key in used)
            click.echo(f"syntf: from {_relative(path)}: {', '.join(listed)}", err=True)
        return super().invoke(ctx)

    def _drop_replaced_values(self, ctx: click.Context) -> None:
        """Drop a loss of the file where the command line has an epsilon, and the like."""
        options = configurable(self)
        for group in EXCLUSIVE:
            parameters = [options[key] for key in group if key in options]
            sources = {ctx.get_parameter_source(str(each.name)) for each in parameters}
            if ParameterSource.COMMANDLINE not in sources:
                continue
            for each in parameters:
                if _from_file(ctx, each) and each.name:
                    ctx.params[each.name] = False if each.is_flag else None
                    ctx.set_parameter_source(each.name, ParameterSource.DEFAULT)


def _use_file(ctx: click.Context, parameter: click.Parameter, path: Path | None) -> None:
    """Make the values of the file the defaults of the command."""
    if ctx.resilient_parsing:  # shell completion reads no files
        return
    if ctx.get_parameter_source("no_config") is ParameterSource.COMMANDLINE:
        if path is not None:
            raise click.UsageError("--config and --no-config exclude each other", ctx)
        return
    config = None
    if path is not None:
        config = read(path)
        if config is None:
            raise SyntfError(f"{path} has no table tool.syntf")
    else:
        with suppress(FileNotFoundError):  # the working folder was deleted
            config = find(Path.cwd())
    if config is None:
        return
    root = ctx.find_root()
    commands = configurable_commands(root.command)
    name = ctx.command_path.removeprefix(f"{root.command_path} ")
    values = values_for(config, commands, name)
    ctx.meta[USED] = (config.path, values)
    ctx.default_map = {
        str(commands[name][key].name): _as_argument(config.path, commands[name][key], key, value)
        for key, value in values.items()
    }


def _use_no_file(ctx: click.Context, parameter: click.Parameter, chosen: bool) -> None:
    if chosen and ctx.get_parameter_source("config") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--config and --no-config exclude each other", ctx)


def _from_file(ctx: click.Context, parameter: click.Parameter) -> bool:
    return ctx.get_parameter_source(str(parameter.name)) is ParameterSource.DEFAULT_MAP


# Finding and reading a file


def find(folder: Path) -> Config | None:
    """Return the nearest configuration from a folder upwards, up to the first `.git`."""
    for place in (folder, *folder.parents):
        for name in (NAME, PYPROJECT):
            path = place / name
            if os.path.isfile(path) and _is_trusted(path):  # False also without permission
                config = read(path)
                if config is not None:
                    return config
        if os.path.lexists(place / ".git"):
            return None
    return None


def _is_trusted(path: Path) -> bool:
    """Whether only this user or root can have written the file."""
    if os.name != "posix":
        return True
    status = path.stat()
    return status.st_uid in (0, os.getuid()) and not status.st_mode & 0o002


def read(path: Path) -> Config | None:
    """Read a file of either kind; return None for a `pyproject.toml` without `tool.syntf`."""
    import tomllib

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SyntfError(
            f"{path} is not TOML: {error}; correct the file, or ignore it with --no-config"
        ) from error
    if path.name == PYPROJECT:
        tools = table.get("tool", {})
        if "syntf" not in tools:
            return None
        table = tools["syntf"]
        if not isinstance(table, dict):
            raise SyntfError(f"{path}: tool.syntf must be a table")
    return Config(path, table)


# The keys that a file may have


def configurable_commands(command: click.Command, path: str = "") -> dict[str, Options]:
    """Return the options that a file may set, by command (`vocabulary build`) and key."""
    if isinstance(command, click.Group):
        below = [
            configurable_commands(each, f"{path} {name}".strip())
            for name, each in command.commands.items()
        ]
        return {name: options for found in below for name, options in found.items()}
    return {path: configurable(command)} if isinstance(command, ConfiguredCommand) else {}


def configurable(command: click.Command) -> dict[str, click.Option]:
    """Return the options of a command that a file may set, by key: the long name, no dashes."""
    options = (option for option in command.params if isinstance(option, click.Option))
    by_key = {key_of(option): option for option in options}
    return {key: option for key, option in by_key.items() if key not in COMMAND_LINE_ONLY}


def shared(commands: Mapping[str, Options]) -> dict[str, click.Option]:
    """Return the options that may stand at the top of a file: those of two commands or more."""
    by_key: dict[str, list[click.Option]] = {}
    for options in commands.values():
        for key, option in options.items():
            by_key.setdefault(key, []).append(option)
    return {
        key: options[0]
        for key, options in by_key.items()
        if len(options) > 1 and key not in SECTIONS_ONLY
    }


def key_of(option: click.Option) -> str:
    return max(option.opts, key=len).removeprefix("--")


def values_for(config: Config, commands: Mapping[str, Options], command: str) -> dict[str, Any]:
    """Return what a file sets for a command, by key; raise SyntfError for any unknown key."""
    common = shared(commands)
    top: dict[str, Any] = {}
    sections: dict[str, dict[str, Any]] = {}
    for name, value in config.table.items():
        if isinstance(value, dict):
            if name not in commands:
                _refuse(config.path, f"section [{name}]", name, commands)
            for key in value:
                if key not in commands[name]:
                    _refuse(config.path, f"key {key!r} in [{name}]", key, commands[name])
            sections[name] = value
        else:
            owners = [owner for owner, options in commands.items() if name in options]
            if owners and name not in common:
                raise SyntfError(f"{config.path}: {name!r} belongs in a section: [{owners[0]}]")
            if not owners:
                _refuse(config.path, f"key {name!r}", name, common)
            top[name] = value
    values: dict[str, Any] = {}
    for level in (top, sections.get(command, {})):
        for key, value in level.items():
            if key not in commands[command]:
                continue
            for group in EXCLUSIVE:
                if key in group:
                    replaced = group - set(level)
                    values = {k: v for k, v in values.items() if k not in replaced}
            values[key] = value
    return values


def _refuse(path: Path, what: str, name: str, known: Mapping[str, Any]) -> None:
    if name in COMMAND_LINE_ONLY:
        raise SyntfError(f"{path}: {name!r} is for the command line only")
    raise SyntfError(f"{path}: unknown {what}{suggestion(name, known)}")


def _as_argument(path: Path, option: click.Option, key: str, value: Any) -> Any:
    """Return a value as the command line would pass it; paths are relative to the file."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise SyntfError(f"{path}: {key!r} must be true or false, not {value!r}")
        return value
    values = value if option.multiple and isinstance(value, list) else [value]
    for each in values:
        if isinstance(each, bool) or not isinstance(each, str | int | float):
            kind = "a list of names" if option.multiple else "text or a number"
            raise SyntfError(f"{path}: {key!r} must be {kind}, not {each!r}")
    texts = [str(each) for each in values]
    if isinstance(option.type, click.Path):
        texts = [text if text.startswith("spacy:") else str(path.parent / text) for text in texts]
    return texts if option.multiple else texts[0]


def _relative(path: Path) -> str:
    """Return a path relative to the working folder if it is below it."""
    with suppress(ValueError, OSError):
        return str(path.absolute().relative_to(Path.cwd()))
    return str(path)
