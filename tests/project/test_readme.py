"""The examples and figures of the README are what the package prints."""

import csv
import re
from importlib.resources import files
from math import exp
from pathlib import Path

import draw_picture
import pytest

from syntf import SynTF
from syntf.pipeline.settings import DEFAULT_PRESET, PRESETS

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def readme():
    """The text of README.md."""
    return README.read_text(encoding="utf-8")


def test_python_example_of_the_readme_runs(readme, capsys):
    code = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    with files("syntf").joinpath("data", "example.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = {"texts": [row["text"] for row in rows], "topics": [row["topic"] for row in rows]}
    exec(code, names)
    assert names["counts"].shape == (320, len(names["terms"]))
    assert names["analyst"].score(names["counts"], names["topics"]) > 0.5
    assert capsys.readouterr().out == "10.0\n"


def test_first_screen_states_the_loss_of_the_default(readme):
    loss = PRESETS[DEFAULT_PRESET]["document_loss"]
    assert f"**a loss of {loss:g} for a whole document**" in readme.replace("\n", " ")
    assert f"e^{loss:g} = {exp(loss):,.0f}" in readme


def test_table_of_settings_shows_the_losses_of_the_presets(readme):
    for name, preset in PRESETS.items():
        label = "the default" if name == DEFAULT_PRESET else f"`--preset {name}`"
        loss = preset.get("document_loss")
        if loss is None:
            guarantee = SynTF(preset=name).fit([]).guarantee_
            loss = guarantee.loss_per_document
        assert f"| {label} | {loss:,.4g} |" in readme


def test_example_of_the_readme_is_that_of_the_picture(readme):
    _, label, released = draw_picture.example()
    lines = " ".join(line.removeprefix("> ") for line in readme.splitlines())
    assert draw_picture.TEXT in lines
    assert f"*{label}*" in lines
    assert ", ".join(f"{word} {count}" for word, count in released[:13]) in lines


def test_figures_of_the_readme_are_those_of_the_last_run(readme):
    """Each is the figure of docs/benchmarks.md, rounded to the digits that the README shows."""
    page = (README.parent / "docs" / "benchmarks.md").read_text(encoding="utf-8")

    def cell(label, column=1):
        (row,) = re.findall(rf"^\| {re.escape(label)} \|.*$", page, re.MULTILINE)[-1:]
        return float(re.match(r"[\d,.]+", row.split(" | ")[column])[0].replace(",", ""))

    def shown(pattern):
        (row,) = re.findall(rf"^\| {pattern} \|$", readme, re.MULTILINE)
        return row if isinstance(row, tuple) else (row,)

    (fastest,) = set(re.findall(r"^\| (syntf, preset words, the mechanism alone, against dp.*?) \|",
                                page.partition("## Trend")[0], re.MULTILINE))  # fmt: skip
    counting = "whole process, against CountVectorizer"
    drawing = "syntf, preset words, the mechanism alone"
    hundred = "`syntf anonymize`, × 100"
    compared = [
        (r"`syntf anonymize`, from a CSV.* \| ([\d.]+) times the time .*",
         [cell(f"default settings, {counting}")]),
        (r"the same with .* \| ([\d.]+) times, ([\d.]+) times",
         [cell(f"preset words, {counting}"), cell(f"preset paper, {counting}")]),
        (r"`syntf verify`.* \| ([\d.]+) times the time; with `--preset words` ([\d.]+) times",
         [cell("verifying, against anonymizing"),
          cell("preset words, verifying, against anonymizing")]),
        (r"words drawn .* \| (\d+) million, (\d+),000 times .*",
         [cell(drawing, 4) / 1e6, cell(fastest) / 1e3]),
        (r"`syntf anonymize` on .* \| (\d+) seconds, ([\d.]+) GB of memory; ([\d.]+) seconds",
         [cell(hundred), cell(hundred, 3) / 1e3, cell("ten texts, whole process")]),
        (r"`syntf evaluate` with ten runs; `syntf tune` \| (\d+) seconds; (\d+) seconds",
         [cell("`syntf evaluate`, ten runs"), cell("`syntf tune --target-utility 0.6`")]),
    ]  # fmt: skip
    for pattern, measured in compared:
        for text, value in zip(shown(pattern), measured, strict=True):
            digits = len(text.partition(".")[2])
            assert float(text) == pytest.approx(value, abs=0.501 / 10**digits), pattern


def test_commands_of_a_block_write_different_folders(readme):
    blocks = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
    written = [re.findall(r"--out (\S+)", block) for block in blocks]
    assert any(len(folders) > 1 for folders in written)
    for folders in written:
        assert len(set(folders)) == len(folders)  # a folder that exists is refused


def test_readme_is_short(readme):
    assert readme.count("\n") <= 150
