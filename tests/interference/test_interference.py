"""The text of one document changes the answers of that document and nothing else."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syntf.topics import plan
from tests.interference.runs import FORMATS, SEPARATOR, TEXTS, check, differing_pairs

LABEL = "l1"
SETTINGS = {
    "one topic": {"document_loss": 4.0},
    "several topics": {"document_loss": 30.0},
    "words": {"preset": "words", "length": 9, "vocabulary": ["cat", "dog", "car", "bread"]},
    "paper": {"preset": "paper", "length": 9, "vocabulary": ["cat", "dog", "car", "bread"]},
}


@pytest.mark.parametrize("form", FORMATS)
def test_texts_that_might_break_a_format(tmp_path, form):
    for first, second in differing_pairs(tmp_path, form, TEXTS.values(), document_loss=4.0):
        check(first, second, LABEL)


@pytest.mark.parametrize("chosen", SETTINGS)
def test_every_way_to_spend_a_loss(tmp_path, chosen):
    some = [TEXTS[name] for name in ("empty", "many words", "a carriage return", "NUL", "commas")]
    for first, second in differing_pairs(tmp_path, "csv", some, **SETTINGS[chosen]):
        check(first, second, LABEL)


@pytest.mark.parametrize("format", ["npz", "parquet", "csv"])
def test_every_writer(tmp_path, format):
    some = [TEXTS[name] for name in ("empty", "many words", "a number")]
    for first, second in differing_pairs(tmp_path, "parquet", some, format=format):
        check(first, second, LABEL)


@pytest.mark.parametrize("place", range(4))
def test_with_a_pilot(tmp_path, monkeypatch, place):
    """The list of others may follow a pilot document's released answer, and nothing else."""
    monkeypatch.setattr(plan, "PILOT_FROM", 4)
    monkeypatch.setattr(plan, "pilot_size", lambda documents: 2)
    kinds = set()
    for first, second in differing_pairs(
        tmp_path, "csv", ["", "cat " * 40, "music"], place, document_loss=2.0
    ):
        check(first, second, f"l{place}")
        kinds.add(first.pilot[first.kept.index(f"l{place}")])
    assert sum(first.pilot) == 2


PIECES = ['"', ",", "\n", "\r", "\t", "\\", "From ", "\n\nFrom ", ">", " ", SEPARATOR, "cat"]


@pytest.mark.parametrize("form", ["csv", "json lines", "mbox"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=4))
def test_generated_texts(tmp_path_factory, form, text):
    joined = "".join(text)
    if form == "mbox":
        joined = joined.encode("utf-8", "replace").decode()
    folder = tmp_path_factory.mktemp("generated")
    for first, second in differing_pairs(folder, form, [joined], document_loss=4.0):
        check(first, second, LABEL)
