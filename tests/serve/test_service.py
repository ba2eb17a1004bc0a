"""The service for programs: what it releases, whom it charges, whom it refuses, what it says."""

import json
import logging
import math
import os

import pytest

from syntf import Ledger
from syntf.core import entropy
from syntf.rows import build
from syntf.serve import app as service
from syntf.settings import Settings

SECRET = "zanzibarquux is ill"
TOKEN = "correct horse battery"


def post(client, body, **headers):
    return client.post("/v1/rows", json=body, headers=headers)


def test_rows_are_the_profiles_of_the_released_answers(client):
    texts = ["The bus is late.", "", None, "A doctor in the hospital"]
    found = post(client(), {"texts": texts}).json()
    scheme = build(Settings()).scheme(None)
    for answers, topic, terms, counts in zip(
        found["answers"], found["topics"], found["terms"], found["counts"], strict=True
    ):
        (answer,) = answers
        row = scheme.profiles[[answer]]
        assert dict(zip(terms, counts, strict=True)) == {
            scheme.terms[column]: count for column, count in zip(row.indices, row.data, strict=True)
        }
        assert topic == scheme.names[answer]
    assert found["guarantee"]["loss_per_document"] == 10
    assert found["guarantee"]["documents"] == 4


@pytest.mark.parametrize("loss", [1.0, 3.0])
def test_the_true_answer_is_released_as_often_as_the_mechanism_says(client, loss):
    settings = Settings(document_loss=loss)
    scheme = build(settings).scheme(None)
    texts = ["The bus is late."] * service.MOST_TEXTS
    (target,) = set(scheme.find_targets(build(settings).encode(service.as_texts(texts))).ravel())
    answers = [one for (one,) in post(client(settings), {"texts": texts}).json()["answers"]]
    kept = float(scheme.mechanism.keep_probability)
    error = 5 * math.sqrt(len(texts) * kept * (1 - kept))
    assert abs(answers.count(target) - kept * len(texts)) < error
    assert len(set(answers)) == scheme.mechanism.answers


def test_words_are_released_as_counts_alone(client):
    found = post(client(Settings.of("words", length=20)), {"texts": ["a bus", ""]}).json()
    assert found["answers"] is found["topics"] is None
    assert [sum(counts) for counts in found["counts"]] == [20, 20]


def test_equal_requests_are_drawn_anew(client):
    client = client(Settings(document_loss=0.5))
    body = {"texts": ["The bus is late."] * 100}
    assert post(client, body).json()["answers"] != post(client, body).json()["answers"]


