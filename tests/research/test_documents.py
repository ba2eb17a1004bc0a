"""Measurements of releases of whole documents, and the page that shows them."""

import json

import numpy as np
import pytest

from syntf.evaluation.attack.scenarios import find_scenarios
from syntf.evaluation.experiment.evaluator import Evaluator
from syntf.research import documents
from syntf.research.documents_page import documents_page


@pytest.fixture
def embedded(corpus):
    return documents.embedded_case("20 newsgroups", corpus)


def test_analysts_of_every_loss_are_averaged_and_the_best_is_named(embedded):
    few, many = documents.measure_analysts(embedded, (0.5, 10.0), 3)
    assert (few.loss, many.loss, many.runs, many.documents) == (0.5, 10.0, 3, 60)
    assert set(many.by_name) == {"nb", "svm", "informed"}
    assert many.value == max(many.by_name.values()) == many.by_name[many.best]
    assert few.value < many.value
    assert many.value > 0.8
    assert many.settings["pilot"] == 0


def test_attacks_leave_out_attackers_who_see_no_text(embedded, corpus):
    evaluator = Evaluator.for_corpus(corpus, find_scenarios(corpus)[0])
    found = list(
        documents.measure_attacks(embedded, evaluator, ("words", "topic", "entries"), (10.0,), 1)
    )
    assert {one.task for one in found} == {"attack"}
    assert {one.scenario for one in found} == {one.name for one in evaluator.scenarios}
    assert set(found[0].by_name) == {"words nb", "words svm", "entries informed"}


def test_linkage_of_a_small_loss_is_near_chance(embedded, monkeypatch):
    monkeypatch.setattr(documents, "LINKED_AT_ONCE", 7)
    little, much = documents.measure_linkage(embedded, (0.5, 40.0), 2)
    assert (little.task, little.documents, little.runs) == ("linkage", 60, 2)
    assert little.value < 0.1 < much.value


def test_public_half_is_not_released(corpus):
    case = documents.near_case("20 newsgroups", corpus)
    assert len(case.corpus) == 60 - 18
    assert int(case.corpus.train.sum()) == 18
    assert int((~case.corpus.train).sum()) == int((~corpus.train).sum())
    assert case.encoder.codebook.origin == "supplied"
    assert len(case.encoded) == 42


def test_two_thirds_of_each_label_are_for_training(corpus):
    part = documents.divided(corpus, np.arange(30))
    assert (len(part), int(part.train.sum())) == (30, 20)
    assert {label: int(part.train[part.labels == label].sum()) for label in set(part.labels)} == {
        "animal": 10, "road": 10,
    }  # fmt: skip


def record(task, value, loss=10.0, **more):
    plan = {"kind": "topics", "draws": 1, "entries": 600, "size": 1, "pilot": 9,
            "sharpened_entries": 300, "sharpened_size": 1}  # fmt: skip
    return {
        "case": "20 newsgroups", "codebook": "embedded", "loss": loss, "task": task,
        "scenario": "", "runs": 2, "documents": 1234, "best": "nb", "value": value,
        "deviation": 0.0051, "by_name": {"nb": value}, "settings": plan, **more,
    }  # fmt: skip


def test_page_has_every_table():
    records = [
        record("analyst", 0.3844), record("analyst", 0.5, codebook="near in topic"),
        record("analyst", 0.7, case="other"), record("linkage", 0.0123, deviation=None),
        record("attack", 0.4, scenario="top5-any"),
    ]  # fmt: skip
    page = documents_page(
        json.loads(json.dumps(records)),
        {"half": "train", "command": "measure", "topic": {"top5-any": 0.6}},
    )
    assert "| 10 | .384 ± .005 | .38 | .500 ± .005 | .49 |" in page
    assert "| embedded | 10 | .384 | – | – |" in page
    assert "| 10 | .400 ± .005 (−.200) |" in page
    assert "| 10 | embedded | 1.23% | 1,234 |" in page
    assert "| other | 1,234 | .700 ± .005 |" in page
    assert "| embedded | 10 | 300 topics | 1 | 9 | 600 |" in page
    assert "the test half is not used" in page


def test_record_of_a_measurement_is_rounded(embedded):
    (one,) = documents.measure_analysts(embedded, (10.0,), 2)
    found = json.loads(json.dumps(one.record()))
    assert found["value"] == round(one.value, 4)
    assert found["by_name"] == {name: round(value, 4) for name, value in one.by_name.items()}
    assert found["settings"]["kind"] == "topics"
