"""The service in the document unit: one randomised choice for each text, and nothing more."""

import gzip
import hashlib
import json
from collections import Counter

import numpy as np
import polars as pl
import pytest

from syntf.codebook import plan
from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.ledger.ledger import Ledger
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings
from syntf.releases.job import release
from syntf.serve.app import create_app
from syntf.serve.config import Config
from syntf.serve.document_playground import DRAWS, SHOWN_PIECES, DocumentPlayground
from syntf.serve.document_service import DocumentService

LOSS = 1.5
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="session")
def document_anonymizer(toy_codebook, toy_vectors, tmp_path_factory):
    path = tmp_path_factory.mktemp("codebook") / "toy.codebook"
    toy_codebook.write(path)
    settings = Settings(document_loss=LOSS, codebook=path, vectors=toy_vectors)
    return DocumentAnonymizer.build(settings)


@pytest.fixture
def documents(document_anonymizer, make_client):
    """Make clients of a service of the document unit."""

    def make(ledger=None, **chosen):
        service = DocumentService(document_anonymizer, ledger)
        playground = None if ledger else DocumentPlayground(service)
        app = create_app(service, Config(**{"rate": 1e6, **chosen}), playground)
        return make_client(app)

    return make


def text_of(toy_words, *numbers):
    return " ".join(toy_words[number] for number in numbers)


def test_a_text_gives_a_prototype_and_its_profile(documents, document_anonymizer, toy_words):
    answer = documents().post("/v1/anonymize", json={"text": text_of(toy_words, 1, 2)})
    assert answer.status_code == 200
    (document,) = answer.json()["documents"]
    assert set(document) == {"counts", "words", "prototypes", "labels"}
    assert Counter(document["words"]) == document["counts"]
    mechanism, entry_list = document_anonymizer.single, document_anonymizer.single_list
    profiles = mechanism.profiles(entry_list, np.array(document["prototypes"]))
    place = profiles.entries.tolist().index(document["prototypes"][0])
    assert document["labels"] == profiles.labels[place]
    assert sum(document["counts"].values()) == profiles.counts.sum()


def test_the_guarantee_states_unit_and_loss(documents):
    ours = documents()
    guarantee = ours.get("/v1/guarantee").json()
    assert (guarantee["unit"], guarantee["loss_per_document"]) == ("document", LOSS)
    assert guarantee["document"]["pilot"] == 0
    assert guarantee["private"] is True
    assert ours.post("/v1/anonymize", json={"text": ""}).json()["guarantee"] == guarantee


def test_answers_follow_the_exact_probabilities(documents, document_anonymizer, toy_words):
    text = text_of(toy_words, 1, 2)
    mechanism, entry_list = document_anonymizer.single, document_anonymizer.single_list
    encoded = document_anonymizer.read([text])
    target = int(entry_list.targets(encoded, document_anonymizer.encoder)[0, 0])
    sent = {"documents": [{"text": text}] * 1000}
    released = documents().post("/v1/anonymize", json=sent).json()["documents"]
    kept = sum(document["prototypes"] == [target] for document in released)
    share = float(mechanism.response(entry_list).keep_probability)
    assert abs(kept - 1000 * share) < 5 * (1000 * share * (1 - share)) ** 0.5


def test_the_list_is_public_and_there_is_no_route_for_words(documents, document_anonymizer):
    ours = documents()
    found = ours.get("/v1/prototypes").json()
    assert found["loss"] == LOSS
    assert len(found["prototypes"]) == len(document_anonymizer.single_list)
    response = document_anonymizer.single.response(document_anonymizer.single_list)
    assert found["kept"] == float(response.keep_probability)
    assert ours.get("/v1/explain/cat").status_code == 404
    assert "/v1/prototypes" in ours.get("/openapi.json").json()["paths"]


def test_the_ledger_is_charged_before_anything_is_drawn(documents, tmp_path, monkeypatch):
    ledger = Ledger.create(tmp_path / "ledger", budget=2 * LOSS)
    ours = documents(ledger)
    sent = {"documents": [{"text": "", "id": "1"}, {"text": "", "id": "2"}]}
    assert [ours.post("/v1/anonymize", json=sent).status_code for _ in range(2)] == [200, 200]
    read = []
    monkeypatch.setattr(entropy.os, "urandom", lambda size: read.append(size) or b"\0" * size)
    refused = ours.post("/v1/anonymize", json=sent)
    assert refused.status_code == 409
    assert "would lose more than their budget" in refused.json()["detail"]
    assert read == []
    mixed = ours.post("/v1/anonymize", json={"text": "new"})
    assert mixed.status_code == 409
    assert "send an id with every document" in mixed.json()["detail"]


