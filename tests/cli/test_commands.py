"""The figures of `bounds` and `explain`, the verdict of `verify`, and ledgers."""

import json
import re

import numpy as np
import polars as pl
import pytest

from syntf import Settings
from syntf.cli import ends
from syntf.core.exact import shown
from syntf.privacy import bounds, pair
from syntf.rows import build
from tests.cli.conftest import TOY

TERMS = "cat dog car train music house".split()
WORDS = ("--set", "vocabulary=terms.txt", "--set", "vectors=words.txt")


@pytest.fixture
def words(place):
    """A vocabulary and vectors of six words."""
    lines = (f"{term} 1 {at} {at * at}\n" for at, term in enumerate(TERMS))
    (place / "words.txt").write_text("".join(lines))
    (place / "terms.txt").write_text("\n".join(TERMS) + "\n")
    return place


@pytest.fixture
def record(call):
    """Run a command with --json that must succeed; return the object."""

    def run(*arguments):
        code, out, err = call(*arguments, "--json")
        assert (code, err) == (0, "")
        assert out.isascii()
        return json.loads(out, parse_constant=pytest.fail)  # JSON has no NaN and no Infinity

    return run


def made(**chosen):
    return build(Settings.of(vocabulary="terms.txt", vectors="words.txt", **chosen))


# bounds


def test_bounds_of_the_paper_are_its_formulas(words, call, record):
    options = ["--preset", "paper", "--epsilon", "10", "--length", "20", "--documents", "7", *WORDS]
    code, out, err = call("bounds", *options)
    assert (code, err) == (0, "")
    tight = made(preset="paper", epsilon=10).scheme().mechanism.loss
    text = " ".join(out.split())
    for name, loss in (
        ("standard", 10.0), ("improved", bounds.improved_loss(10.0, 6)),
        ("tight (promised)", tight),
    ):  # fmt: skip
        document = bounds.document_loss(loss, 20)
        author = bounds.author_loss(loss, 20, 7)
        assert f"{name} {shown(loss, 4)} {shown(document, 2)} {shown(author, 2)} " in text
    needed = bounds.necessary_epsilon(0.5, 1, 5)
    assert f"needs ε of at least {needed:.2f}." in text
    found = record("bounds", *options)
    assert found["loss_per_draw"]["tight (promised)"] == tight
    assert found["loss_per_author"] == bounds.author_loss(tight, 20, 7)
    assert (found["kept"], found["answers"]) == (None, 6)


def test_bounds_of_responses_say_how_often_they_are_true(words, record):
    found = record("bounds", "--word-loss", "3", "--length", "9", "--delta", "1e-6", *WORDS)
    assert found["kept"] == pytest.approx(np.exp(3) / (np.exp(3) + 5), rel=1e-6)
    mechanism = made(word_loss=3, length=9).scheme().mechanism
    assert found["epsilon_at_delta"] == pair.epsilon_at(mechanism, 9, 1e-6)
    assert found["epsilon_at_delta"] < found["loss_per_document"] <= 27


@pytest.mark.parametrize("loss", ["0.5", "4", "10"])
def test_the_bound_of_a_document_is_its_loss(place, record, loss):
    found = record("bounds", "--loss", loss, "--set", "codebook=toy.codebook", "--set",
                   "vectors=toy.npz")  # fmt: skip
    assert float(loss) * 0.98 < found["loss_per_document"] <= float(loss)


# explain


def shares(out):
    """Return the words and percentages of the tables that `explain` prints."""
    return re.findall(r"^(\w+) +([\d.]+)%", out, flags=re.MULTILINE)


def test_explain_prints_the_probabilities_of_the_mechanism(words, call):
    options = ["--preset", "paper", "--epsilon", "20", "--top", "4", *WORDS]
    code, out, err = call("explain", "Trains", *options)
    assert (code, err) == (0, "")
    mechanism = made(preset="paper", epsilon=20).scheme().mechanism
    chances = mechanism.weights(TERMS.index("train")) / mechanism.total
    best = np.argsort(-chances)[:4]
    assert shares(out) == [(TERMS[at], f"{100 * chances[at]:.2f}") for at in best]
    assert f"any of 2 others {100 * (1 - chances[best].sum()):.2f}%" in " ".join(out.split())


def test_explain_compares_each_pair_of_words(words, call):
    code, out, _ = call("explain", "cat", "dog", "music", "--preset", "paper", *WORDS)
    text = " ".join(out.split())
    scheme = made(preset="paper").scheme()
    rows = [scheme.mechanism.weights(TERMS.index(word)) for word in ("cat", "dog", "music")]
    p, q = rows[0] / scheme.mechanism.total, rows[2] / scheme.mechanism.total
    right = (1 + np.abs(p - q).sum() / 2) / 2
    assert code == 0
    assert (
        f"cat and music: one draw changes their odds by a loss of at most "
        f"{shown(np.abs(np.log(p / q)).max(), 2)}; the best guess from it is right in {right:.1%}"
    ) in text
    assert text.count("changes their odds") == 3


def test_a_text_of_several_words_is_explained_by_all_of_them(words, record):
    found = record("explain", "--text", "cat cat cat train", "--preset", "paper", *WORDS)
    (one,) = found["explained"]
    scheme = made(preset="paper").scheme()
    chances = [scheme.mechanism.weights(TERMS.index(word)) for word in ("cat", "train")]
    mixed = (0.75 * chances[0] + 0.25 * chances[1]) / scheme.mechanism.total
    for answer in one["answers"]:
        assert answer["chance"] == pytest.approx(mixed[TERMS.index(answer["name"])], abs=0.12)
    total = one["others"]["chance"] + sum(answer["chance"] for answer in one["answers"])
    assert total == pytest.approx(1)
    assert (one["draws"], one["known"]) == (150, True)


