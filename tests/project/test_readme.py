"""What the README shows is what the package does."""

import csv
import re
from importlib.resources import files
from pathlib import Path

import pytest

from syntf.core.exact import shown
from syntf.pipeline.presets import PRESETS
from syntf.privacy import bounds

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def readme():
    return README.read_text(encoding="utf-8")


def test_the_ten_lines_of_python_run_on_the_example(readme, capsys):
    code = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    with files("syntf").joinpath("data", "example.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = {"texts": [row["text"] for row in rows], "topics": [row["topic"] for row in rows]}
    exec(code, names)
    assert names["counts"].shape == (320, PRESETS["default"]["max_size"])
    assert names["analyst"].score(names["counts"], names["topics"]) > 0.5
    assert len(capsys.readouterr().out.split()) == 2


def test_the_table_of_losses_is_that_of_the_default(readme, default_synthetic):
    losses = default_synthetic.guarantee_.loss_per_word
    for name, loss in (
        ("standard (ε)", losses.standard),
        ("improved (ε + ln η)", losses.improved),
        ("tight, promised", losses.tight),
    ):
        length = PRESETS["default"]["length"]
        document, author = bounds.document_loss(loss, length), bounds.author_loss(loss, length, 50)
        figures = [shown(loss, 4), shown(document, 2), shown(author, 2)]
        assert " | ".join([name, *figures]) in readme.replace("*", "")
