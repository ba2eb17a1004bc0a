"""A configuration file: options that are the same every time, written down once.

`syntf.toml`, or `[tool.syntf]` of a `pyproject.toml`, in the working folder or one above it.
Options that several commands take stand at the top, those of one command in a section with its
name. What stands there can change what is released, so a command says what it took from it.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click

from syntf.core.errors import SyntfError, suggestion

NAME = "syntf.toml"
PYPROJECT = "pyproject.toml"

EVERY_TIME = frozenset(
    "config no-config help force resume insecure-seed quiet json quick head".split()
)
"""Never configured: what overwrites, repeats draws or hides must be asked for every time."""

APART = frozenset(("out", "author"))
"""Only in sections: these mean another thing to every command."""

EXCLUSIVE = ({"epsilon", "loss"}, {"vocabulary", "fit-vocabulary"})
"""One of these, from nearer by, takes the place of the others."""

Options = Mapping[str, click.Option]


@dataclass(frozen=True)
class Config:
    """A file and what it says, by key; sections are keys as well."""

    path: Path
    table: Mapping[str, Any]


class Value(NamedTuple):
    """What a file says, and the same as a command line would: text that options convert."""

    said: Any
    given: Any


def find(folder: Path) -> Config | None:
    """The nearest configuration, from a folder upwards, to the root or the first `.git`."""
    for place in (folder, *folder.parents):
        for name in (NAME, PYPROJECT):
            path = place / name
            if os.path.isfile(path) and _trusted(path):  # false also where one may not look
                config = read(path)
                if config is not None:
                    return config
        if os.path.lexists(place / ".git"):
            return None
    return None


def _trusted(path: Path) -> bool:
    """Whether nobody but us, or who rules the machine, can have written it."""
    if os.name != "posix":
        return True
    found = path.stat()
    return found.st_uid in (0, os.getuid()) and not found.st_mode & 0o002


def read(path: Path) -> Config | None:
    """A file of either kind; None for a `pyproject.toml` that does not speak of syntf."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SyntfError(
            f"{path} is not TOML: {error}; mend it, or go on without it: --no-config"
        ) from error
    if path.name == PYPROJECT:
        tools = table.get("tool", {})
        if "syntf" not in tools:
            return None
        table = tools["syntf"]
        if not isinstance(table, dict):
            raise SyntfError(f"{path}: tool.syntf must be a table")
    return Config(path, table)


def chosen(config: Config, commands: Mapping[str, Options], command: str) -> dict[str, Value]:
    """What a file says for a command, by the keys of its options; all of the file is checked."""
    top, sections = _parts(config, commands)
    result: dict[str, Value] = {}
    for found, known in (
        ({key: top[key] for key in top if key in commands[command]}, shared(commands)),
        (sections.get(command, {}), commands[command]),
    ):
        for key, value in found.items():
            for others in EXCLUSIVE:
                if key in others:
                    result = {k: v for k, v in result.items() if k not in others - set(found)}
            result[key] = Value(value, _given(config.path, known[key], key, value))
    return result


def shared(commands: Mapping[str, Options]) -> dict[str, click.Option]:
    """The options that may stand at the top: those of two commands or more."""
    seen: dict[str, list[click.Option]] = {}
    for options in commands.values():
        for key, option in options.items():
            seen.setdefault(key, []).append(option)
    return {key: found[0] for key, found in seen.items() if len(found) > 1 and key not in APART}


def configurable(command: click.Command) -> dict[str, click.Option]:
    """The options of a command that a file may hold, by their keys: long names, no dashes."""
    options = (option for option in command.params if isinstance(option, click.Option))
    named = {key_of(option): option for option in options}
    return {key: option for key, option in named.items() if key not in EVERY_TIME}


def key_of(option: click.Option) -> str:
    return max(option.opts, key=len).removeprefix("--")


def _parts(
    config: Config, commands: Mapping[str, Options]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Top and sections, where every key is one that is known."""
    top, sections = {}, {}
    common = shared(commands)
    for name, value in config.table.items():
        if isinstance(value, dict):
            if name not in commands:
                _unknown(config.path, f"section [{name}]", name, commands)
            sections[name] = dict(_keys(config.path, value, commands[name], f" of [{name}]"))
        else:
            homes = [home for home, options in commands.items() if name in options]
            if homes and name not in common:
                raise SyntfError(f"{config.path}: {name!r} belongs in a section: [{homes[0]}]")
            top[name] = value
    return dict(_keys(config.path, top, common, "")), sections


def _keys(
    path: Path, table: Mapping[str, Any], known: Options, where: str
) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if name not in known:
            _unknown(path, f"key {name!r}{where}", name, known)
        yield name, value


def _unknown(path: Path, what: str, name: str, known: Mapping[str, Any]) -> None:
    if name in EVERY_TIME:
        raise SyntfError(f"{path}: {name!r} is for the command line alone")
    raise SyntfError(f"{path}: unknown {what}{suggestion(name, known)}")


def _given(path: Path, option: click.Option, key: str, value: Any) -> Any:
    """A value as the command line would give it; paths are relative to the file."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise SyntfError(f"{path}: {key!r} is true or false, not {value!r}")
        return value
    values = value if option.multiple and isinstance(value, list) else [value]
    for one in values:
        if isinstance(one, bool) or not isinstance(one, str | int | float):
            kind = "a list of names" if option.multiple else "text or a number"
            raise SyntfError(f"{path}: {key!r} is {kind}, not {one!r}")
    texts = [_resolved(path, option, str(one)) for one in values]
    return texts if option.multiple else texts[0]


def _resolved(path: Path, option: click.Option, text: str) -> str:
    if isinstance(option.type, click.Path) and not text.startswith("spacy:"):
        return str(path.parent / text)
    return text