def test_a_request_reads_eight_bytes_for_each_text(documents, monkeypatch):
    ours, read = documents(), []

    def zeros(size):
        read.append(size)
        return b"\0" * size

    monkeypatch.setattr(entropy.os, "urandom", zeros)
    for text in ("", "zanzibarquux " * 5000, "17"):
        read.clear()
        ours.post("/v1/anonymize", json={"documents": [{"text": text}, {"text": "a"}]})
        assert sum(read) == 16


def test_a_text_changes_the_row_of_its_document_only(documents, monkeypatch, toy_words):
    ours = documents()
    monkeypatch.setattr(entropy.os, "urandom", lambda size: hashlib.shake_256(b"x").digest(size))
    seen = set()
    for text in ("", "17", "zq\0zq", "zq\ud800zq", "word " * 9000, text_of(toy_words, 30, 31)):
        sent = {"documents": [{"text": toy_words[1]}, {"text": text}, {"text": toy_words[20]}]}
        answer = ours.post("/v1/anonymize", content=json.dumps(sent), headers=JSON)
        body = answer.json()
        del body["documents"][1]
        headers = [item for item in answer.headers.items() if item[0] != "content-length"]
        seen.add(json.dumps([answer.status_code, body, headers]))
    assert len(seen) == 1


def test_a_seed_and_a_private_codebook_are_refused(document_anonymizer):
    from dataclasses import replace

    with pytest.raises(SyntfError, match="does not accept a seed"):
        DocumentService(replace(document_anonymizer, source=entropy.Seeded(1)))
    encoder = document_anonymizer.encoder
    private = replace(encoder, codebook=replace(encoder.codebook, origin="private"))
    with pytest.raises(SyntfError, match="public codebook"):
        DocumentService(replace(document_anonymizer, encoder=private))


# The command


def test_serve_answers_from_the_list_of_an_earlier_release(start, tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "PILOT_FROM", 100)
    texts = ["the rocket reached its orbit", "soup with garlic and onions"] * 60
    pl.DataFrame({"text": texts}).write_csv(tmp_path / "texts.csv")
    made = release(tmp_path / "texts.csv", tmp_path / "out", document_loss=8)
    options = ("--document-loss", "8", "--list", str(tmp_path / "out"))
    with start(*options, words=False) as server:
        guarantee = json.loads(server.ask("/v1/guarantee")[1])
        assert guarantee["document"]["sharpened"] == made.guarantee.document.sharpened
        status, body = server.ask("/v1/anonymize", {"text": texts[0]})
        assert status == 200
        assert json.loads(body)["documents"][0]["prototypes"]
        assert "How a document is anonymised" in server.ask("/")[1]
        assert server.process.stdout.readline().startswith("Loss per document 8.00. No ledger")
        assert server.stop()[0] == 0


def test_a_list_needs_the_document_unit(call, tmp_path):
    code, _, err = call("serve", "--preset", "words", "--list", tmp_path)
    assert code == 2
    assert "--list needs the document unit" in err


# The page


def test_the_page_shows_target_draws_and_odds(documents, document_anonymizer, toy_words):
    texts = [text_of(toy_words, 1, 2), text_of(toy_words, 30, 31)]
    ours = documents()
    assert ours.get("/page/start").json()["loss"] == LOSS
    seen = set()
    for _ in range(30):
        found = ours.post("/page/draw", json={"texts": texts, "loss": LOSS}).json()
        first, second = found["texts"]
        assert first["target"] != second["target"]
        for text, other in ((first, second), (second, first)):
            assert len(text["draws"]) == DRAWS
            assert text["draws"][0] == [text["label"], text["label"] == text["target"]]
            expected = (text["label"] == text["target"]) - (text["label"] == other["target"])
            assert text["odds"] == pytest.approx(expected * LOSS, abs=1e-9)
            seen.add(expected)
    assert seen == {1, 0, -1}
    response = document_anonymizer.single.response(document_anonymizer.single_list)
    assert found["kept"] == float(response.keep_probability)
    assert found["kept"] + (found["answers"] - 1) * found["other"] == pytest.approx(1)


