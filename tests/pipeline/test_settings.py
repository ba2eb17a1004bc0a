"""Settings: their definitions, checks and presets, and that the estimator agrees with them."""

import inspect
import re
import subprocess

import numpy as np
import pytest

from syntf import Settings, SynTF, SyntfError
from syntf.pipeline.settings import PRESET, PRESETS, SETTINGS, preset_values

ESTIMATOR_ONLY = {"list_from", "source", "n_jobs", "device", "ledger"}
"""Parameters of the estimator that say how it works, not what it releases."""


def parameter_docs():
    """Return the description of each parameter in the docstring of SynTF, on one line."""
    text = inspect.getdoc(SynTF).partition("Parameters\n----------\n")[2].partition("\nAttributes")
    entries = re.findall(r"^(\w+) : .*\n((?: .*\n|\n)+)", text[0] + "\n", re.MULTILINE)
    return {name: " ".join(lines.split()) for name, lines in entries}


# Definitions


def test_estimator_has_every_setting_and_no_other():
    parameters = inspect.signature(SynTF).parameters
    assert set(parameters) - ESTIMATOR_ONLY == {"preset", *SETTINGS}


@pytest.mark.parametrize("name", SETTINGS)
def test_estimator_defaults_are_those_of_the_settings(name):
    default = inspect.signature(SynTF).parameters[name].default
    values = {repr(value) for value in preset_values(name).values()}
    chosen_by_presets = len(values) > 1 or name == "document_loss"
    assert default == (None if chosen_by_presets else SETTINGS[name].default)
    assert type(default) is (type(None) if chosen_by_presets else type(SETTINGS[name].default))


@pytest.mark.parametrize("name", ["preset", *SETTINGS])
def test_estimator_docs_repeat_the_help_of_the_settings(name):
    setting = PRESET if name == "preset" else SETTINGS[name]
    assert parameter_docs()[name].startswith(setting.help)


def test_help_refers_to_settings_that_exist():
    for setting in SETTINGS.values():
        assert set(re.findall(r"`(\w+)`", setting.help)) <= set(SETTINGS)


def test_every_default_passes_its_own_check():
    for name, setting in SETTINGS.items():
        if not setting.optional:
            setting.check(name, setting.default)


def test_definitions_load_without_numpy(python):
    script = "import sys, syntf.pipeline.settings; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([python, "-c", script]).returncode == 0


# Checks


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"epsilon": 0}, "epsilon must be finite and above 0"),
        ({"epsilon": True}, "epsilon must be a number above 0"),
        ({"loss": float("nan")}, "loss must be finite"),
        ({"neighbours": 1.5}, "neighbours must be a whole number, at least 1"),
        ({"length": 0}, "length must be a whole number, at least 1, not 0"),
        ({"length": (1 << 20) + 1}, "length must be at most 1048576"),
        ({"length": None}, "length must be a whole number"),
        ({"document_loss": 100_001}, "document_loss must be at most 100,000, not 100001"),
        ({"document_loss": 1e308}, "document_loss must be at most"),
        ({"spelling": 10**400}, "spelling must be a number from 0 to 1"),
        ({"spelling": float("nan")}, "spelling must be a number from 0 to 1"),
        ({"spelling": 1.1}, "spelling must be a number from 0 to 1"),
        ({"morphology": "stem"}, "morphology must be lemma or lower or orth"),
        ({"analyzer": "spacy"}, "analyzer must be fast or spacy:MODEL"),
        ({"weights": "bm25"}, "weights must be tf or tfidf or topical"),
        ({"draws": ["systematic"]}, "draws must be independent or systematic"),
        ({"idf": "own"}, "idf must be public or fitted"),
        ({"numbers": "yes"}, "numbers must be true or false"),
        ({"min_df": 1.0}, "min_df must be a whole number"),
        ({"max_size": -1}, "max_size must be a whole number"),
        ({"epsilon": 4, "loss": 3}, "epsilon and loss exclude each other"),
        ({"vocabulary": ["cat"], "fit_vocabulary": True}, "exclude each other"),
    ],
)
def test_values_that_are_not_allowed_are_refused(values, message):
    with pytest.raises(SyntfError, match=message):
        Settings(**values)


