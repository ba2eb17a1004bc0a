"""`syntf preview` and `anonymize --dry-run`: what a release would be like, and no release."""

import json
from math import exp

import pytest

from syntf.cli.commands.preview import EXAMPLES, HEADING
from syntf.codebook import plan

SENTENCES = {
    "sport": "The goalkeeper saved the penalty and the team won the match.",
    "money": "The bank will raise the interest of the loan and it is not good for the market.",
}
COLUMNS = ["id", "body", "topic", "who"]
KEPT_OF_300 = pytest.approx(exp(10) / (exp(10) + 299), rel=1e-6)
"""How likely one of 300 topics is kept with a loss of 10."""


@pytest.fixture(autouse=True)
def mails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()  # no configuration above
    topics = ["sport", "money"] * 15
    rows = [f"m{i},{SENTENCES[topic]},{topic},u{i}@x.org" for i, topic in enumerate(topics)]
    (tmp_path / "mails.csv").write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")


@pytest.fixture
def preview(call, tmp_path):
    """Preview with --json; nothing may be written."""

    def run(*options, command=("preview", "mails.csv")):
        before = sorted(tmp_path.iterdir())
        code, out, err = call(*command, "--text", "body", *options, "--json")
        assert (code, err) == (0, "")
        assert sorted(tmp_path.iterdir()) == before
        return json.loads(out)

    return run


def test_a_preview_describes_columns_language_and_losses(preview):
    found = preview("--document-loss", 10, "--keep", "topic")
    examples = found.pop("examples")
    assert found["sample"].pop("known") > 0.9
    assert found.pop("estimated_seconds") > 0
    assert 35_000 < found.pop("estimated_bytes") < 300_000
    assert found == {
        "note": HEADING, "columns": dict.fromkeys(COLUMNS, "String"), "rows_read": 30,
        "documents": 30,
        "sample": {"documents": 30, "empty": 0.0, "blank": 0.0, "numbers": 0.0, "replaced": 0.0,
                   "language": "en", "nul": 0.0},
        "problems": [], "warnings": [],
        "shuffled": False, "loss_per_word": None, "loss_per_document": 10.0, "pilot": False,
        "list": {"documents": 30, "kind": "topics", "entries": 300, "kept": KEPT_OF_300,
                 "pilot": 0, "sharpened_entries": 0, "sharpened_kept": None},
        "author": "An author of m documents in this release loses m times as much as one document.",
    }  # fmt: skip
    assert len(examples) == EXAMPLES
    for example in examples:
        assert {example["text"][:20]} <= {text[:20] for text in SENTENCES.values()}
        assert example["fits"]
        assert example["drawn"]
        assert example["kept"] == KEPT_OF_300


def test_a_small_loss_keeps_hardly_any_text_and_draws_anew(preview):
    found = [preview("--document-loss", 0.01)["examples"] for _ in range(4)]
    assert all(example["kept"] < 0.35 for examples in found for example in examples)
    draws = {tuple(example["drawn"] for example in examples) for examples in found}
    assert len(draws) > 1  # one of 3 topics for 5 texts, 4 times: all equal once in 3 ** 15


def test_a_pilot_is_told_where_a_release_would_have_one(preview, monkeypatch):
    monkeypatch.setattr(plan, "PILOT_FROM", 20)
    assert preview("--document-loss", 10)["pilot"]
    assert not preview("--preset", "sentiment")["pilot"]
    assert not preview("--document-loss", 10, "--no-pilot")["pilot"]


@pytest.mark.parametrize("options", [[], ["--no-pilot"]])
@pytest.mark.parametrize("documents", [30, 1200])
@pytest.mark.parametrize("loss", [4, 10, 20])
def test_the_list_is_that_of_a_release_of_the_same_file(
    preview, call, tmp_path, options, documents, loss
):
    rows = [list(SENTENCES.values())[number % 2] for number in range(documents)]
    (tmp_path / "mails.csv").write_text("\n".join(["body", *rows]) + "\n")
    options = ("--document-loss", loss, *options)
    shown = preview(*options)
    call("anonymize", "mails.csv", "--text", "body", *options, "--out", "out")
    unit = json.loads((tmp_path / "out" / "guarantee.json").read_text())["document"]
    names = ("kind", "entries", "pilot", "sharpened_entries")
    assert {name: shown["list"][name] for name in names} == {name: unit[name] for name in names}
    assert shown["list"]["documents"] == documents
    assert shown["pilot"] == (unit["pilot"] > 0)
    for example in shown["examples"]:
        assert example["kept"] == shown["list"]["kept"]
    code, out, err = call("preview", "mails.csv", "--text", "body", *options)
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    assert f"{unit['entries']:,} {unit['kind']}" in said
    assert f"for {documents:,} documents" in said
    if unit["pilot"]:
        assert f"{unit['pilot']:,} pilot documents" in said
        assert f"{unit['sharpened_entries']:,} {unit['kind']}" in said


def test_a_preview_of_words_draws_words(preview):
    found = preview("--preset", "words", "--length", 12, "--max-size", 2000)
    assert found["loss_per_document"] == pytest.approx(12 * found["loss_per_word"])
    for example in found["examples"]:
        assert sorted(example) == ["drawn", "text"]
        assert 1 <= sum(int(part.split("×")[1]) for part in example["drawn"].split(", ")) <= 12


def test_warnings_and_problems_are_shown_before_a_run(preview, call, tmp_path):
    found = preview("--id", "id", "--keep", "who", "--shuffle")
    assert found["warnings"][:2] == [
        "the id 'id' is in the order of the input, which undoes the random order",
        "the column 'who' looks like e-mail addresses, and it is released as it is",
    ]
    (tmp_path / "numbers.csv").write_text("text\n" + "123\n" * 30)
    code, out, err = call("preview", "numbers.csv", "--document-loss", 10)
    assert (code, err) == (0, "")
    assert "! 100% of the texts hold numbers and no word: check that --text" in " ".join(
        out.split()
    )


@pytest.mark.parametrize("keep", [["topic", "who"], ["who"]])
def test_a_dry_run_shows_the_same_and_writes_nothing(preview, keep):
    options = ("--keep", *keep, "--document-loss", 10)
    shown = preview(*options)
    dry = preview(*options, "--dry-run", command=("anonymize", "mails.csv"))
    for found in (shown, dry):
        del found["estimated_seconds"], found["estimated_bytes"]
        for example in found["examples"]:
            del example["drawn"]
    assert dry == shown


def test_a_dry_run_limits_authors(preview):
    dry = preview(
        "--document-loss", 10, "--author", "who", "--author-loss", 30, "--dry-run", "--out", "out",
        command=("anonymize", "mails.csv"),
    )  # fmt: skip
    assert dry["author"].startswith("An author loses at most 30.00: at most 3 documents")
    assert any("may choose from another list" in warning for warning in dry["warnings"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--keep", "topik"], "no column 'topik'"),
        (["--keep", "body"], "the text column 'body' cannot be released"),
    ],
)
def test_wrong_columns_are_refused(call, options, said):
    code, out, err = call("preview", "mails.csv", "--text", "body", *options)
    assert (code, out) == (2, "")
    assert said in err
