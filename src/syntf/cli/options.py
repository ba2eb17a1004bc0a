"""Options: made from the definitions of the settings, or shared by several commands."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from syntf.pipeline.settings import (
    DEFAULT_PRESET,
    DOCUMENT_ONLY,
    PRESET,
    PRESETS,
    SETTINGS,
    WORDS_ONLY,
    Settings,
    preset_values,
    word_settings,
)

FILE = click.Path(path_type=Path)

_BY_PRESET = {name: preset_values(name) for name in SETTINGS}

BASIC = "Basic options"
PRIVACY = "Privacy"
WORDS = "Words and vectors"
SINGLE_WORDS = "Single words (they select --preset words, whose loss per document is larger)"
FILES = "Files"
SEARCH = "Search"
LARGE_RUNS = "Large runs"
CONFIGURATION = "Configuration"
FOR_TESTS = "For tests"
GROUPS = (BASIC, SEARCH, PRIVACY, WORDS, SINGLE_WORDS, FILES, LARGE_RUNS, CONFIGURATION, FOR_TESTS)
"""The headings of options, in the order of the help."""

Decorator = Callable[[Any], Any]


class Option(click.Option):
    """An option that the help lists under the heading `group`."""

    def __init__(self, *arguments: Any, group: str = BASIC, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.group = group


class Command(click.Command):
    """A command whose help lists its options under headings, the basic ones first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and isinstance(parameter, click.Option):
                groups.setdefault(getattr(parameter, "group", BASIC), []).append(record)
        for heading in sorted(groups, key=GROUPS.index):
            with formatter.section("Options" if len(groups) == 1 else heading):
                formatter.write_dl(groups[heading])


def option(*names: str, group: str = BASIC, **attributes: Any) -> Decorator:
    """Return a decorator that adds an option under the heading `group`."""
    if "--out" in names:
        attributes["callback"] = _refuse_standard_output
    return click.option(*names, cls=Option, group=group, **attributes)


def _refuse_standard_output(
    context: click.Context, parameter: click.Parameter, value: Path | None
) -> Path | None:
    """Refuse ``--out -``: every command writes files or folders, none writes to a pipe."""
    if value is not None and str(value) == "-":
        raise click.BadParameter(
            "nothing is written to standard output; name a place, such as --out result",
            context, parameter,
        )  # fmt: skip
    return value


def combine(*decorators: Decorator) -> Decorator:
    """Return one decorator that adds several options, listed in this order."""

    def decorate(command: Any) -> Any:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


# Options made from settings


def count_or_share(value: str) -> float:
    """Return a whole number as int and any other as float: 1 is one text, 1.0 is all texts."""
    for number in (int, float):
        with suppress(ValueError):
            return number(value)
    raise click.BadParameter(f"{value!r} is neither a count nor a share")


TYPES: dict[str, Any] = {
    "number": float, "count": int, "count or share": count_or_share, "file": FILE, "text": str,
}  # fmt: skip


def setting_option(name: str, *, help: str | None = None, group: str | None = None) -> Decorator:
    """Return the option of a setting.

    help : replaces the text of the definition, and the defaults of the presets after it.
    group : the heading of the option. By default it is that of the setting.
    """
    setting = PRESET if name == "preset" else SETTINGS[name]
    attributes: dict[str, Any] = {"help": help or _with_option_names(setting.help)}
    by_preset = _BY_PRESET.get(name, {})
    differing = len({repr(value) for value in by_preset.values()}) > 1
    if help is None and (differing or (by_preset and name in DOCUMENT_ONLY)):
        attributes["help"] += f" [default: {_default_text(by_preset)}]"
    elif setting.default is not None and setting.kind != "flag":
        shown = str(setting.default) if setting.kind == "count or share" else setting.default
        attributes |= {"default": shown, "show_default": True}
    if setting.metavar is not None:
        attributes["metavar"] = setting.metavar
    flag = _option_name(name)
    if setting.kind == "flag":
        attributes["default"] = setting.default
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    else:
        choice = click.Choice(setting.choices) if setting.choices else None
        attributes["type"] = choice or TYPES[setting.kind]
    heading = group or (SINGLE_WORDS if name in WORDS_ONLY else setting.group)
    return option(flag, name, group=heading, **attributes)


def setting_options(*names: str) -> Decorator:
    """Return the options of several settings, listed in this order."""
    return combine(*map(setting_option, names))


