"""Non-interference of the service: a text changes the counts of its document, and nothing else."""

import hashlib
import json
import logging
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pairs import TEXTS, Outcome, check, texts

from syntf.core import entropy
from syntf.ledger.ledger import Ledger

DOCUMENTS = ["The cat saw a mouse.", "SECRET", "Two horses and a train.", ""]
PLACE = DOCUMENTS.index("SECRET")
LONG = "zanzibarquux " * 20_000
LOGGED = logging.Formatter("%(levelname)s %(name)s %(message)s")
"""Without the time, which other programs in this process, such as Spark, add to what is logged."""
COUNTED = "pairs compared by the non-interference suite"


class RepeatedEntropy:
    """Entropy that is the same for every request, and records the sizes of the calls."""

    def __init__(self):
        self.sizes = []

    def __call__(self, size):
        self.sizes.append(size)
        return hashlib.shake_256(b"%d" % len(self.sizes)).digest(size)


@pytest.fixture
def ask(monkeypatch, caplog):
    """Send four documents, one of them with a given text; return all that can be seen."""
    source = RepeatedEntropy()
    monkeypatch.setattr(entropy.os, "urandom", source)

    def asking(client, text, ids=None):
        source.sizes.clear()
        caplog.clear()
        documents = [
            {"text": text if place == PLACE else other, **({"id": ids[place]} if ids else {})}
            for place, other in enumerate(DOCUMENTS)
        ]
        sent = json.dumps({"documents": documents})
        answer = client.post(
            "/v1/anonymize", content=sent, headers={"Content-Type": "application/json"}
        )
        body = answer.json()
        rows = [json.dumps(document) for document in body.pop("documents")]
        headers = dict(answer.headers)
        length = headers.pop("content-length")
        log = [
            re.sub(r"[\d.]+ ms", "", LOGGED.format(record))
            for record in caplog.records
            if not record.name.startswith("py4j")  # Spark, if it ran in this process before
        ]
        seen = json.dumps([body, headers, log, source.sizes])
        whole = {"body": answer.content, "length": length.encode()}
        return Outcome(answer.status_code, seen, {}, rows, whole)

    asking.restart = source.sizes.clear
    return asking


@pytest.mark.parametrize("kind", TEXTS)
def test_an_unusual_text_changes_the_counts_of_its_document_only(client, ask, kind, trust):
    ours = client()
    first = ask(ours, "")
    assert first.status == 200
    check(first, ask(ours, TEXTS[kind]), PLACE)
    trust[COUNTED] += 1


@pytest.mark.parametrize("text", [LONG, "zq\rzq", "zq\0zq", "zq\ud800zq", "\ufeffzq", "17", "{}"])
def test_a_text_without_a_known_word_gives_the_response_of_an_empty_one(client, ask, text, trust):
    ours = client()
    assert ask(ours, text) == ask(ours, "")
    trust[COUNTED] += 1


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(tried=st.lists(texts(), min_size=9, max_size=9))
def test_a_text_changes_the_counts_of_its_document_only(client, ask, trust, tried):
    ours = client()
    first = ask(ours, "cat")
    for text in tried:
        check(first, ask(ours, text), PLACE)
        trust[COUNTED] += 1


def test_metrics_do_not_depend_on_texts(client, ask):
    found = []
    for text in ("", LONG, "cat " * 100):
        ours = client()
        ask(ours, text)
        found.append(ours.get("/metrics").content)
    assert found[0] == found[1] == found[2]
    assert b"syntf_documents_total 4.0" in found[0]


def test_a_ledger_that_names_ids_does_not_depend_on_texts(client, ask, tmp_path, monkeypatch):
    monkeypatch.setattr("syntf.ledger.store.now", lambda: "2026-01-01T00:00:00+00:00")
    found = []
    for place, text in enumerate(("", "cat", LONG)):
        ask.restart()  # so that the ledgers have the same key
        ledger = Ledger.create(tmp_path / f"{place}.ledger", budget=10_000)
        found.append(ask(client(ledger), text, ["a", "b", "c", "d"]))
        assert json.loads(found[-1].output)[0]["charged"]["head"] == ledger.verify().head
    for other in found[1:]:
        check(found[0], other, PLACE)
