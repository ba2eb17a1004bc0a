"""The examples and figures of the README are what the package prints."""

import csv
import re
from importlib.resources import files
from pathlib import Path

import draw_picture
import pytest

from syntf.core.exact import shown
from syntf.pipeline.settings import DEFAULT_PRESET, PRESETS
from syntf.privacy import bounds

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
    assert names["counts"].shape == (320, PRESETS["words"]["max_size"])
    assert names["analyst"].score(names["counts"], names["topics"]) > 0.5
    assert len(capsys.readouterr().out.split()) == 2


def test_table_of_bounds_shows_the_losses_of_the_default(readme, default_synthetic):
    losses = default_synthetic.guarantee_.loss_per_word
    for name, loss in (
        ("standard (ε)", losses.standard),
        ("improved (ε + ln η)", losses.improved),
        ("tight, promised", losses.tight),
    ):
        length = PRESETS["words"]["length"]
        document, author = bounds.document_loss(loss, length), bounds.author_loss(loss, length, 50)
        figures = [shown(loss, 4), shown(document, 2), shown(author, 2)]
        assert " | ".join([name, *figures]) in readme.replace("*", "")


def test_preset_table_shows_the_losses_of_the_presets(readme):
    for name, preset in PRESETS.items():
        if "loss" in preset:
            label = "the default" if name == DEFAULT_PRESET else f"`--preset {name}`"
            document = bounds.document_loss(preset["loss"], preset["length"])
            assert f"| {label} | {preset['loss']:g} | {document:,g} |" in readme


def test_example_of_the_readme_is_that_of_the_picture(readme):
    _, released = draw_picture.example()
    lines = " ".join(line.removeprefix("> ") for line in readme.splitlines())
    assert draw_picture.TEXT in lines
    assert ", ".join(f"{word} {count}" for word, count in released[:13]) in lines


def test_readme_is_short(readme):
    assert readme.count("\n") <= 150
