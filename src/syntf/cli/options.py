"""Options: derived from the definitions of the settings, or shared by several commands.

Values that are not on the command line come from `syntf.toml` in the working folder, if there is
one: the keys are option names, those of one command in a section with its name.
"""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from syntf.core.errors import SyntfError, suggestion
from syntf.inputs.corpus import Reading
from syntf.settings import PRESET, PRESETS, SETTINGS, Settings

FILE = click.Path(path_type=Path)
CONFIG = "syntf.toml"
COMMAND_LINE_ONLY = ("force", "insecure_seed", "dry_run", "out", "json", "quiet")
"""Options that overwrite files, repeat draws or hide output: they must be given every time."""

BASIC, PRIVACY, WORDS, SINGLE, INPUT = (
    "Basic options", "Privacy", "Words and vectors",
    "Single words (with --preset words, accurate or paper)", "Input",
)  # fmt: skip
GROUPS = (BASIC, PRIVACY, WORDS, SINGLE, INPUT)
"""The headings of options, in the order of the help."""

GONE = {
    "--neighbours": "nothing: --word-loss prefers the nearest output word",
    "--min-df": "--fit-vocabulary N",
    "--max-df": "nothing",
    "--idf": "nothing: --weights tfidf uses public document frequencies",
    "--bad-rows": "nothing: rows that cannot be read are documents without known words",
    "--max-bad-rows": "nothing",
    "--undecodable": "--encoding",
    "--accept-coverage": "nothing: unknown words are a notice, see --dry-run",
    "--resume": "nothing: start again; syntf ledger cancel gives back a charge for nothing",
    "--jobs": "the limits of your system, such as taskset",
    "--device": "nothing",
    "--engine": "syntf.spark.anonymize in Python",
    "--master": "syntf.spark.anonymize in Python",
    "--config": f"a {CONFIG} in the working folder",
    "--no-config": f"a folder without {CONFIG}",
}
"""Options of 0.2 that are gone, with what takes their place. Removed in 0.4."""

Decorator = Callable[[Any], Any]


class Option(click.Option):
    """An option that the help lists under the heading `group`."""

    def __init__(self, *arguments: Any, group: str = BASIC, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.group = group


class Command(click.Command):
    """A command whose help lists its options under headings, and that reads `syntf.toml`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:  # fmt: skip
        for argument in args:
            name = argument.partition("=")[0]
            if name in GONE and not any(name in one.opts for one in self.params):
                raise click.UsageError(f"{name} is gone since 0.3. Use {GONE[name]}.", parent)
        extra.setdefault("default_map", self._configured())
        return super().make_context(info_name, args, parent, **extra)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and isinstance(parameter, click.Option):
                groups.setdefault(getattr(parameter, "group", BASIC), []).append(record)
        for heading in sorted(groups, key=GROUPS.index):
            with formatter.section("Options" if len(groups) == 1 else heading):
                formatter.write_dl(groups[heading])

    def _configured(self) -> dict[str, Any]:
        """Return the values that `syntf.toml` has for this command, and say which they are."""
        path = Path(CONFIG)
        if not path.is_file():
            return {}
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SyntfError(f"{CONFIG} is not TOML: {error}") from None
        own = table.pop(str(self.name), {})
        if not isinstance(own, dict):
            raise SyntfError(f"{self.name} in {CONFIG} must be a section: [{self.name}]")
        known = {str(one.name): one for one in self.params}
        values = {}
        common = {key: value for key, value in table.items() if not isinstance(value, dict)}
        for key, value in {**common, **own}.items():
            name = key.replace("-", "_")
            if name in COMMAND_LINE_ONLY:
                raise SyntfError(f"{key} in {CONFIG} must be given on the command line")
            if name in known:
                values[name] = value
            elif key in own:
                raise SyntfError(f"{CONFIG} has {key}, which is no option{suggestion(key, known)}")
        if values:
            listed = ", ".join(f"{key} = {value}" for key, value in values.items())
            click.echo(f"syntf: from {CONFIG}: {listed}", err=True)
        return values


def option(*names: str, group: str = BASIC, **attributes: Any) -> Decorator:
    """Return a decorator that adds an option under the heading `group`."""
    return click.option(*names, cls=Option, group=group, **attributes)


def combine(*decorators: Decorator) -> Decorator:
    """Return one decorator that adds several options, listed in this order."""

    def decorate(command: Any) -> Any:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


TYPES: dict[str, Any] = {"number": float, "count": int, "file": FILE, "text": str}
ALIASES = {"document_loss": ("--document-loss", "--loss")}
"""Options with a shorter name of their own."""


def setting_option(name: str) -> Decorator:
    """Return the option of a setting, with its help and the defaults of the presets."""
    setting = PRESET if name == "preset" else SETTINGS[name]
    spelled = f"--{setting.option or name.replace('_', '-')}"
    names = [*ALIASES.get(name, (spelled,)), name]
    help = re.sub("`([a-z_]+)`", lambda match: f"--{match[1].replace('_', '-')}", setting.help)
    defaults = {p: values[name] for p, values in PRESETS.items() if name in values}
    if name in ("document_loss", "word_loss", "epsilon", "length") and defaults:
        shown = ", ".join(f"{preset} {value:g}" for preset, value in defaults.items())
        help += f" [default: {shown}]"
    group = BASIC if name in ("preset", "document_loss") else WORDS
    if setting.units == ("document_loss",):
        group = PRIVACY
    elif setting.units or name in ("word_loss", "epsilon"):
        group = SINGLE
    attributes: dict[str, Any] = {"help": help, "default": None, "group": group}
    if setting.kind == "flag":
        names[0] = f"{spelled}/--no-{spelled.removeprefix('--')}" if setting.default else spelled
        return option(*names, is_flag=True, **attributes)
    if setting.kind == "choice":
        return option(*names, type=click.Choice(setting.choices), **attributes)
    return option(*names, type=TYPES[setting.kind], metavar=setting.metavar, **attributes)


SETTING_NAMES = ("preset", *(name for name, one in SETTINGS.items() if one.kind != "object"))
settings = combine(*map(setting_option, SETTING_NAMES))
"""The options of all settings."""


def settings_from(options: dict[str, Any]) -> Settings:
    """Take the settings out of the options of a command."""
    chosen = {name: options.pop(name) for name in SETTING_NAMES if name in options}
    return Settings.of(**{name: value for name, value in chosen.items() if value is not None})


text = option("--text", default="text", show_default=True, help="Column with the texts.")
quiet = option("-q", "--quiet", is_flag=True, help="Print errors only.")
as_json = option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")

reading = combine(
    option(
        "--input-format", metavar="FORMAT", group=INPUT,
        help="Format of the input, in place of the one that the file names end in.",
    ),
    option(
        "--encoding", default="utf-8", show_default=True, group=INPUT,
        help="Encoding of text files. Example: cp1252.",
    ),
    option("--delimiter", group=INPUT, help="Delimiter of CSV files. [default: found out]"),
    option("--sheet", group=INPUT, help="Sheet of Excel files. [default: the first]"),
    option("--query", group=INPUT, help="Query that gives the rows of a database."),
)  # fmt: skip
"""The options that say how input is read."""


def reading_from(options: dict[str, Any]) -> Reading:
    """Take what says how input is read out of the options of a command."""
    names = ("input_format", "encoding", "delimiter", "sheet", "query")
    return Reading(**{name: options.pop(name) for name in names})