@pytest.mark.parametrize("text", ["null", "NaN", '""', '"\\ud800"', '"\\u0000"', '"12 34"'])
def test_texts_without_a_known_word_are_released_like_any_other(client, text):
    content = f'{{"texts": [{text}, "a bus"]}}'.encode()
    answer = client().post(
        "/v1/rows", content=content, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 200
    assert len(answer.json()["answers"]) == 2


@pytest.mark.parametrize(
    "body",
    [
        {}, [], {"texts": []}, {"texts": "a bus"}, {"texts": ["a"] * 1001}, {"text": ["a bus"]},
        {"texts": ["a"], SECRET: 1}, {"texts": [{"text": SECRET}]}, {"texts": [5]},
        {"texts": ["a"], "ids": [1]}, {"texts": ["a"], "authors": ["ann"]},
    ],
)  # fmt: skip
def test_a_refusal_is_one_sentence_that_quotes_nothing(client, body):
    answer = post(client(), body)
    assert answer.status_code == 422
    assert list(answer.json()) == ["detail"]
    assert "zanzibarquux" not in answer.text
    assert "\n" not in answer.json()["detail"]


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_refused(client, content):
    answer = client().post(
        "/v1/rows", content=content, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (400, 422)


def test_large_requests_are_refused_before_they_are_read(client):
    client = client()
    refused = post(client, {"texts": ["x" * service.LARGEST_BODY]})
    assert refused.status_code == 413
    unsized = client.post("/v1/rows", content=iter([b'{"texts": ["a"]}']))
    assert unsized.status_code == 413


def test_a_text_changes_its_own_answer_and_nothing_else(client, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    client = client(Settings(document_loss=30))
    seen = []
    for text in ("a bus", SECRET, "", None, "\ud800", "word " * 20_000):
        sizes = []

        def urandom(size, sizes=sizes):
            sizes.append(size)
            return entropy.Seeded(len(sizes))(size)

        with monkeypatch.context() as patch:
            patch.setattr(os, "urandom", urandom)
            caplog.clear()
            body = '{"texts": ["a train", %s, "a nurse"]}'
            content = body % json.dumps(text)
            answer = client.post(
                "/v1/rows", content=content, headers={"Content-Type": "application/json"}
            )
        found = answer.json()
        del found["topics"][1], found["answers"][1], found["terms"][1], found["counts"][1]
        headers = {name: value for name, value in answer.headers.items() if name[:9] != "content-l"}
        said = [one.getMessage() for one in caplog.records if one.name != "httpx"]
        seen.append((answer.status_code, headers, found, sizes, said))
    assert all(one == seen[0] for one in seen)
    assert "zanzibarquux" not in str(seen)


@pytest.mark.parametrize("kind", [LookupError, type("Panic", (BaseException,), {})])
def test_a_bug_is_logged_by_its_place_alone(client, monkeypatch, caplog, kind):
    def broken(*arguments):
        raise kind(SECRET)

    caplog.set_level(logging.DEBUG)
    client = client()
    monkeypatch.setattr(service, "draw", broken)
    answer = post(client, {"texts": [SECRET]})
    assert answer.status_code == 500
    assert answer.json() == {"detail": f"a bug in syntf ({kind.__name__}): please report it"}
    assert f"{kind.__name__} at " in caplog.text
    assert "zanzibarquux" not in caplog.text


def test_a_ledger_is_charged_before_the_draw_and_refuses(client, tmp_path, monkeypatch):
    ledger = Ledger.create(tmp_path / "a.ledger", document=20, author=30)
    client = client(ledger=ledger)
    authors = {"ids": [1, 2], "authors": ["ann", "ann"]}
    assert post(client, {"texts": ["a bus", "a bus"], **authors}).status_code == 200
    assert [run.documents for run in ledger.runs()] == [2]
    refused = post(client, {"texts": ["a bus", "a bus"], **authors})
    assert refused.status_code == 409
    assert "would lose more than" in refused.json()["detail"]
    assert post(client, {"texts": ["a bus"]}).status_code == 422  # its authors are not named
    wrong = post(client, {"texts": ["a bus"], "ids": [1, 2], "authors": ["ann"]})
    assert wrong.json() == {"detail": "there are 2 ids for 1 texts"}
    assert len(ledger.runs()) == 1

    def stopped(*arguments):
        raise MemoryError

    monkeypatch.setattr(service, "draw", stopped)
    answer = post(client, {"texts": ["a bus"], "ids": [3], "authors": ["bob"]})
    assert answer.json() == {"detail": "not enough memory"}
    assert len(ledger.runs()) == 2


def test_with_a_token_there_is_no_page_and_no_answer_without_it(client):
    client = client(token=TOKEN, loopback=False)
    body = {"texts": ["a bus"]}
    for wrong in ({}, {"Authorization": "Bearer x"}, {"Authorization": TOKEN}):
        assert post(client, body, **wrong).status_code == 401
    assert post(client, body, Authorization=f"Bearer {TOKEN}", Host="a.example").status_code == 200
    for path in ("/", "/static/page.js", "/page/start", "/docs", "/redoc"):
        assert client.get(path).status_code == 404
    assert client.get("/health").status_code == 200


def test_other_pages_are_refused(client):
    client = client()
    body = {"texts": ["a bus"]}
    assert post(client, body, Host="evil.example:8470").status_code == 400
    assert post(client, body, **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert post(client, body, **{"Sec-Fetch-Site": "same-origin"}).status_code == 200
    assert post(client, body, Host="[::1]:8470").status_code == 200
    assert "access-control-allow-origin" not in client.options("/v1/rows").headers


def test_the_api_describes_itself(client):
    found = client().get("/openapi.json").json()
    assert list(found["paths"]) == ["/v1/rows", "/health"]
    assert found["components"]["schemas"]["Texts"]["properties"]["texts"]["maxItems"] == 1000
