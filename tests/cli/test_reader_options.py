"""Reader options: the same for every command that reads texts, and hints name only these."""

import inspect
import re
from pathlib import Path

import click
import pytest

from syntf.cli.app import COMMANDS, app
from syntf.cli.options import READER_DEFAULTS
from syntf.inputs.corpus import Corpus
from syntf.releases.job import release

READING = ["anonymize", "coverage", "evaluate", "tune", "vocabulary build", "codebook build"]


def command(words):
    found = app
    for word in words.split():
        found = found.commands[word]
    return found


def all_options():
    """Every option of every command."""
    names = set()

    def collect(one):
        for parameter in one.params:
            names.update([*parameter.opts, *parameter.secondary_opts])
        for inner in getattr(one, "commands", {}).values():
            collect(inner)

    for group in COMMANDS.values():
        for name in group:
            collect(app.commands[name])
    return names


@pytest.mark.parametrize("words", READING)
def test_commands_that_read_texts_take_the_same_reader_options(words):
    found = {parameter.name: parameter.default for parameter in command(words).params}
    none = click.Option(["--none"]).default
    for name, default in READER_DEFAULTS.items():
        assert found[name] == (none if default is None else default)


def test_the_defaults_are_those_of_the_python_functions():
    corpus, job = (inspect.signature(made).parameters for made in (Corpus, release))
    for name, default in READER_DEFAULTS.items():
        assert job[name].default == default
        assert corpus["format" if name == "input_format" else name].default == default


def test_hints_of_the_readers_name_only_options_that_exist():
    known = all_options()
    source = Path(inspect.getfile(Corpus)).parent
    named = {
        name
        for path in source.glob("*.py")
        for name in re.findall(r"--[a-z][a-z-]+", path.read_text())
    }
    assert named
    assert named <= known


@pytest.mark.parametrize("words", ["anonymize", "evaluate", "tune", "vocabulary build"])
def test_out_is_a_place_and_not_standard_output(call, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("text\ncat\n")
    code, _, err = call(*words.split(), "a.csv", "--out", "-")
    assert code == 2
    assert "nothing is written to standard output" in err
    assert not Path("-").exists()


def test_coverage_reads_what_anonymize_reads(call, tmp_path):
    (tmp_path / "a.dat").write_bytes("id;body\n1;the café\n2;a dog;\n3;cat\n".encode("cp1252"))
    options = ["--input-format", "csv", "--encoding", "cp1252", "--text", "body"]
    code, out, _ = call(
        "coverage", tmp_path / "a.dat", *options, "--bad-rows", "skip", "--max-bad-rows", 0.5,
        "--json",
    )  # fmt: skip
    assert code == 0
    assert '"documents": 2' in out


def test_a_usual_name_is_suggested_for_the_column_of_texts(call, tmp_path):
    many = ",".join(f"c{i}" for i in range(40))
    (tmp_path / "a.csv").write_text(f"{many},Body\n{many},cat\n")
    for text, hint in (("text", "did you mean 'Body'"), ("bdy", "did you mean 'Body'")):
        code, _, err = call("coverage", tmp_path / "a.csv", "--text", text)
        assert code == 2
        assert hint in err
