"""The routes: their answers, their refusals, and that no refusal repeats a text."""

import asyncio
import json
from collections import Counter

import pytest

from syntf.core import entropy
from syntf.core.errors import TableError
from syntf.ledger.ledger import Ledger

TOKEN = "correct horse battery staple"
TEXT = "The cat saw a mouse and a train."


def test_one_text_gives_one_document(client, toy_anonymizer):
    answer = client().post("/v1/anonymize", json={"text": TEXT})
    assert answer.status_code == 200
    release = answer.json()
    (document,) = release["documents"]
    assert sum(document["counts"].values()) == len(document["words"]) == 20
    assert Counter(document["words"]) == document["counts"]
    assert set(document["counts"]) <= set(toy_anonymizer.vocabulary.outputs)
    assert release["guarantee"] == toy_anonymizer.guarantee().as_dict()
    assert release["guarantee"]["private"] is True
    assert release["charged"] is None
    assert set(release) == {"documents", "guarantee", "charged"}
    assert set(document) == {"counts", "words"}


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8"])
def test_every_content_type_of_json_gives_the_same_answer(client, monkeypatch, kind):
    """The first one is answered without FastAPI, the second by its route."""
    monkeypatch.setattr(entropy.os, "urandom", lambda size: b"\x5a" * size)
    ours, sent = client(), json.dumps({"text": TEXT})
    answer = ours.post("/v1/anonymize", content=sent, headers={"Content-Type": kind})
    expected = ours.post("/v1/anonymize", json={"text": TEXT})
    assert (answer.status_code, answer.content) == (200, expected.content)
    assert dict(answer.headers) == dict(expected.headers)


def test_words_are_in_vocabulary_order(client, toy_anonymizer):
    outputs = list(toy_anonymizer.vocabulary.outputs)
    for _ in range(5):
        release = client().post("/v1/anonymize", json={"text": "guitar piano song cat"}).json()
        places = [outputs.index(word) for word in release["documents"][0]["words"]]
        assert places == sorted(places)


def test_each_text_gives_one_document(client):
    sent = {"documents": [{"text": TEXT}, {"text": ""}, {"text": "dog"}]}
    release = client().post("/v1/anonymize", json=sent).json()
    assert [len(one["words"]) for one in release["documents"]] == [20, 20, 20]


def test_explain_guarantee_and_health(client, toy_anonymizer):
    ours = client()
    explanation = ours.get("/v1/explain/Mice", params={"top": 2}).json()
    assert explanation["term"] == "mouse"
    assert len(explanation["substitutes"]) == 2
    assert ours.get("/v1/explain/the").json() == {
        "known": False, "substitutes": [], "loss": toy_anonymizer.mechanism.loss,
    }  # fmt: skip
    assert ours.get("/v1/guarantee").json() == toy_anonymizer.guarantee().as_dict()
    assert ours.get("/healthz").json()["status"] == "ok"


def test_metrics_count_requests_and_documents(client):
    ours = client()
    for _ in range(3):
        ours.post("/v1/anonymize", json={"documents": [{"text": TEXT}] * 2})
    ours.get("/v1/explain/cat")
    ours.get("/nothing/here")
    lines = ours.get("/metrics").text.splitlines()
    assert 'syntf_requests_total{route="/v1/anonymize",status="200"} 3.0' in lines
    assert 'syntf_requests_total{route="/v1/explain/{word}",status="200"} 1.0' in lines
    assert 'syntf_requests_total{route="other",status="404"} 1.0' in lines
    assert "syntf_documents_total 6.0" in lines


def test_statuses_that_depend_on_a_body_share_one_label(client):
    """A text that is too large looks like any other refused request to who reads the metrics."""
    ours = client(max_body=1000)
    for sent in ({"text": "a" * 2000}, {"text": 3}, {"text": TEXT, "id": "1"}):
        assert ours.post("/v1/anonymize", json=sent).status_code in (409, 413, 422)
    lines = ours.get("/metrics").text.splitlines()
    assert [line for line in lines if line.startswith("syntf_requests_total{")] == [
        'syntf_requests_total{route="other",status="4xx"} 1.0',  # refused before it had a route
        'syntf_requests_total{route="/v1/anonymize",status="4xx"} 2.0',
    ]


