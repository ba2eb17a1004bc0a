"""The table of docs/tasks.md is the one that benchmarks/tasks.json gives."""

import json
from pathlib import Path

import numpy as np
import pytest
import tasks

ROOT = Path(__file__).parents[2]
ROWS = json.loads((ROOT / "benchmarks" / "tasks.json").read_text(encoding="utf-8"))["rows"]


def test_the_page_shows_all_measured_rows():
    page = (ROOT / "docs" / "tasks.md").read_text(encoding="utf-8")
    shown = page.split(tasks.BEGIN)[1].split(tasks.END)[0]
    assert shown.strip() == tasks.table(ROWS).strip()


def test_every_row_has_the_same_keys_and_is_measured_once():
    assert all(tuple(row) == tasks.ROW for row in ROWS)
    keys = [tuple(row[name] for name in tasks.KEY) for row in ROWS]
    assert len(set(keys)) == len(keys)


def test_a_row_by_hand():
    settings = tasks.Settings.from_preset(document_loss=10.0)
    row = tasks.row("topics", "F1", "corpus", settings, 0.9, [0.4, 0.6], 0.1, 1200)
    assert row["released"] == 0.5
    assert row["deviation"] == pytest.approx(0.1414)
    last = tasks.table([row]).strip().splitlines()[-1]
    assert last == (
        "| topics, F1 | corpus (1,200) | English | document | 10 | .900 | .500 ± .141 | .100 |"
    )
    assert tasks.loss_of(tasks.Settings.from_preset("words")) == 1000


def test_short_texts_are_the_first_long_words():
    one = np.array(["a"])
    texts = ["the wonderful words that stand"]
    corpus = tasks.LabelledCorpus(texts, one, one, np.array([True]))
    assert tasks.first_words(corpus, 2).texts == ["wonderful words"]


def test_speeches_are_divided_by_time_with_whole_presidents(tmp_path):
    authors = ["Truman"] * 4 + ["Nixon"] * 3 + ["Clinton"] * 2 + ["GWBush"] * 2
    rows = [f"words,{author}" for author in authors]
    (tmp_path / "s.csv").write_text("\n".join(["text,author", *rows]))
    options = {"group": "author", "time": "place", "split_by": "time"}
    corpus = tasks.read_speeches(tmp_path / "s.csv", **options)
    assert corpus.train.tolist() == [True] * 7 + [False] * 4
    assert corpus.labels.tolist() == ["true"] * 4 + ["false"] * 3 + ["true"] * 2 + ["false"] * 2


def test_whole_addresses_begin_at_their_headings(tmp_path):
    pieces = [
        "PRESIDENT BILL CLINTON'S ADDRESS one",
        "two",
        "ADDRESS OF THE PRESIDENT",
        "PRESIDENT x",
    ]
    lines = ["text,label", *(f"{text},{place // 2}" for place, text in enumerate(pieces))]
    (tmp_path / "s.csv").write_text("\n".join([*lines, *(f"ADDRESS {n},2" for n in "abc")]))
    corpus = tasks.read_addresses(tmp_path / "s.csv")
    assert list(corpus.texts[:2]) == [f"{pieces[0]} two", f"{pieces[2]} PRESIDENT x"]
    assert corpus.labels.tolist() == ["0", "1", "2", "2", "2"]
