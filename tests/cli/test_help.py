"""What the help teaches, at any width, and what becomes of names that are mistyped or gone."""

import re
import sys
from pathlib import Path

import click
import pytest

from syntf import __version__, cli
from syntf.cli import ends, options
from syntf.settings import SETTINGS
from tests.cli.conftest import all_commands

COMMANDS = all_commands()
LEAVES = {path: one for path, one in COMMANDS.items() if not isinstance(one, click.Group)}


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_there_are_at_most_12_commands_and_130_options():
    counts = {
        " ".join(path): sum(isinstance(one, click.Option) for one in command.params)
        for path, command in COMMANDS.items()
        if path
    }
    sys.stdout.write(f"{sum(counts.values())} options: {counts}\n")
    assert sum(counts.values()) <= 130
    assert len(cli.app.list_commands(click.Context(cli.app))) <= 12


def test_every_file_of_a_command_is_listed_and_every_listed_command_exists():
    listed = {name for commands in cli.COMMANDS.values() for name in commands}
    helpers = {"__init__", "console", "ends", "options"}
    assert listed == {path.stem for path in Path(cli.__file__).parent.glob("*.py")} - helpers


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_help_fits_the_terminal(call, monkeypatch, path, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, err = call(*path, "--help")
    assert (code, err) == (0, "")
    assert re.match(" ".join(["Usage:", "syntf", *path, r"\["]), " ".join(out.split()))
    examples = re.findall(r"^ +syntf .*$", out, re.MULTILINE)  # to be copied, so never broken
    lines = [line for line in out.splitlines() if line not in examples]
    assert max(map(len, lines)) <= min(width, 80)
    assert max(map(len, examples), default=0) <= 80


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_command_and_option_is_explained(path):
    command = LEAVES[path]
    assert len(command.help) > 40
    for option in command.params:
        assert isinstance(option, click.Argument) or len(option.help) > 10
        assert not getattr(option, "hidden", False)


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_example_of_the_help_is_a_command_with_known_options(path, call):
    """Each word after `syntf` is parsed as the program would."""
    context = click.Context(LEAVES[path])
    text = LEAVES[path].get_help(context).replace("\\\n", "")
    for line in re.findall(r"^ +syntf (.*)$", text, re.MULTILINE):
        words = re.findall(r'"[^"]*"|\S+', line)
        words = cli.split_keep([word.strip('"') for word in words])
        name = next(other for other in sorted(LEAVES, key=len, reverse=True)
                    if tuple(words[: len(other)]) == other)  # fmt: skip
        command = LEAVES[name]
        parent = click.Context(cli.app, info_name="syntf")
        click.Command.make_context(command, name[-1], words[len(name) :], parent=parent)


def test_basic_options_of_anonymize_come_first(call):
    """A person who makes a first release need not read all options."""
    text = call("anonymize", "--help")[1]
    sections = re.split(r"^([A-Z][^:\n]+):$", text, flags=re.MULTILINE)
    found = {
        heading: re.findall(r"^  (?:-\w, )?(--[\w-]+)", body, re.MULTILINE)
        for heading, body in zip(sections[1::2], sections[2::2], strict=True)
    }
    assert [*found] == [*options.GROUPS]
    assert len(found[options.BASIC]) <= 12
    assert {"--out", "--text", "--keep", "--preset", "--help"} <= {*found[options.BASIC]}


def test_every_setting_is_an_option_of_anonymize_and_known_to_set():
    anonymize = COMMANDS["anonymize",]
    names = {one.name for one in anonymize.params}
    assert {name for name, one in SETTINGS.items() if one.kind != "object"} <= names
    assert len(names) <= 40


@pytest.mark.parametrize("arguments", [[], ["ledger"], ["codebook"], ["language"]])
def test_a_group_alone_prints_its_help(call, arguments):
    code, out, err = call(*arguments)
    assert (code, err) == (2, "")
    assert out.startswith(" ".join(["Usage: syntf", *arguments, "["]))


def test_the_version(call):
    assert call("--version") == (0, f"syntf {__version__}\n", "")


def test_the_help_lists_every_exit_code(call):
    out = call("--help")[1]
    assert {*ends.MEANINGS} == {*ends.Exit}
    for code, meaning in ends.MEANINGS.items():
        assert f" {code.value} {meaning}" in " ".join(out.split())


# Names that are mistyped


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["anonymise"], "No such command 'anonymise'; did you mean 'anonymize'?"),
        (["ledger", "shwo"], "Did you mean 'show'? See: syntf ledger --help"),
        (["bounds", "--dcouments", "3"], "--documents"),
        (["anonymize"], "Missing argument 'INPUT...'. See: syntf anonymize --help"),
        (["anonymize", "a.csv"], "Missing option '--out'. See: syntf anonymize --help"),
        (["anonymize", "a.csv", "--keep"], "Option '--keep' requires an argument."),
        (["example", "--froce"], "Did you mean '--force'?"),
        (["explain"], "Give words, or a text by --text. See: syntf explain --help"),
        (["explain", "cat", "--text", "a cat"], "Give words or --text, not both."),
        (["explain", "cat", "--top", "0"], "0 is not in the range x>=1"),
        (["bounds", "--documents", "0"], "0 is not in the range x>=1"),
        (["bounds", "--delta", "1"], "1.0 is not in the range 0<x<1"),
        (["bounds", "--preset", "best"], "'best' is not one of 'document', 'words'"),
        (["bounds", "--set", "lenght=3"], "did you mean 'length'?"),
        (["bounds", "--set", "length"], "'length' is not NAME=VALUE with a setting"),
        (["bounds", "--set", "length=x"], "'x' is not a valid integer"),
        (["bounds", "--set", "weights=bm25"], "'bm25' is not one of 'tf', 'tfidf', 'topical'"),
        (["bounds", "--vocabulary", "f"], "--vocabulary is --set vocabulary=VALUE here."),
        (["explain", "a", "--no-pilot"], "--no-pilot is --set pilot=VALUE here."),
        (["--colour"], "No such option '--colour'"),
    ],
)
def test_a_mistyped_name_gets_advice(call, arguments, said):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err