def settings_from(options: dict[str, Any]) -> Settings:
    """Return the settings that these options choose, and remove them from `options`."""
    chosen = {name: options.pop(name) for name in ("preset", *SETTINGS) if name in options}
    if None not in (chosen.get("epsilon"), chosen.get("loss")):
        raise click.UsageError("--epsilon and --loss exclude each other: give one of them")
    return Settings.from_preset(**chosen)


def unit_notices(options: Mapping[str, Any]) -> list[str]:
    """Return a sentence if an option selects single words without a preset, else none."""
    names = [] if options["preset"] is not None else word_settings(options)
    if not names:
        return []
    return [
        f"{_option_name(names[0])} is an option for single words, so this uses --preset words: the "
        "losses of all words of a document add up to hundreds. Leave the option out for a loss of "
        f"{PRESETS[DEFAULT_PRESET]['document_loss']:g} for a whole document, or add --preset words "
        "to confirm."
    ]


def _option_name(setting: str) -> str:
    name = None if setting == "preset" else SETTINGS[setting].option
    return f"--{name or setting.replace('_', '-')}"


def _with_option_names(help: str) -> str:
    """Replace the names of settings in backquotes by those of their options."""
    return re.sub(r"`(\w+)`", lambda match: _option_name(match[1]), help)


def _default_text(by_preset: dict[str, Any]) -> str:
    """List the default of a setting and those presets that have another value.

    >>> _default_text({"words": 8.0, "accurate": 8.5, "paper": None})
    '8; accurate: 8.5; paper: none'
    """
    shown = {
        preset: "none" if value is None else str(value).removesuffix(".0")
        for preset, value in by_preset.items()
    }
    first, *others = shown.items()
    return "; ".join(
        [first[1], *(f"{name}: {value}" for name, value in others if value != first[1])]
    )


# Options that several commands share

text = option(
    "--text", default="text", show_default=True, help="Column with the texts. Example: body."
)
device = option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    group=LARGE_RUNS,
    help="Where tables are computed that are not in the cache: 'cuda' is a GPU and needs "
    "syntf[cuda]. The result is the same.",
)
accept_coverage = option(
    "--accept-coverage/--no-accept-coverage",
    group=FILES,
    help="Go on even if hardly any word of the texts is known. Otherwise a run stops if they seem "
    "to be another language, another column or a wrong encoding.",
)
as_json = option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
quiet = option("--quiet", "-q", is_flag=True, help="Print errors only.")
no_progress = option("--quiet", "-q", is_flag=True, help="Print the result without progress.")
force = option("--force", is_flag=True, help="Replace the file.")

INPUT_FORMATS = (
    "csv", "tsv", "jsonl", "json", "parquet", "arrow", "xlsx", "mbox", "sqlite", "lines",
    "document",
)  # fmt: skip

reader_options = combine(
    option(
        "--input-format",
        type=click.Choice(INPUT_FORMATS),
        metavar="FORMAT",
        group=FILES,
        help="Format of the input, if it is not the one that the file names end in; needed for "
        f"standard input: {', '.join(INPUT_FORMATS[:-2])}, lines (every line is a document) or "
        "document (every file is one). A pipe cannot hold parquet, arrow or sqlite.",
    ),
    option(
        "--delimiter",
        metavar="CHARACTER",
        group=FILES,
        help="What separates the fields of CSV files, such as ; or tab. [default: the one of , ; "
        "tab and | that divides the header line into most fields]",
    ),
    option(
        "--encoding",
        default="utf-8",
        show_default=True,
        group=FILES,
        help="Encoding of text files. Example: cp1252.",
    ),
    option(
        "--undecodable",
        type=click.Choice(["replace", "stop"]),
        default="replace",
        show_default=True,
        group=FILES,
        help="At bytes that do not fit the encoding: 'replace' them, or 'stop' before anything is "
        "written and say where. A run whose texts hold many of them stops in either case.",
    ),
    option(
        "--bad-rows",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        group=FILES,
        help="At rows with a wrong number of fields or bad JSON: 'stop' before anything is "
        "written, or 'skip' them and list them.",
    ),
    option(
        "--max-bad-rows",
        type=click.FloatRange(0, 1),
        default=0.1,
        show_default=True,
        metavar="SHARE",
        group=FILES,
        help="With --bad-rows skip: largest share of the rows of a file that may be skipped.",
    ),
    option(
        "--sheet",
        metavar="NAME",
        group=FILES,
        help="Sheet of an Excel file. [default: the first]",
    ),
    option(
        "--query",
        metavar="SQL",
        group=FILES,
        help="For a database: the query that gives a row for each document. Example: SELECT id, "
        "body AS text FROM mails ORDER BY id.",
    ),
)
"""How files of texts are read; the same for every command that reads texts."""

