"""Options: derived from the definitions of the settings, or shared by several commands.

Values that are not on the command line come from `syntf.toml` in the working folder, if there is
one: the keys are option names, those of one command in a section with its name.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from syntf.core.errors import SyntfError, suggestion
from syntf.inputs.corpus import Reading
from syntf.settings import PRESET, PRESETS, SETTINGS, Setting, Settings

FILE = click.Path(path_type=Path)
CONFIG = "syntf.toml"
COMMAND_LINE_ONLY = ("force", "insecure-seed", "dry-run", "out", "json", "quiet")
"""Options that overwrite files, repeat draws or hide output: they must be given every time."""

BASIC, PRIVACY, WORDS, SINGLE, INPUT = (
    "Basic options", "Privacy", "Words and vectors",
    "Single words (with --preset words, accurate or paper)", "Input",
)  # fmt: skip
GROUPS = (BASIC, PRIVACY, WORDS, SINGLE, INPUT)
"""The headings of options, in the order of the help."""

_DEFAULT = "Leave it out: this is the default."
_NONE = "Leave it out: nothing takes its place."
GONE = {
    "--neighbours": "Leave it out: --word-loss prefers the nearest output word.",
    "--min-df": "Use --fit-vocabulary N.",
    "--max-df": _NONE,
    "--idf": "Leave it out: --weights tfidf uses public document frequencies.",
    "--bad-rows": "Leave it out: rows that cannot be read are documents without known words.",
    "--max-bad-rows": _NONE,
    "--undecodable": "Use --encoding: bytes that do not fit are replaced.",
    "--accept-coverage": "Leave it out: unknown words are a notice, see --dry-run.",
    "--resume": "Start again; 'syntf ledger cancel' gives back what was charged for nothing.",
    "--jobs": "Use the limits of your system, such as taskset.",
    "--device": _NONE,
    "--engine": "Use syntf.spark.anonymize in Python.",
    "--master": "Use syntf.spark.anonymize in Python.",
    "--config": f"Write {CONFIG} in the working folder.",
    "--no-config": f"Run in a folder without {CONFIG}.",
    "--quiet": "Leave it out: this command prints its result alone.",
    "-q": "Leave it out: this command prints its result alone.",
    "--json": "Leave it out: this command has no figures.",
    "--figures": "Run 'make paper' in a clone of the repository.",
    "--head": _NONE,
    "--slow": _DEFAULT,
    "--require-private": "Use --json: its field 'private' says so.",
    "--no-shuffle": _DEFAULT,
    "--no-keep-numbers": _DEFAULT,
    "--no-synsets": _DEFAULT,
    "--no-fit-vocabulary": _DEFAULT,
    "--no-accept-coverage": _DEFAULT,
}
"""Options of 0.2 that are gone, with what takes their place. Removed in 0.4."""

Decorator = Callable[[Any], Any]


class Option(click.Option):
    """An option that the help lists under the heading `group`."""

    def __init__(self, *arguments: Any, group: str = BASIC, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.group = group


class Command(click.Command):
    """A command whose help lists its options under headings, and that reads `syntf.toml`.

    configured : whether it reads `syntf.toml`. A check of what others wrote does not.
    """

    def __init__(self, *arguments: Any, configured: bool = True, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.configured = configured

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:  # fmt: skip
        if extra.get("resilient_parsing"):  # a shell completes a line
            return super().make_context(info_name, args, parent, **extra)
        here = click.Context(self, parent, info_name)
        spelled = {name for one in self.params for name in (*one.opts, *one.secondary_opts)}
        for argument in args:
            name = argument.partition("=")[0]
            if name not in spelled and name in GONE:
                raise click.UsageError(f"{name} is gone since 0.3. {GONE[name]}", here)
            setting = _BY_OPTION.get(name.removeprefix("--").removeprefix("no-"))
            if name not in spelled and name.startswith("--") and setting and "--set" in spelled:
                raise click.UsageError(f"{name} is --set {setting}=VALUE here.", here)
        values: dict[str, Any] = {}
        if self.configured and parent and parent.parent is None and not {"-h", "--help"} & {*args}:
            values = self._configuration(parent)
        for name, value in values.pop("set", {}).items():  # --set of the command line comes last
            args = ["--set", f"{name}={value}", *args]
        context = super().make_context(info_name, args, parent, default_map=values, **extra)
        used = [
            f"{name.replace('_', '-')} = {value}"
            for name, value in values.items()
            if context.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
        ]
        if used:
            click.echo(f"syntf: from {CONFIG}: {', '.join(used)}", err=True)
        return context

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and isinstance(parameter, click.Option):
                groups.setdefault(getattr(parameter, "group", BASIC), []).append(record)
        for heading in sorted(groups, key=GROUPS.index):
            with formatter.section("Options" if len(groups) == 1 else heading):
                formatter.write_dl(groups[heading])

    def _configuration(self, program: click.Context) -> dict[str, Any]:
        """Return the values that `syntf.toml` has for this command.

        Settings that are no options of this command are in a dictionary named `set`.
        """
        path = Path(CONFIG)
        if not path.is_file():
            return {}
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SyntfError(f"{CONFIG} is not TOML: {error}") from None
        sections = {name: value for name, value in table.items() if isinstance(value, dict)}
        shared = {name: value for name, value in table.items() if name not in sections}
        names = [*getattr(program.command, "list_commands", lambda _: [])(program)]
        for name in sections.keys() - set(names):
            raise SyntfError(f"{CONFIG} has [{name}], which is no command{suggestion(name, names)}")
        own = _by_spelling(self)
        values: dict[str, Any] = {}
        for key, value in {**shared, **sections.get(str(self.name), {})}.items():
            spelled = key.replace("_", "-")
            setting = _BY_OPTION.get(spelled)
            if spelled in COMMAND_LINE_ONLY:
                raise SyntfError(f"{key} in {CONFIG} must be given on the command line")
            if spelled in own:
                values[str(own[spelled].name)] = _configured(own[spelled], key, value)
            elif setting and "set" in own:
                values.setdefault("set", {})[setting] = value
            elif spelled not in (known := _spelled_anywhere(program) if key in shared else {*own}):
                hint = suggestion(spelled, known)
                raise SyntfError(f"{CONFIG} has {key}, which is no option{hint}")
        return values


def _by_spelling(command: click.Command) -> dict[str, click.Parameter]:
    """Return the options of a command by their names, without dashes before them."""
    return {
        name.removeprefix("--"): one
        for one in command.params
        for name in one.opts
        if name.startswith("--")
    }


def _spelled_anywhere(program: click.Context) -> set[str]:
    """Return the names of the options of all commands."""
    group: Any = program.command
    found = (group.get_command(program, name) for name in group.list_commands(program))
    return {name for command in found for name in _by_spelling(command)}


def _configured(parameter: click.Parameter, key: str, value: object) -> object:
    """Return a value of `syntf.toml` as the command line would have it."""
    if getattr(parameter, "is_flag", False):
        kind, right = "true or false", isinstance(value, bool)
    elif parameter.multiple:
        kind, right = 'a list, such as ["topic"]', isinstance(value, list)
    else:
        kind, right = "a text or a number", not isinstance(value, bool | list)
    if not right:
        raise SyntfError(f"{key} in {CONFIG} must be {kind}, not {value!r}")
    return value if isinstance(value, bool | list) else str(value)


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


TYPES: dict[str, click.ParamType[Any]] = {
    "number": click.FLOAT, "count": click.INT, "flag": click.BOOL, "file": FILE,
    "text": click.STRING,
}  # fmt: skip
ALIASES = {"document_loss": ("--document-loss", "--loss")}
"""Options with a shorter name of their own."""


def _type_of(setting: Setting) -> click.ParamType[Any]:
    return click.Choice(setting.choices) if setting.choices else TYPES[setting.kind]


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
    return option(*names, type=_type_of(setting), metavar=setting.metavar, **attributes)


SETTING_NAMES = ("preset", *(name for name, one in SETTINGS.items() if one.kind != "object"))
READING_NAMES = tuple(one.name for one in fields(Reading))
_BY_OPTION = {
    spelled.replace("_", "-"): name
    for name in (*SETTING_NAMES, *READING_NAMES)
    for spelled in (name, (SETTINGS[name].option if name in SETTINGS else None) or name)
}
"""What `--set` can set, by the names of options and by their own."""


def _parsed(
    context: click.Context, parameter: click.Parameter, given: Sequence[str]
) -> dict[str, Any]:
    """Return the settings of ``--set NAME=VALUE``; how input is read goes to the command."""
    chosen = {}
    for one in given:
        spelled, sign, value = one.partition("=")
        name = _BY_OPTION.get(spelled.replace("_", "-"), "")
        if not name or not sign:
            hint = suggestion(spelled.replace("_", "-"), _BY_OPTION)
            raise click.BadParameter(f"{one!r} is not NAME=VALUE with a setting{hint}")
        if name in READING_NAMES:
            context.params[name] = value
            continue
        setting = PRESET if name == "preset" else SETTINGS[name]
        chosen[name] = _type_of(setting).convert(value, parameter, context)
    return chosen


all_settings = combine(*map(setting_option, SETTING_NAMES))
"""An option for every setting."""

settings = combine(
    *map(setting_option, ("preset", "document_loss", "language")),
    option(
        "--set", multiple=True, metavar="NAME=VALUE", callback=_parsed,
        help="Any other setting of texts and draws, by the name of its option of 'syntf "
        "anonymize'; may be repeated. Examples: vocabulary=terms.txt, encoding=cp1252.",
    ),
)  # fmt: skip
"""The settings that matter to every command, and one option for the others."""


def settings_from(options: dict[str, Any]) -> Settings:
    """Take the settings out of the options of a command."""
    chosen = dict(options.pop("set", {}))
    for name in SETTING_NAMES:
        value = options.pop(name, None)
        chosen |= {} if value is None else {name: value}
    return Settings.of(**chosen)


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
    return Reading(**{name: options.pop(name) for name in READING_NAMES if name in options})