def test_metrics_have_no_durations_memory_or_processor_time(client):
    ours = client()
    ours.post("/v1/anonymize", json={"text": TEXT})
    names = {line.split("{")[0].split()[0] for line in ours.get("/metrics").text.splitlines()
             if not line.startswith("#")}  # fmt: skip
    assert names == {"syntf_requests_total", "syntf_documents_total", "syntf_workers"}


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [("gzip", True), ("br, gzip;q=0.5", True), ("gzip;q=0", False), ("br", False), ("", False)],
)
def test_answers_are_compressed_if_the_client_accepts_it(client, accepted, packed):
    headers = {"Accept-Encoding": accepted}
    sent = {"documents": [{"text": TEXT}] * 5}
    answer = client().post("/v1/anonymize", json=sent, headers=headers)
    assert (answer.headers.get("Content-Encoding") == "gzip") is packed
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert len(answer.json()["documents"]) == 5
    if packed:
        assert int(answer.headers["Content-Length"]) < len(answer.content) / 2


def test_the_page_is_not_compressed(client):
    """Its answers show the text and what was drawn before it was replaced."""
    play = {"texts": [TEXT * 50], "loss": 3, "neighbours": 2, "length": 9}
    answer = client().post("/page/draw", json=play, headers={"Accept-Encoding": "gzip"})
    assert answer.status_code == 200
    assert "Content-Encoding" not in answer.headers