def test_numpy_numbers_are_allowed():
    chosen = Settings(length=np.int64(3), loss=np.float32(2), spelling=np.float64(0.5))
    assert (chosen.length, chosen.loss) == (3, 2)


def test_estimator_refuses_epsilon_and_loss_together():
    """One of the two would be ignored, and the loss would not be the one asked for."""
    with pytest.raises(SyntfError, match="epsilon and loss exclude each other"):
        SynTF(loss=3, epsilon=4).fit([])


# Presets


def test_paper_preset_is_the_best_setting_of_the_paper():
    paper = Settings.from_preset("paper")
    assert (paper.epsilon, paper.loss, paper.length, paper.spelling) == (47.5, None, 150, 0.3)
    assert (paper.morphology, paper.synsets, paper.weights) == ("lemma", False, "tf")
    assert (paper.draws, paper.neighbours, paper.max_size) == ("independent", None, None)
    assert paper == Settings()


def test_chosen_values_replace_those_of_the_preset():
    assert Settings.from_preset(length=20).length == 20
    assert Settings.from_preset(length=None) == Settings.from_preset()
    assert Settings.from_preset("paper", neighbours=3).neighbours == 3


def test_epsilon_and_loss_replace_each_other():
    assert Settings.from_preset(epsilon=9.0).loss is None
    assert Settings.from_preset("paper", loss=9.0).loss == 9.0
    assert Settings.from_preset("paper", loss=9.0).epsilon is None
    assert Settings(epsilon=3.0).changed(loss=2.0) == Settings(loss=2.0)
    assert Settings(loss=2.0).changed(epsilon=3.0) == Settings(epsilon=3.0)


def test_a_chosen_vocabulary_is_used_whole():
    words = ["cat", "dog"]
    assert Settings.from_preset(vocabulary=words).max_size is None
    assert Settings.from_preset(vocabulary=words, max_size=1).max_size == 1
    default = PRESETS["words"]["max_size"]
    assert Settings.from_preset(fit_vocabulary=True).max_size == default


def test_unknown_presets_are_refused():
    with pytest.raises(SyntfError, match="a preset is document, sentiment, words, accurate, paper"):
        Settings.from_preset("best")
    with pytest.raises(SyntfError, match="a preset is"):
        SynTF(preset="best").fit([])


def test_settings_of_one_unit_are_refused_with_the_other():
    with pytest.raises(SyntfError, match="loss is a setting of the words unit"):
        Settings.from_preset("document", loss=3)
    with pytest.raises(SyntfError, match="length is a setting of the words unit"):
        Settings.from_preset(document_loss=3, length=9)
    with pytest.raises(SyntfError, match="pilot is a setting of the document unit"):
        Settings.from_preset("words", pilot=False)


def test_chosen_settings_select_their_unit():
    assert Settings.from_preset(document_loss=4).unit == "document"
    assert Settings.from_preset(pilot=False).document_loss == 10
    assert Settings.from_preset(vocabulary=["cat"]).unit == "words"
    assert Settings.from_preset("words").unit == Settings().unit == "words"


def test_an_unknown_setting_is_named_with_one_that_is_similar():
    with pytest.raises(TypeError, match="no setting 'document_los'; did you mean 'document_loss'"):
        Settings.from_preset(document_los=3)


@pytest.mark.parametrize("preset", ["words", "accurate", "paper"])
def test_estimator_has_the_same_presets(preset, toy_vectors, toy_words):
    words = {"vectors": toy_vectors, "vocabulary": toy_words}
    record = SynTF(preset=preset, **words).fit([]).guarantee_
    chosen = Settings.from_preset(preset, **words)
    assert (record.length, record.weights, record.draws, record.neighbours) == (
        chosen.length, chosen.weights, chosen.draws, chosen.neighbours
    )  # fmt: skip
