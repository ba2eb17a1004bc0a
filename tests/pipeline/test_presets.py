"""Presets: what they are, and what takes the place of what."""

import pytest

from syntf import SynTF
from syntf.core.errors import SyntfError
from syntf.pipeline.presets import PRESETS, settings
from syntf.pipeline.settings import Settings


def test_the_paper_is_its_optimum_to_the_letter():
    paper = settings("paper")
    assert (paper.epsilon, paper.loss, paper.length, paper.spelling) == (47.5, None, 150, 0.3)
    assert (paper.morphology, paper.synsets, paper.weights) == ("lemma", False, "tf")
    assert (paper.draws, paper.neighbours, paper.max_size) == ("independent", None, None)
    assert paper == Settings()


def test_what_is_given_takes_the_place_of_the_preset():
    assert settings(length=20).length == 20
    assert settings(length=None) == settings()
    assert settings("paper", neighbours=3).neighbours == 3


def test_epsilon_and_loss_take_each_others_place():
    assert settings(epsilon=9.0).loss is None
    assert settings("paper", loss=9.0).loss == 9.0
    assert settings("paper", loss=9.0).epsilon == Settings().epsilon  # not used


def test_a_vocabulary_that_is_given_is_taken_whole():
    words = ["cat", "dog"]
    assert settings(vocabulary=words).max_size is None
    assert settings(vocabulary=words, max_size=1).max_size == 1
    assert settings(fit_vocabulary=True).max_size == PRESETS["default"]["max_size"]


def test_other_presets_are_refused():
    with pytest.raises(SyntfError, match="a preset is default, accurate, paper, not 'best'"):
        settings("best")
    with pytest.raises(SyntfError, match="a preset is"):
        SynTF(preset="best").fit([])


@pytest.mark.parametrize("preset", PRESETS)
def test_the_transformer_has_the_same_presets(preset, toy_vectors, toy_words):
    given = {"vectors": toy_vectors, "vocabulary": toy_words}
    record = SynTF(preset=preset, **given).fit([]).guarantee_
    chosen = settings(preset, **given)
    assert (record.length, record.weights, record.draws, record.neighbours) == (
        chosen.length, chosen.weights, chosen.draws, chosen.neighbours
    )  # fmt: skip