def test_a_body_that_ends_early_is_not_charged(client, tmp_path, toy_anonymizer):
    """The client closes the connection after a part that is a valid request by itself."""
    loss = toy_anonymizer.guarantee().loss_per_document
    ledger = Ledger.create(tmp_path / "texts.ledger", budget=9 * loss)
    app, sent = client(ledger).app, []
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "path": "/v1/anonymize", "method": "POST", "headers": headers}
    messages = [
        {"type": "http.request", "body": b'{"text": "cat"}', "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 400
    assert not ledger.verify().runs


def refusals(canary):
    """Requests with the canary in every possible place, and the status that each must get."""
    bad = f"{canary} cat"
    return {
        "broken JSON": ("POST", "/v1/anonymize", {"content": f'{{"text": "{bad}'}, 422),
        "no JSON": ("POST", "/v1/anonymize", {"content": bad}, 422),
        "not UTF-8": ("POST", "/v1/anonymize", {"content": bad.encode() + b"\xff"}, 400),
        "a number": ("POST", "/v1/anonymize", {"json": {"text": [bad]}}, 422),
        "a further key": ("POST", "/v1/anonymize", {"json": {"text": "a", bad: bad}}, 422),
        "a key below": ("POST", "/v1/anonymize", {"json": {"documents": [{bad: bad}]}}, 422),
        "no documents": ("POST", "/v1/anonymize", {"json": {"documents": []}}, 422),
        "ids without a ledger": ("POST", "/v1/anonymize", {"json": {"text": bad, "id": bad}}, 409),
        "some ids": (
            "POST", "/v1/anonymize",
            {"json": {"documents": [{"text": bad, "id": bad}, {"text": bad}]}}, 409,
        ),
        "a long word": ("GET", f"/v1/explain/{canary * 20}", {}, 422),
        "a wrong number": ("GET", "/v1/explain/cat", {"params": {"top": bad}}, 422),
        "no route": ("GET", f"/v1/{canary}", {}, 404),
        "wrong verb": ("PUT", "/v1/anonymize", {"json": {"text": bad}}, 405),
        "a strange verb": (canary, "/v1/anonymize", {"json": {"text": bad}}, 405),
        "a bad dial": (
            "POST", "/page/draw",
            {"json": {"texts": [bad], "loss": bad, "neighbours": 1, "length": 1}}, 422,
        ),
        "infinite loss": (
            "POST", "/page/draw",
            {"content": f'{{"texts": ["{bad}"], "loss": 1e999, "neighbours": 1, "length": 1}}'},
            422,
        ),
        "deep": ("POST", "/v1/anonymize", {"content": f'{{"{canary}":' + "[" * 100_000}, 400),
        "another host": ("GET", "/healthz", {"headers": {"Host": f"{canary}.example"}}, 421),
    }  # fmt: skip


@pytest.mark.parametrize("kind", refusals(""))
def test_no_refusal_repeats_a_text(client, canary, caplog, capfd, kind):
    method, path, given, status = refusals(canary)[kind]
    headers = {"Content-Type": "application/json", **given.pop("headers", {})}
    ours = client()
    answer = ours.request(method, path, headers=headers, **given)
    assert answer.status_code == status
    assert isinstance(answer.json()["detail"], str)
    printed = "".join(capfd.readouterr())
    for output in (
        answer.text,
        str(answer.headers),
        caplog.text,
        printed,
        ours.get("/metrics").text,
    ):
        assert canary not in output.lower()


def test_a_lone_surrogate_is_accepted(client):
    ours, kind = client(), {"Content-Type": "application/json"}
    one = ours.post("/v1/anonymize", content='{"text": "cat \\ud800 dog"}', headers=kind)
    assert one.status_code == 200
    sent = '{"texts": ["cat \\ud800 dog"], "loss": 3, "neighbours": 2, "length": 9}'
    play = ours.post("/page/draw", content=sent, headers=kind)
    assert "".join(piece for piece, _ in play.json()["texts"][0]["pieces"]) == "cat \ud800 dog"


def test_a_text_is_neither_logged_nor_in_the_metrics(client, canary, caplog, capfd):
    ours = client()
    assert ours.post("/v1/anonymize", json={"text": canary}).status_code == 200
    assert ours.get(f"/v1/explain/{canary}").status_code == 200
    play = {"texts": [canary], "loss": 3, "neighbours": 2, "length": 9}
    assert ours.post("/page/draw", json=play).status_code == 200
    assert "/v1/explain/{word} 200" in caplog.text
    for output in (caplog.text, "".join(capfd.readouterr()), ours.get("/metrics").text):
        assert canary not in output


def test_opentelemetry_receives_nothing(client, canary, monkeypatch):
    """FastAPI would send paths and exceptions if OpenTelemetry is set up."""
    trace = pytest.importorskip("opentelemetry.trace", reason="this FastAPI has no telemetry")

    class Provider:
        def __getattr__(self, name):
            pytest.fail(f"a tracer was asked for {name}")

    monkeypatch.setattr(trace, "get_tracer_provider", Provider)
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    assert client().get(f"/v1/explain/{canary}").status_code == 200


@pytest.mark.parametrize("error", [RuntimeError, TableError, UnicodeError, MemoryError])
def test_an_unexpected_error_is_logged_by_type_only(
    client, canary, caplog, capfd, monkeypatch, error
):
    def fail(*_):
        raise error(f"cannot encode {canary}")

    ours = client()
    monkeypatch.setattr("syntf.serve.service.Service.read", fail)
    answer = ours.post("/v1/anonymize", json={"text": canary})
    assert answer.status_code == 500
    assert error.__name__ in caplog.text
    for output in (answer.text, caplog.text, "".join(capfd.readouterr())):
        assert canary not in output


def test_a_body_above_the_limit_is_refused(client):
    ours = client(max_body=1000)
    whole = json.dumps({"text": "a" * 900}).encode()
    kind = {"Content-Type": "application/json"}
    assert ours.post("/v1/anonymize", content=whole, headers=kind).status_code == 200
    large = json.dumps({"text": "a" * 1000}).encode()
    assert ours.post("/v1/anonymize", content=large, headers=kind).status_code == 413

    async def pieces():
        for _ in range(11):
            yield b"a" * 100

    answer = ours.post("/v1/anonymize", content=pieces(), headers=kind)  # without a length
    assert answer.status_code == 413
    lying = {**kind, "Content-Length": "9" * 5000}
    assert ours.post("/v1/anonymize", content=whole, headers=lying).status_code == 413


def test_a_request_that_arrives_too_slowly_is_refused(client, monkeypatch):
    monkeypatch.setattr("syntf.serve.guard.BODY_SECONDS", 0.05)

    async def pieces():
        yield b"{"
        await asyncio.sleep(60)

    assert client().post("/v1/anonymize", content=pieces()).status_code == 408


def test_a_websocket_is_closed(client):
    sent = []

    async def send(message):
        sent.append(message["type"])

    asyncio.run(client().app({"type": "websocket", "path": "/", "headers": []}, None, send))
    assert sent == ["websocket.close"]


def test_the_error_names_the_wrong_field(client):
    answer = client().post("/v1/anonymize", json={"documents": [{"text": "a"}, {"text": 3}]})
    assert "body.documents.1.text: Input should be a valid string" in answer.json()["detail"]


def test_too_many_documents_are_refused_before_drawing(client, monkeypatch):
    ours = client(max_documents=2)
    monkeypatch.setattr(entropy.os, "urandom", lambda size: pytest.fail("drawn"))
    assert ours.post(
        "/v1/anonymize", json={"documents": [{"text": "cat"}] * 3}
    ).status_code == 413  # fmt: skip


def test_the_rate_limit_is_per_address_and_not_for_healthz(client):
    ours = client(rate=0.01)
    assert ours.get("/v1/guarantee").status_code == 200
    answer = ours.get("/v1/guarantee")
    assert answer.status_code == 429
    assert 50 < int(answer.headers["Retry-After"]) <= 100
    assert {ours.get("/healthz").status_code for _ in range(5)} == {200}
    ours.address = "127.0.0.2"
    assert ours.get("/v1/guarantee").status_code == 200


PROTECTED = ["/v1/guarantee", "/v1/explain/cat", "/metrics", "/openapi.json", "/nothing"]


@pytest.mark.parametrize("path", PROTECTED)
@pytest.mark.parametrize(
    "sent",
    [None, "", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}",
     TOKEN, f"bearer {TOKEN}", "Bearer \xe9"],
)  # fmt: skip
def test_requests_without_the_token_are_refused(client, path, sent):
    headers = {} if sent is None else {"Authorization": sent.encode("latin-1")}
    answer = client(token=TOKEN).get(path, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert TOKEN not in answer.text


def test_tokens_are_compared_in_constant_time(client, monkeypatch):
    asked = []
    monkeypatch.setattr("syntf.serve.guard.compare_digest", lambda *both: asked.append(both))
    sent = {"Authorization": f"Bearer {TOKEN}"}
    assert client(token=TOKEN).get("/v1/guarantee", headers=sent).status_code == 401
    assert asked == [(f"Bearer {TOKEN}".encode(),) * 2]


def test_without_the_token_nothing_is_drawn(client, monkeypatch):
    ours = client(token=TOKEN)
    monkeypatch.setattr(entropy.os, "urandom", lambda size: pytest.fail("drawn"))
    assert ours.post("/v1/anonymize", json={"text": TEXT}).status_code == 401


def test_with_the_token_every_route_but_the_page_answers(client):
    ours = client(token=TOKEN)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert ours.post("/v1/anonymize", json={"text": TEXT}, headers=headers).status_code == 200
    for path in PROTECTED[:-1]:
        assert ours.get(path, headers=headers).status_code == 200
    for path in ("/", "/static/page.js", "/page/start"):
        assert ours.get(path, headers=headers).status_code == 404
    assert ours.get("/healthz").status_code == 200


def test_wrong_tokens_count_against_the_rate_limit(client):
    ours = client(token=TOKEN, rate=0.01)
    assert [ours.get("/v1/guarantee").status_code for _ in range(3)] == [401, 429, 429]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "[::1]:8470", "127.0.0.1:80"])