# Names of 0.2


GONE_COMMANDS = "init cache vocabulary preview coverage audit report reproduce frontier completion"
OF_02 = {
    "example": "--force --quiet",
    "anonymize": "--out --text --id --keep --shuffle --no-shuffle --preset --document-loss --loss "
    "--force --quiet --json --codebook --encoder --pilot --no-pilot --length --epsilon "
    "--neighbours --ledger --author --author-loss --language --spelling --weights --draws --idf "
    "--morphology --analyzer --keep-numbers --no-keep-numbers --vocabulary --fit-vocabulary "
    "--no-fit-vocabulary --min-df --max-df --max-size --synsets --no-synsets --vectors --format "
    "--input-format --delimiter --encoding --undecodable --bad-rows --max-bad-rows --sheet "
    "--query --accept-coverage --no-accept-coverage --dry-run --resume --jobs --device --engine "
    "--master --insecure-seed --config --no-config",
    "ledger create": "--budget --author-budget --json --quiet",
    "ledger show": "--json",
    "explain": "--top --preset --document-loss --codebook --encoder --loss --epsilon --neighbours "
    "--language --spelling --morphology --analyzer --vocabulary --max-size --synsets --no-synsets "
    "--vectors --json --quiet --config --no-config",
    "bounds": "--preset --document-loss --codebook --loss --epsilon --neighbours --length "
    "--documents --delta --device --language --spelling --morphology --vocabulary --max-size "
    "--synsets --no-synsets --vectors --figures --json --quiet --config --no-config",
    "verify": "--vectors --codebook --language --slow --require-private --json --quiet",
}
"""The options of 0.2 of the commands that are still there."""


@pytest.mark.parametrize("name", GONE_COMMANDS.split())
def test_a_command_that_is_gone_names_its_replacement(call, name):
    code, out, err = call(name, "--json", "x")
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"syntf: '{name}' is gone since 0\.3\. Use .*\n", err)


@pytest.mark.parametrize("command", OF_02)
def test_an_option_of_02_works_or_names_its_replacement(call, command):
    path = tuple(command.split())
    own = {name for one in LEAVES[path].params for name in (*one.opts, *one.secondary_opts)}
    for option in OF_02[command].split():
        if option not in own:
            code, out, err = call(*path, option)
            assert (code, out) == (2, "")
            assert f"{option} is gone since 0.3. " in err or "=VALUE here. See" in err
            assert err.count("\n") == 1


def test_options_that_are_gone_do_not_exist():
    for command in LEAVES.values():
        own = {name for one in command.params for name in one.opts}
        assert not own & {*options.GONE} - {"--quiet", "-q", "--json"}
