"""`syntf explain` with a loss per document: what becomes of a text."""

import json
from math import comb, exp

import pytest


@pytest.fixture
def explain(call):
    def explained(*arguments):
        code, out, err = call("explain", *arguments)
        assert (code, err) == (0, "")
        return out

    return explained


@pytest.mark.parametrize("loss", [4, 10, 20])
def test_the_best_fit_is_shown_with_its_probability(explain, loss):
    text = ["the", "goalkeeper", "saved", "a", "penalty"]
    found = json.loads(explain(*text, "--document-loss", loss, "--json"))
    assert found["loss_per_document"] == loss
    assert found["answers"] == comb(found["entries"], found["size"])
    others = found["answers"] - 1
    assert found["kept"] == pytest.approx(exp(loss) / (exp(loss) + others), rel=1e-6)
    (target,) = found["targets"]
    assert len(target["prototypes"]) == found["size"]
    if found["kind"] == "words":
        assert target["label"] == "penalty; goalkeeper"
    assert set(target["label"].replace(";", ",").split(", ")) <= set(target["terms"])
    shown = " ".join(explain(*text, "--document-loss", loss).split())
    assert f"fits best {target['label']}" in shown
    assert f"kept {found['kept']:.2%}" in shown
    assert f"loss per document {loss}" in shown


def test_a_budget_of_several_draws_has_several_targets(explain):
    found = json.loads(explain("the goalkeeper saved a penalty", "--document-loss", 90, "--json"))
    assert len(found["targets"]) == 3
    entries = [entry for target in found["targets"] for entry in target["prototypes"]]
    assert len(set(entries)) == len(entries)


def test_a_text_without_a_known_word_has_a_public_target(explain):
    assert "no known word" in explain("qwxyz", "--document-loss", 10)
    found = [
        json.loads(explain(text, "--document-loss", 10, "--json")) for text in ("qwxyz", "zzyzq")
    ]
    assert found[0] == found[1]
    assert found[0]["known_words"] == 0


def test_settings_of_words_are_refused_beside_a_loss_per_document(call):
    code, _, err = call("explain", "cat", "--document-loss", 10, "--loss", 8)
    assert code == 2
    assert "words" in err


def test_the_list_that_is_shown_is_named(explain):
    shown = " ".join(explain("penalty", "--document-loss", 10).split())
    assert (
        "The 600 topics are those of a release of 7,500 documents or more without a pilot" in shown
    )
    assert "syntf preview" in shown
    shown = " ".join(explain("penalty", "--document-loss", 20).split())
    assert "The 8,000 words are those of a release without a pilot" in shown
    shown = " ".join(explain("penalty", "--preset", "sentiment").split())
    assert "are those of every release with this codebook" in shown
