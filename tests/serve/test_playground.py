"""The draws of the page follow the mechanism, and take less than 0.1 s."""

from collections import Counter
from dataclasses import replace
from math import log

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.ledger.ledger import Ledger
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.serve.playground import Playground, full_loss
from syntf.serve.service import Service
from syntf.text.documents import term_frequencies

TEXT = "The cat’s mouse 😀 ran; two horses & a train.\nThe dog played piano"
OTHER = "Bread, cheese, an apple and a guitar song"


@pytest.mark.parametrize("neighbours", [1, 2, 3, 10])
@pytest.mark.parametrize("loss", [0.5, 3.0, 9.0])
def test_loss_and_probabilities_equal_those_of_the_whole_table(
    toy_settings, toy_playground, neighbours, loss
):
    whole = Anonymizer.build(replace(toy_settings, neighbours=neighbours, loss=loss)).mechanism
    result = toy_playground.draw([TEXT, OTHER], loss=loss, neighbours=neighbours, length=7)
    assert result["loss"] == whole.loss
    outputs = toy_playground._service.anonymizer.vocabulary.outputs
    for term in result["terms"]:
        row = whole.weights(toy_playground._service.anonymizer.term(term["word"])) / whole.total
        assert len(term["near"]) == neighbours
        for word in outputs:
            expected = result["near"] if word in term["near"] else result["other"]
            assert row[outputs.index(word)] == pytest.approx(expected, rel=1e-12)


def test_full_loss_is_the_loss_of_the_whole_table():
    """The rows of one text may be equal, but the loss is that of the whole table."""
    few = NeighbourhoodMechanism([[0, 1]], outputs=100, epsilon=6.0)
    many = NeighbourhoodMechanism([[0, 1], [2, 3], [1, 4]], outputs=100, epsilon=6.0)
    assert full_loss(few) == full_loss(many) == many.loss


@hypothesis.settings(max_examples=25)
@given(st.text(max_size=80))
def test_joined_pieces_are_the_text_and_its_terms(toy_playground, text):
    result = toy_playground.draw([text], loss=3.0, neighbours=3, length=3)
    pieces = result["texts"][0]["pieces"]
    assert "".join(piece for piece, _ in pieces) == text
    anonymizer = toy_playground._service.anonymizer
    known = [result["terms"][row]["word"] for _, row in pieces if row >= 0]
    read = anonymizer.read([text])
    size = len(anonymizer.vocabulary.inputs)
    counted = term_frequencies(read, size).toarray()[0]
    assert Counter(known) == Counter(
        {anonymizer.vocabulary.inputs[i]: int(counted[i]) for i in np.flatnonzero(counted)}
    )


def test_draws_refer_to_known_words_and_sum_to_the_counts(toy_playground):
    result = toy_playground.draw([TEXT, ""], loss=3.0, neighbours=2, length=60)
    first, empty = result["texts"]
    assert len(first["draws"]) == len(empty["draws"]) == 60
    assert all(first["pieces"][place][1] >= 0 for place, _ in first["draws"])
    assert [place for place, _ in first["draws"]] == sorted(place for place, _ in first["draws"])
    assert all(place == -1 for place, _ in empty["draws"])
    for one in result["texts"]:
        counts = Counter(word for _, word in one["draws"])
        assert {word: count for word, count, _ in one["counts"]} == counts


def test_systematic_draws_take_each_word_equally_often(toy_playground):
    result = toy_playground.draw(["cat dog horse train piano"], loss=3.0, neighbours=2, length=50)
    places = Counter(place for place, _ in result["texts"][0]["draws"])
    assert set(places.values()) == {10}


def test_log_ratios_equal_brute_force(toy_playground):
    """The value of a word is ln of Σ θ(v)·P(w|v) under its text over that under the other."""
    anonymizer = toy_playground._service.anonymizer
    result = toy_playground.draw([TEXT, OTHER], loss=4.0, neighbours=3, length=200)
    whole = Anonymizer.build(replace(anonymizer.settings, loss=4.0)).mechanism
    outputs = anonymizer.vocabulary.outputs

    def chances(text):
        terms = anonymizer.read([text]).terms
        return np.mean([whole.weights(term) / whole.total for term in terms], axis=0)

    own, other = chances(TEXT), chances(OTHER)
    for sign, one in zip((1, -1), result["texts"], strict=True):
        for word, _, value in one["counts"]:
            column = outputs.index(word)
            assert value == pytest.approx(sign * log(own[column] / other[column]), abs=1e-9)
            assert abs(value) <= result["loss"] + 1e-9


def test_draws_follow_the_table(toy_playground):
    result = toy_playground.draw(["cat"], loss=2.0, neighbours=2, length=500)
    near = set(result["terms"][0]["near"])
    share = np.mean(
        [word in near for _ in range(20)
         for _, word in toy_playground.draw(["cat"], loss=2.0, neighbours=2, length=500)
         ["texts"][0]["draws"]]
    )  # fmt: skip
    expected = 2 * result["near"]
    assert abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / 10_000)


def test_the_page_needs_the_neighbourhood_mechanism(toy_vectors, toy_words):
    paper = Settings(vocabulary=toy_words, vectors=toy_vectors, epsilon=5.0)
    with pytest.raises(SyntfError, match="neighbours"):
        Playground(Service(Anonymizer.build(paper)), np.zeros((40, 10), dtype=np.int32))


def test_the_page_is_refused_with_a_ledger(toy_anonymizer, tmp_path):
    ledger = Ledger.create(tmp_path / "page.ledger", budget=1000)
    with pytest.raises(SyntfError, match="without charging"):
        Playground(Service(toy_anonymizer, ledger), np.zeros((40, 10), dtype=np.int32))