def test_a_text_is_explained_by_the_topic_that_it_is_released_as(place, record):
    toy = ("--set", "codebook=toy.codebook", "--set", "vectors=toy.npz")
    (known,) = record("explain", "--text", "The cat!", "--loss", "6", *toy)["explained"]
    (unknown,) = record("explain", "--text", "qwxyz", "--loss", "6", *toy)["explained"]
    assert known["answers"][0]["chance"] == pytest.approx(np.exp(6) / (np.exp(6) + 4), rel=1e-3)
    assert known["answers"][0]["words"]
    assert unknown["answers"][0]["name"] == "nothing known"
    assert not unknown["known"]


def test_explain_says_which_words_are_unknown_and_prints_markup_literally(words, call):
    code, out, _ = call("explain", "cat", "qwxyz", "[red]", "[/bold]", "back\\", *WORDS)
    assert code == 0
    for word in ("qwxyz", "[red]", "[/bold]", "back\\"):
        assert f"{word} has no known word, or stop words alone." in out


# verify


def test_verify_says_what_it_checked_and_ends_with_its_verdict(place, call, anonymize):
    assert anonymize("--insecure-seed", "1")[0] == 0
    code, out, err = call("verify", "out", *TOY)
    assert (code, err) == (0, "")
    assert "NOT PRIVATE: the random draws come from a seed" in " ".join(out.split())
    found = json.loads(call("verify", "out", *TOY, "--json")[1])
    assert (found["verdict"], found["private"], found["loss_per_document"]) == (
        "verified", False, 10.0,
    )  # fmt: skip
    assert call("verify", "out", *TOY, "-q") == (0, "", "")
    code, out, _ = call("verify", "out", "--json")  # without the public data of the sender
    assert code in (ends.Exit.NOT_CHECKED, ends.Exit.REFUSED)
    assert json.loads(out)["verdict"] != "verified"
    (place / "out" / "vocabulary.txt").write_text("other\n")
    code, out, err = call("verify", "out", *TOY)
    assert (code, err) == (1, "")
    assert "FAILED" in out
    assert "Not verified:" in out


def test_another_format_is_not_checked(place, call, anonymize):
    assert anonymize("-q")[0] == 0
    path = place / "out" / "guarantee.json"
    path.write_text(path.read_text().replace('"format": 3', '"format": 2'))
    code, out, _ = call("verify", "out", *TOY, "--json")
    assert (code, json.loads(out)["verdict"]) == (3, "not checked")
    assert json.loads(out)["private"] is None


@pytest.mark.parametrize("folder", ["none", "mails.csv"])
def test_a_folder_that_is_no_release_is_not_verified(place, call, folder):
    code, out, err = call("verify", folder)
    assert (code, err) == (1, "")
    assert "Not verified" in out


@pytest.mark.parametrize("width", [60, 80])
def test_the_table_of_checks_fits_the_terminal(place, call, anonymize, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    assert anonymize("-q", "--keep", "topic")[0] == 0
    for arguments in (["verify", "out", *TOY], ["bounds"], ["explain", "--text", "the cat"]):
        out = call(*arguments)[1]
        assert max(map(len, out.splitlines())) <= width
        assert "…" not in out


# ledger


def test_a_ledger_is_created_shown_and_a_run_cancelled(place, call, anonymize):
    code, out, err = call("ledger", "create", "[l]", "--budget", "25", "--author-budget", "130.5")
    assert (code, err) == (0, "")
    assert "Wrote [l]." in out
    assert call("ledger", "create", "[l]", "--budget", "25")[0] == 2
    assert "No runs yet." in call("ledger", "show", "[l]")[1]
    options = ["--id", "id", "--author", "topic", "--ledger", "[l]", "-q"]
    for out in ("one", "two"):
        assert anonymize(*options, out=out) == (0, "", "")
    assert anonymize(*options, out="three")[0] == 1
    shown = " ".join(call("ledger", "show", "[l]")[1].split())
    assert "documents 25 24 20 5" in shown
    assert "authors 130.5 4 120 10.5" in shown
    assert re.search(r"run 1 .* 24 documents loss 10 each one run 2 .* two", shown)
    assert "24 documents" in call("ledger", "cancel", "[l]", "2")[1]
    assert call("ledger", "cancel", "[l]", "2")[0] == 2
    found = json.loads(call("ledger", "show", "[l]", "--json")[1])
    assert found["accounts"]["document"]["largest_loss"] == "10"
    assert [run["cancelled"] is None for run in found["runs"]] == [True, False]
    assert [run["documents"] for run in found["runs"]] == [24, 24]
    assert anonymize(*options, out="three")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["create", "l"], "give a ledger a budget"),
        (["create", "l", "--budget", "0"], "must be finite and above 0"),
        (["create", "l", "--budget", "nan"], "must be finite and above 0"),
        (["show", "none"], "no ledger at none"),
        (["cancel", "none", "1"], "no ledger at none"),
        (["cancel", "none", "x"], "'x' is not a valid integer"),
    ],
)
def test_a_wrong_ledger_gives_one_line(refused, arguments, said):
    assert said in refused("ledger", *arguments)


# example


def test_the_example_is_not_overwritten_by_accident(place, call, refused):
    assert "mails.csv exists: add --force to replace it" in refused("example", "mails.csv")
    assert call("example", "mails.csv", "--force")[0] == 0
    frame = pl.read_csv("mails.csv")
    assert (frame.height, frame.columns) == (320, ["id", "text", "topic", "author"])
    assert "No such file or directory" in refused("example", "no/such/folder.csv")