def test_loopback_host_names_are_accepted(client, host):
    assert client().get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8470", "", "192.0.2.1",
     "[::1].evil.example", "[::1].evil.example:8470", "[::1]evil.example", "[::1", "::1",
     "localhost:80.evil.example", "localhost:80:80", "localhost:", "localhost ", "[localhost]"],
)  # fmt: skip
def test_other_host_names_are_refused(client, host):
    """A page whose name was rebound to 127.0.0.1 (DNS rebinding) sends its own name."""
    for path in ("/", "/page/start", "/v1/guarantee", "/healthz"):
        assert client().get(path, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization", "Content-Length"])
def test_a_header_sent_twice_is_refused(client, name):
    """A proxy and the service could otherwise each use another one of the two values."""
    ours = client(token=TOKEN)
    once = {"Host": "localhost", "Authorization": f"Bearer {TOKEN}"}
    assert ours.get("/v1/guarantee", headers=once).status_code == 200
    for first, second in (("evil.example", "localhost"), ("localhost", "evil.example")):
        sent = [*((key, value) for key, value in once.items() if key != name),
                (name, first), (name, second)]  # fmt: skip
        answer = ours.get("/v1/guarantee", headers=sent)
        assert answer.status_code == 400
        assert "more than once" in answer.json()["detail"]


def test_an_allowed_host_name_is_accepted(client):
    ours = client(token=TOKEN, allowed_hosts=frozenset({"texts.example"}))
    assert ours.get("/healthz", headers={"Host": "texts.example"}).status_code == 200
    assert ours.get("/healthz", headers={"Host": "other.example"}).status_code == 421


def test_requests_from_other_origins_are_refused(client):
    ours = client()
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9999"):
        answer = ours.post("/v1/anonymize", json={"text": TEXT}, headers={"Origin": origin})
        assert answer.status_code == 403
    own = {"Origin": "http://127.0.0.1:8470"}
    assert ours.post("/v1/anonymize", json={"text": TEXT}, headers=own).status_code == 200


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"])
def test_requests_through_a_proxy_need_a_token(client, header):
    assert client().get("/healthz", headers={header: "x"}).status_code == 403
    with_token = {header: "x", "Authorization": f"Bearer {TOKEN}"}
    assert client(token=TOKEN).get("/v1/guarantee", headers=with_token).status_code == 200


def test_every_answer_has_the_security_headers(client):
    for path in ("/", "/docs", "/nothing", "/v1/guarantee", "/static/page.js"):
        headers = client().get(path).headers
        assert headers["Content-Security-Policy"].startswith(
            "default-src 'none'; script-src 'self'"
        )
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_page_loads_nothing_from_other_hosts(client):
    ours = client()
    for path in ("/", "/docs", "/static/page.js", "/static/docs.js", "/static/page.css",
                 "/static/theme.js"):  # fmt: skip
        text = ours.get(path).text.replace("http://www.w3.org/2000/svg", "")
        assert "//" not in "".join(line.partition("// ")[0] for line in text.splitlines())


def test_no_page_removes_its_draw_route(client):
    ours = client(page=False)
    play = {"texts": [TEXT], "loss": 3, "neighbours": 2, "length": 9}
    assert ours.post("/page/draw", json=play).status_code == 404
    assert ours.get("/").status_code == 404
    assert ours.get("/openapi.json").status_code == 200


def test_the_openapi_description_leaves_out_the_page(client):
    paths = client().get("/openapi.json").json()["paths"]
    assert set(paths) == {
        "/v1/anonymize", "/v1/explain/{word}", "/v1/guarantee", "/healthz", "/metrics",
    }  # fmt: skip


class TestLedger:
    @pytest.fixture
    def loss(self, toy_anonymizer):
        return toy_anonymizer.guarantee().loss_per_document

    def test_a_refused_charge_answers_409_and_draws_nothing(
        self, client, tmp_path, loss, monkeypatch
    ):
        ledger = Ledger.create(tmp_path / "a.ledger", budget=1.5 * loss)
        ours = client(ledger)
        sent = {"text": TEXT, "id": "secret-7"}
        first = ours.post("/v1/anonymize", json=sent).json()
        assert first["charged"] == {"run": 1, "head": ledger.verify().head}
        monkeypatch.setattr(entropy.os, "urandom", lambda size: pytest.fail("drawn"))
        second = ours.post("/v1/anonymize", json=sent)
        assert second.status_code == 409
        assert "nothing was charged or drawn" in second.json()["detail"]
        assert "secret-7" not in second.text
        assert len(ledger.verify().runs) == 1

    def test_with_a_ledger_no_route_draws_without_a_charge(
        self, client, tmp_path, loss, monkeypatch
    ):
        """The page would draw with loss 40 and 500 words, and charge nothing."""
        ledger = Ledger.create(tmp_path / "page.ledger", budget=9 * loss)
        ours = client(ledger)
        monkeypatch.setattr(entropy.os, "urandom", lambda size: pytest.fail("drawn"))
        play = {"texts": [TEXT], "loss": 40, "neighbours": 1, "length": 500}
        for path in ("/page/draw", "/page/start", "/"):
            answer = ours.post(path, json=play) if path == "/page/draw" else ours.get(path)
            assert answer.status_code == 404
        assert not ledger.verify().runs

    def test_authors_are_required_if_they_have_a_budget(self, client, tmp_path, loss):
        ledger = Ledger.create(tmp_path / "b.ledger", author_budget=2.5 * loss)
        ours = client(ledger)
        assert ours.post("/v1/anonymize", json={"text": TEXT}).status_code == 409
        sent = {"documents": [{"text": TEXT, "author": "ann"}, {"text": "dog", "author": "ann"}]}
        assert ours.post("/v1/anonymize", json=sent).status_code == 200
        assert ours.post("/v1/anonymize", json=sent).status_code == 409
        assert len(ledger.verify().runs) == 1

    def test_authors_without_a_budget_are_refused(self, client, tmp_path, loss):
        ours = client(Ledger.create(tmp_path / "c.ledger", budget=9 * loss))
        assert ours.post("/v1/anonymize", json={"text": TEXT, "author": "ann"}).status_code == 409

    def test_ids_after_texts_are_refused(self, client, tmp_path, loss):
        ours = client(Ledger.create(tmp_path / "d.ledger", budget=9 * loss))
        assert ours.post("/v1/anonymize", json={"text": TEXT}).status_code == 200
        assert ours.post("/v1/anonymize", json={"text": TEXT, "id": "1"}).status_code == 409

    def test_a_missing_ledger_answers_503(self, client, tmp_path, loss, monkeypatch):
        path = tmp_path / "e.ledger"
        ours = client(Ledger.create(path, budget=9 * loss))
        path.rename(tmp_path / "f.ledger")
        monkeypatch.setattr(entropy.os, "urandom", lambda size: pytest.fail("drawn"))
        answer = ours.post("/v1/anonymize", json={"text": TEXT})
        assert answer.status_code == 503
        assert str(tmp_path) not in answer.text
