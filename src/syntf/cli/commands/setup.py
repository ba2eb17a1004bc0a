"""`syntf init`, `example`, `cache` and `completion`: small commands around the others."""

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from textwrap import wrap
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import ShellComplete, get_completion_class

from syntf.cli import config, output
from syntf.cli.commands import anonymize, evaluate
from syntf.cli.options import FILE, Command, as_json, force, quiet
from syntf.core.errors import SyntfError
from syntf.core.files import replacing
from syntf.pipeline.settings import preset_values

WIDTH = 88
"""Columns of the configuration file that `syntf init` writes."""

HEAD = (
    "Options of syntf that are the same every time. Options on the command line win over this "
    "file, options in a section win over options at the top. Every command prints what it took "
    "from here. Paths are relative to this file. Remove a # to set an option. --no-config ignores "
    "this file."
)
SECTIONS = ("anonymize", "evaluate")
"""Sections of the file that are written out; any other command may have one too."""

FIRST = ("document-loss",)
"""Options that stand before all others: what a person should decide first."""

NOT_IN_FILE = {
    "out", "config", "no_config", "force", "resume", "seed", "as_json", "quiet", "dry_run",
}  # fmt: skip


# syntf init


def _options_of_init() -> list[click.Parameter]:
    """Return the options of `anonymize` and the label of `evaluate`."""
    label = [option for option in evaluate.command.params if option.name == "label"]
    every = [*anonymize.command.params, *label]
    return [o for o in every if isinstance(o, click.Option) and o.name not in NOT_IN_FILE]


@click.command("init", cls=Command, params=_options_of_init())
@quiet
@click.pass_context
def init(context: click.Context, /, quiet: bool, **options: Any) -> None:
    """Write a syntf.toml with every option that can be configured, and its help.

    Options given to this command are set; all others are commented out. Nothing is asked and
    nothing is overwritten.

    \b
    Example:
      syntf init --text body --keep topic --shuffle
    """
    chosen = {
        name: value
        for name, value in options.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    path, pyproject = Path(config.NAME), Path(config.PYPROJECT)
    if None not in (chosen.get("epsilon"), chosen.get("loss")):
        raise click.UsageError("--epsilon and --loss exclude each other: give one of them")
    text = chosen.get("text", "text")
    if text in chosen.get("keep", ()):
        raise SyntfError(f"the text column {text!r} cannot be released: remove it from --keep")
    if path.exists() or path.is_symlink():
        raise SyntfError(f"{path} exists already and was not changed: edit it, or delete it first")
    if pyproject.is_file() and config.read(pyproject) is not None:
        raise SyntfError(f"{pyproject} has a table tool.syntf already: add options there")
    commands = config.configurable_commands(context.find_root().command)
    with replacing(path) as file:
        file.write("\n".join(config_lines(commands, chosen)).encode("utf-8", "surrogateescape"))
    if not quiet:
        click.echo(f"Wrote {path}. It applies in this folder and all folders below it.")


def config_lines(
    commands: Mapping[str, config.Options], chosen: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the lines of a configuration file with these options set."""
    shared = config.shared(commands)
    unwritten = dict(chosen)
    yield from comment(HEAD)
    for key in FIRST:
        yield from entry(key, shared.pop(key), unwritten)
    for name in SECTIONS:
        for key in [key for key in commands[name] if key in shared]:
            yield from entry(key, shared.pop(key), unwritten)
    for name in SECTIONS:
        own = [key for key in commands[name] if key not in config.shared(commands)]
        yield from ("", "", f"[{name}]")
        for key in own:
            yield from entry(key, commands[name][key], unwritten)
    yield ""


def entry(key: str, option: click.Option, unwritten: dict[str, Any]) -> Iterable[str]:
    """Return the lines of one option with its help; a value in `unwritten` is moved to them."""
    name = str(option.name)
    if name in unwritten:
        return ["", *comment(option.help or ""), f"{key} = {as_toml(unwritten.pop(name))}"]
    shown = "true" if option.is_flag else "…"
    if not option.is_flag and isinstance(option.default, str | int | float):
        shown = as_toml(option.type(option.default))
    elif key in FIRST:
        shown = as_toml(next(iter(preset_values(name).values())))
    return ["", *comment(option.help or ""), f"# {key} = {shown}"]


def comment(text: str) -> list[str]:
    return [f"# {line}" for line in wrap(text, WIDTH - 2, break_on_hyphens=False)]


def as_toml(value: Any) -> str:
    """Write a value in TOML. Strings are those of JSON, but DEL must be escaped."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, Path):
        value = str(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# syntf example


@click.command("example", cls=Command)
@click.argument("file", type=FILE, default=Path("example.csv"))
@force
@quiet
def example(file: Path, force: bool, quiet: bool) -> None:
    """Write the bundled example to FILE: 320 messages, 5 topics, 8 authors."""
    if file.exists() and not force:
        raise SyntfError(f"{file} exists already: choose another name, or add --force")
    with replacing(file) as opened:
        opened.write(files("syntf").joinpath("data", "example.csv").read_bytes())
    if not quiet:
        click.echo(f"Wrote {file} (columns id, text, topic, author).")


# syntf cache


@click.group("cache")
def cache() -> None:
    """Losses, nearest words and word vectors that are kept between runs."""


@cache.command(cls=Command)
@as_json
def path(as_json: bool) -> None:
    """Show the folder of the cache."""
    from syntf.core import cache_store

    if as_json:
        output.emit({"path": str(cache_store.folder())})
    else:
        click.echo(cache_store.folder())


@cache.command(cls=Command)
@as_json
@quiet
def clear(as_json: bool, quiet: bool) -> None:
    """Delete all entries; they are computed again when needed."""
    from syntf.core import cache_store

    deleted = cache_store.clear()
    if as_json:
        output.emit({"forgotten": deleted})
    elif not quiet:
        click.echo(f"Deleted {deleted} entries of the cache.")


# syntf completion


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that lets SHELL complete commands, options and files of syntf.

    \b
    bash: eval "$(syntf completion bash)"     in ~/.bashrc
    zsh:  eval "$(syntf completion zsh)"      in ~/.zshrc, after compinit
    fish: syntf completion fish | source      in ~/.config/fish/config.fish
    """
    complete = get_completion_class(shell)
    if complete is None:
        raise click.UsageError(f"click has no completion for {shell}", context)
    script = complete(context.find_root().command, {}, "syntf", "_SYNTF_COMPLETE")
    click.echo(ShellComplete.source(script))  # the subclass would start the shell
