"""Whole evaluations: of the example, of bad texts, of 20 newsgroups, and by the commands."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import syntf
from syntf.core import entropy
from syntf.core.errors import Refused, SyntfError
from syntf.evaluate import measures as names
from syntf.evaluate.analysts import topics
from syntf.evaluate.corpus import Corpus, read_corpus
from syntf.evaluate.evaluation import FILES, evaluate, write
from syntf.evaluate.tune import LOSSES, tune
from syntf.settings import Settings

EXAMPLE = Path(syntf.__file__).parent / "data" / "example.csv"


@pytest.fixture(scope="module")
def example():
    """The messages that come with syntf."""
    return read_corpus(EXAMPLE, label="topic", author="author")


def first(corpus, size):
    """Return the first documents of a corpus."""
    parts = (part[:size] for part in (corpus.texts, corpus.labels, corpus.authors, corpus.train))
    return Corpus(*parts)


@pytest.fixture(scope="module")
def evaluation(example):
    """An evaluation of the example with the default settings."""
    return evaluate(example, Settings(), runs=3, source=entropy.Seeded(1))


def test_topics_are_kept_and_authors_are_not(evaluation):
    kept, authors = evaluation.find(names.TOPICS), evaluation.find(names.AUTHORS)
    assert kept.chance + 0.2 < kept.value < kept.references[names.ORIGINAL]
    assert kept.references[names.ORIGINAL] > 0.95
    assert authors.value < authors.chance + 0.1 < authors.references[names.ORIGINAL]
    assert authors.among == 8


def test_a_row_is_found_far_more_often_than_by_chance_and_the_light_says_so(evaluation):
    found = evaluation.find(names.FIRST)
    assert found.value > 20 * found.chance > 0
    assert found.light == "red"
    assert evaluation.find(names.FIRST_OF_LABEL).value > found.value


def test_an_evaluation_is_repeated_by_the_same_bits_alone(example):
    few = first(example, 60)
    once, again, other = (
        evaluate(few, Settings(), runs=1, source=entropy.Seeded(seed)).as_dict()
        for seed in (1, 1, 2)
    )
    assert once == again
    assert once["measures"] != other["measures"]


def test_the_record_has_the_promise_as_registries_have_it(evaluation):
    record = json.loads(FILES["evaluation.json"](evaluation))
    deployment = record["deployment"]
    assert (deployment["unit"], deployment["model"]) == ("document", "local")
    assert (deployment["epsilon"], deployment["delta"]) == (10.0, 0.0)
    assert deployment["adjacency"] == "replaced"
    assert deployment["private"]
    assert record["columns"] == {"text": "text", "label": "topic", "author": "author"}
    assert (record["documents"], record["tested"], record["runs"]) == (320, 106, 3)


def test_files_are_for_their_owner_and_never_inside_a_release(evaluation, tmp_path):
    write(evaluation, tmp_path / "figures")
    assert {path.name for path in (tmp_path / "figures").iterdir()} == set(FILES)
    assert all(path.stat().st_mode & 0o77 == 0 for path in (tmp_path / "figures").iterdir())
    table = pl.read_csv(tmp_path / "figures" / "evaluation.csv")
    assert table["measure"].to_list() == [one.name for one in evaluation.measures]
    assert table["value"].to_list() == pytest.approx([one.value for one in evaluation.measures])
    release = tmp_path / "release"
    release.mkdir()
    (release / "guarantee.json").write_text("{}")
    with pytest.raises(SyntfError, match="is a release"):
        write(evaluation, release)
    assert [path.name for path in release.iterdir()] == ["guarantee.json"]


def test_no_text_label_or_author_is_in_the_files():
    texts = pl.Series("text", [f"the marmalade train {n}" for n in range(40)])
    labels = pl.Series("topic", ["zebrafish", "platypus"] * 20)
    found = evaluate(Corpus.of(texts, labels, labels), Settings(), runs=1)
    written = "".join(text_of(found) for text_of in FILES.values())
    assert not re.search("marmalade|train|zebrafish|platypus", written)


@pytest.mark.parametrize(
    "settings", [Settings(), Settings.of("words", length=5, vocabulary=["cat", "dog", "car"])]
)
@pytest.mark.parametrize("text", ["", "qwxyz \x00 🙂"])
def test_texts_without_known_words_stop_nothing(settings, text):
    labels = pl.Series("topic", ["a", "b"] * 20)
    corpus = Corpus.of(pl.Series("text", [text] * 40), labels, labels)
    found = evaluate(corpus, settings, runs=1)
    assert found.find(names.UNKNOWN_TEXTS).value == 1.0
    assert found.find(names.FIRST) is None
    assert found.find(names.TOPICS).kept is None


def test_words_are_measured_by_the_same_interface(example):
    settings = Settings.of("words", length=40, max_size=1000)
    found = evaluate(first(example, 60), settings, runs=1)
    assert found.find(names.FIRST).value > 0.9  # a row of many words is as good as a name
    assert found.guarantee.loss_per_document == 320


def test_too_few_documents_of_authors_are_a_notice(example):
    found = evaluate(first(example, 40), Settings(), runs=1)
    assert found.find(names.AUTHORS) is None
    assert any("authors" in notice for notice in found.notices)


def test_the_smallest_loss_that_keeps_enough_is_chosen(example):
    found = tune(first(example, 150), Settings(), 0.4, runs=1, source=entropy.Seeded(1))
    assert found.unit == "document_loss"
    assert found.trials[found.loss].kept >= 0.4
    assert all(one.kept < 0.4 for loss, one in found.trials.items() if loss < found.loss)
    below = max(loss for loss in LOSSES["document_loss"] if loss < found.loss)
    assert below in found.trials


def test_tuning_knows_presets_and_says_what_is_out_of_reach(example, monkeypatch):
    monkeypatch.setitem(LOSSES, "document_loss", (0.1, 0.2))
    monkeypatch.setitem(LOSSES, "word_loss", (1.0, 20.0))
    few = first(example, 100)
    words = tune(few, Settings.of("words", max_size=500, length=30), 0.3, runs=1)
    assert (words.unit, words.loss) == ("word_loss", 20.0)
    with pytest.raises(Refused, match=r"a loss of 0\.2 keeps .* with this codebook"):
        tune(few, Settings(), 1.0, runs=1)
    with pytest.raises(SyntfError, match="no preset paper"):
        tune(few, Settings.of("paper"), 0.5)
    for share in (0, -1, 1.5, float("nan")):
        with pytest.raises(SyntfError, match="keep must be"):
            tune(few, Settings(), share)
    blank = Corpus(pl.Series(["a"] * 100), few.labels, few.authors, few.train)
    with pytest.raises(SyntfError, match="nothing to keep"):
        tune(blank, Settings(), 0.5, runs=1)


def test_evaluate_prints_sentences_and_json(call, tmp_path):
    arguments = ("evaluate", EXAMPLE, "--label", "topic", "--runs", 1)
    code, shown, error = call(*arguments, "--out", tmp_path / "figures")
    assert (code, error) == (0, "")
    flat = " ".join(shown.split())
    assert "of the distance from chance is kept" in flat
    assert "by chance 0.31 %" in flat
    assert "no guarantee covers these figures" in flat
    assert (tmp_path / "figures" / "evaluation.json").exists()
    code, shown, _ = call(*arguments, "--json")
    assert code == 0
    assert {one["name"] for one in json.loads(shown)["measures"]} >= {names.TOPICS, names.FIRST}
    code, _, error = call("evaluate", EXAMPLE, "--label", "nothing")
    assert code == 2
    assert "no column 'nothing'" in error


def test_tune_prints_a_command_that_works(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ("tune", EXAMPLE, "--label", "topic", "--keep", 0.3, "--runs", 1)
    chosen = ("pilot=no", "numbers=yes", "encoding=latin-1")
    code, shown, _ = call(*arguments, *(word for one in chosen for word in ("--set", one)))
    assert code == 0
    line = shlex.split(shown.strip().splitlines()[-1])
    assert line[:2] == ["syntf", "anonymize"]
    assert {"--no-pilot", "--keep-numbers", "--shuffle", "latin-1"} <= set(line)
    assert call(*line[1:])[0] == 0
    promise = json.loads((tmp_path / "release" / "guarantee.json").read_text())
    assert str(promise["loss_per_document"]).removesuffix(".0") in line
    assert promise["settings"]["numbers"]
    assert call("tune", EXAMPLE)[0] == 2


@pytest.mark.slow
def test_newsgroups_keep_what_0_2_kept(newsgroups_home):
    from paper.corpus import newsgroups

    found = newsgroups(newsgroups_home)
    corpus = Corpus.of(
        pl.Series("text", found.texts), pl.Series("topic", found.labels), train=found.train
    )
    measure = evaluate(corpus, Settings(), runs=5, metrics=[topics]).find(names.TOPICS)
    assert measure.value == pytest.approx(0.386, abs=0.01)
    assert measure.references[names.ORIGINAL] == pytest.approx(0.69, abs=0.01)
    assert np.isclose(measure.chance, 0.05, atol=0.005)
