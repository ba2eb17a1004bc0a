"""`syntf init`: a configuration file that explains itself, made from the options there are."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from syntf.cli import config
from syntf.cli.configured import configured
from syntf.core.errors import SyntfError

WIDTH = 88
HEAD = (
    "Options of syntf that are the same every time. Those given on a command line come before "
    "these, those of a section before those at the top; a command says what it took from here. "
    "Paths are relative to this file. Take away a # to set an option; --no-config leaves all out."
)
SECTIONS = ("anonymize", "evaluate")
"""The sections that are spelled out; any other command may have one too."""


def run(folder: Path, app: click.Command, given: Mapping[str, Any], *, quiet: bool = False) -> None:
    path = folder / config.NAME
    pyproject = folder / config.PYPROJECT
    if None not in (given.get("epsilon"), given.get("loss")):
        raise SyntfError("give --epsilon or --loss, not both")
    if given.get("text", "text") in given.get("keep", ()):
        raise SyntfError(
            f"the text column {given.get('text', 'text')!r} cannot be released: leave it out of "
            "--keep"
        )
    if path.exists() or path.is_symlink():
        raise SyntfError(f"{path} exists already, and is left as it is")
    if pyproject.is_file() and config.read(pyproject) is not None:
        raise SyntfError(f"{pyproject} has a table tool.syntf already: add to that one")
    commands = {name: config.configurable(command) for name, command in configured(app)}
    raw = "\n".join(document(commands, given)).encode("utf-8", "surrogateescape")
    with path.open("xb") as file:
        file.write(raw)
    if not quiet:
        click.echo(f"Wrote {path}. What it sets holds here and in all folders below.")


def document(commands: Mapping[str, config.Options], given: Mapping[str, Any]) -> Iterator[str]:
    """The lines of the file."""
    shared = config.shared(commands)
    left = dict(given)
    yield from comment(HEAD)
    for name in SECTIONS:
        for key in [key for key in commands[name] if key in shared]:
            yield from entry(key, shared.pop(key), left)
    for name in SECTIONS:
        own = [key for key in commands[name] if key not in config.shared(commands)]
        options = {key: commands[name][key] for key in own}
        yield from ("", "", f"[{name}]")
        for key, option in options.items():
            yield from entry(key, option, left)
    yield ""


def entry(key: str, option: click.Option, left: dict[str, Any]) -> Iterable[str]:
    """An option with what it does; given ones are taken from `left`."""
    name = str(option.name)
    if name in left:
        return ["", *comment(option.help or ""), f"{key} = {toml(left.pop(name))}"]
    shown = "true" if option.is_flag else "…"
    if not option.is_flag and isinstance(option.default, str | int | float):
        shown = toml(option.type(option.default))
    return ["", *comment(option.help or ""), f"# {key} = {shown}"]


def comment(text: str) -> list[str]:
    return [f"# {line}" for line in wrap(text, WIDTH - 2, break_on_hyphens=False)]


def toml(value: Any) -> str:
    """A value in TOML, whose strings are those of JSON but for one character."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, Path):
        value = str(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