READER_DEFAULTS: dict[str, Any] = {
    "input_format": None, "delimiter": None, "encoding": "utf-8", "undecodable": "replace",
    "bad_rows": "stop", "max_bad_rows": 0.1, "sheet": None, "query": None,
}  # fmt: skip


def reader_from(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the reader options from `options`; return them as arguments of a Corpus.

    The list `notices` is among them, which the corpus adds sentences for the owner to.
    """
    chosen = {name: options.pop(name) for name in READER_DEFAULTS}
    return {"format": chosen.pop("input_format"), "notices": [], **chosen}


def reader_words(reader: dict[str, Any]) -> list[str]:
    """Return the words of a command line that give these arguments of a Corpus again.

    >>> reader_words({"format": "csv", "encoding": "utf-8", "delimiter": ";"})
    ['--delimiter', ';', '--input-format', 'csv']
    """
    options = {"input_format" if name == "format" else name: reader[name] for name in reader}
    return [
        word
        for name, value in sorted(options.items())
        if name in READER_DEFAULTS and value != READER_DEFAULTS[name]
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]


corpus_options = combine(
    text,
    option(
        "--label",
        metavar="COLUMN",
        multiple=True,
        help="Column to predict, such as the topic. Repeat the option for several columns.",
    ),
    option(
        "--author",
        metavar="COLUMN",
        multiple=True,
        help="Column that names the author of a text. Repeat the option for several columns.",
    ),
    option("--split", metavar="COLUMN", help="Column that says train or test."),
    option(
        "--test-share",
        type=float,
        default=0.4,
        show_default=True,
        help="Without --split: share of the texts to test on.",
    ),
    option(
        "--group",
        metavar="COLUMN",
        help="Column with groups, such as threads or authors: texts of a group are never both "
        "for training and for testing.",
    ),
    option("--time", metavar="COLUMN", help="Column with the time of a text, such as a year."),
    option(
        "--split-by",
        type=click.Choice(["time"]),
        help="With 'time', test on the latest texts, by the column of --time.",
    ),
    option(
        "--min-test",
        type=click.IntRange(min=1),
        default=5,
        show_default=True,
        help="Test texts that an author must have to be a suspect.",
    ),
)
"""Columns of a file with texts, labels and authors, and which texts are for testing."""

CORPUS_COLUMNS = ("text", "label", "author", "split", "test_share", "group", "time", "split_by")


def corpus_columns(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options that describe a corpus from `options`, and return them.

    The values of `label` and `author` are tuples of names.
    """
    return {name: options.pop(name) for name in CORPUS_COLUMNS}


def column_pairs(
    labels: Sequence[str], authors: Sequence[str]
) -> list[tuple[str, str | None, str | None]]:
    """Return which columns are evaluated together: the name of a folder, the label, the author.

    Each label goes with the first author, and each further author with the first label.

    >>> column_pairs(["topic"], ["sender"])
    [('', 'topic', 'sender')]
    >>> column_pairs(["topic", "year"], ["sender"])
    [('topic-sender', 'topic', 'sender'), ('year-sender', 'year', 'sender')]
    """
    label, author = (next(iter(names), None) for names in (labels, authors))
    pairs = [(one, author) for one in labels] + [(label, one) for one in authors[1:]]
    if not labels:
        pairs = [(None, one) for one in authors]
    pairs = list(dict.fromkeys(pairs))
    if len(pairs) == 1:
        return [("", *pairs[0])]
    return [("-".join(filter(None, pair)).replace("/", "_"), *pair) for pair in pairs]


evaluation_options = combine(
    option(
        "--runs",
        type=click.IntRange(min=1),
        default=10,
        show_default=True,
        help="How often the texts are anonymised and evaluated.",
    ),
    option(
        "--tagger",
        metavar="spacy:MODEL|pattern",
        help="What finds parts of speech for the attacker. [default: spaCy's small "
        "English model if installed, otherwise pattern]",
    ),
    option("--force", is_flag=True, help="Start again in a folder with results."),
    as_json,
    quiet,
)
"""Options of every command that evaluates."""