@pytest.mark.parametrize("loss", [0.01, 1.5, 12.0, 40.0, 90.0])
def test_the_page_takes_other_losses(documents, loss):
    found = documents().post("/page/draw", json={"texts": ["a b"], "loss": loss}).json()
    assert found["loss"] == loss
    assert found["texts"][0]["odds"] == 0.0


def test_joined_pieces_are_the_text_unless_it_is_long(documents, toy_words):
    ours = documents()
    text = f"  {toy_words[3]}, 'unknownword' {toy_words[4]}\n"
    (found,) = ours.post("/page/draw", json={"texts": [text], "loss": 1}).json()["texts"]
    assert "".join(piece for piece, _ in found["pieces"]) == text
    known = [piece for piece, known in found["pieces"] if known]
    assert known == [toy_words[3], toy_words[4]]
    (long,) = ours.post("/page/draw", json={"texts": ["word " * 9000], "loss": 1}).json()["texts"]
    assert len(long["pieces"]) == SHOWN_PIECES
    assert long["left_out"] == 9000 - SHOWN_PIECES // 2


def test_the_page_is_not_served_with_a_ledger(documents, tmp_path):
    ours = documents(Ledger.create(tmp_path / "ledger", budget=10))
    assert ours.get("/").status_code == 404
    assert ours.post("/page/draw", json={"texts": ["a"], "loss": 1}).status_code == 404


def test_a_playground_refuses_a_ledger(document_anonymizer, tmp_path):
    service = DocumentService(document_anonymizer, Ledger.create(tmp_path / "ledger", budget=10))
    with pytest.raises(SyntfError, match="without charging"):
        DocumentPlayground(service)


# Requests


def test_gzipped_bodies_are_accepted_within_the_limit(documents):
    ours = documents(max_body=1000)
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    body = json.dumps({"text": "a" * 900}).encode()

    def status(content, **changed):
        return ours.post(
            "/v1/anonymize", content=content, headers={**headers, **changed}
        ).status_code

    assert status(gzip.compress(body)) == 200
    assert status(gzip.compress(json.dumps({"text": "a" * 100_000}).encode())) == 413
    assert status(body) == 400
    assert status(gzip.compress(body)[:-9]) == 400
    assert status(gzip.compress(body) + b"more") == 400
    assert status(body, **{"Content-Encoding": "br"}) == 415
    assert status(body, **{"Content-Encoding": "identity"}) == 200


@pytest.mark.parametrize("body", [{}, {"text": "a", "documents": []}, [], "a", {"texts": ["a"]}])
def test_a_body_that_is_neither_gives_one_message(documents, body):
    answer = documents().post("/v1/anonymize", json=body)
    assert answer.status_code == 422
    assert answer.json()["detail"] == "body: send either text or documents"


def test_a_wrong_field_is_named_once(documents):
    answer = documents().post("/v1/anonymize", json={"documents": [{"id": "1"}]})
    assert answer.json()["detail"] == "body.documents.0.text: Field required"


def test_the_description_names_the_token_and_its_page_asks_for_it(documents):
    token = "correct horse battery staple"
    ours = documents(token=token)
    headers = {"Authorization": f"Bearer {token}"}
    description = ours.get("/openapi.json", headers=headers).json()
    assert description["components"]["securitySchemes"] == {
        "token": {"type": "http", "scheme": "bearer"}
    }
    paths = description["paths"]
    assert all(
        ("security" in operation) == (path != "/healthz")
        for path, verbs in paths.items()
        for operation in verbs.values()
    )
    page = ours.get("/docs")
    assert page.status_code == 200
    assert 'href="/"' not in page.text
    for path in ("/static/docs.js", "/static/common.js", "/static/theme.js", "/static/page.css"):
        assert ours.get(path).status_code == 200
    for path in ("/v1/guarantee", "/v1/prototypes", "/metrics", "/openapi.json"):
        assert ours.get(path).status_code == 401
    assert ours.get("/").status_code == 401
    assert "securitySchemes" not in documents().get("/openapi.json").json()["components"]


def test_the_description_has_the_fields_of_the_guarantee(documents):
    ours = documents()
    schemas = ours.get("/openapi.json").json()["components"]["schemas"]
    fields = schemas["Guarantee"]["properties"]
    assert set(fields) == set(ours.get("/v1/guarantee").json())
