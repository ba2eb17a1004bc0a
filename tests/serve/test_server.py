"""A real service on loopback: it starts, refuses to start, shares nothing, stops gracefully."""

import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from syntf.ledger.ledger import Ledger

TEXT = "The library was closed, so we took the bus home and read about engines. " * 3
OPTIONS = ["--vectors", "missing", "--vocabulary", "missing"]  # never reached


def refused(*options, **variables):
    """What a service that must not start says."""
    environment = {**os.environ, **variables}
    command = [sys.executable, "-m", "syntf", "serve", *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    return line


def test_it_answers(server):
    status, body = server.ask("/v1/anonymize", {"text": TEXT})
    assert status == 200
    assert sum(json.loads(body)["documents"][0]["counts"].values()) == 125
    assert server.ask("/healthz")[0] == 200
    assert "<title>syntf" in server.ask("/")[1]
    assert server.ask("/healthz", Host="evil.example")[0] == 421


def test_many_clients_at_once_get_draws_of_their_own(server):
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: server.ask("/v1/anonymize", {"text": TEXT}), range(160)))
    assert {status for status, _ in answers} == {200}
    counts = {json.dumps(json.loads(body)["documents"]) for _, body in answers}
    assert len(counts) == 160


def test_beyond_loopback_it_does_not_start_without_a_token():
    assert "token" in refused("--host", "0.0.0.0", *OPTIONS)
    assert "token" in refused("--allow-host", "texts.example", *OPTIONS, SYNTF_TOKEN="")


def test_a_port_in_use_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "in use" in refused("--port", port, *OPTIONS)


def test_without_the_extra_it_says_what_to_install(tmp_path):
    (tmp_path / "fastapi.py").write_text("raise ModuleNotFoundError('no', name='fastapi')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert "pip install 'syntf[serve]'" in refused(PYTHONPATH=path)


@pytest.fixture(scope="module")
def told(start, canary, tmp_path_factory):
    """A whole life: token and ledger, good and bad requests, a stop in the midst of one."""
    folder = tmp_path_factory.mktemp("serve")
    token = "a-token-in-a-file-0123"
    (folder / "token").write_text(token + "\n")
    Ledger.create(folder / "texts.ledger", budget=1500)
    options = ["--token-file", str(folder / "token"), "--ledger", str(folder / "texts.ledger")]
    with start(*options) as server:
        found = {}
        allowed = {"Authorization": f"Bearer {token}"}
        found["without"] = server.ask("/v1/anonymize", {"text": canary})
        found["first"] = server.ask("/v1/anonymize", {"text": canary, "id": "7"}, **allowed)
        found["second"] = server.ask("/v1/anonymize", {"text": canary, "id": "7"}, **allowed)
        found["explained"] = server.ask(f"/v1/explain/{canary}", **allowed)
        found["page"] = server.ask("/", **allowed)
        with socket.create_connection(server.address, timeout=30) as raw:
            raw.sendall(f"GARBAGE {canary}\r\n\r\n".encode())
            found["garbage"] = raw.recv(1000).decode()
        body = json.dumps({"text": canary, "id": "8"}).encode()
        with socket.create_connection(server.address, timeout=30) as slow:
            head = (
                "POST /v1/anonymize HTTP/1.1\r\nHost: localhost\r\n"
                f"Authorization: Bearer {token}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            slow.sendall(head.encode() + body[:10])
            server.ask("/healthz")  # by now the other request has begun
            server.process.send_signal(signal.SIGTERM)
            with pytest.raises(subprocess.TimeoutExpired):
                server.process.wait(1)
            slow.sendall(body[10:])
            answer = b""
            while part := slow.recv(65536):
                answer += part
            found["in the midst"] = answer.decode()
        out, err = server.process.communicate(timeout=30)
        found["code"], found["printed"] = server.process.returncode, out + err
    return found


def test_token_and_ledger_hold_over_the_wire(told):
    assert told["without"][0] == 401
    assert json.loads(told["first"][1])["charged"]["run"] == 1
    assert told["second"][0] == 409
    assert told["explained"][0] == 200
    assert told["page"][0] == 404


def test_it_stops_gracefully(told):
    """SIGTERM while a request is arriving: it is still answered, then the process ends with 0."""
    assert told["in the midst"].startswith("HTTP/1.1 200")
    assert told["code"] == 0


def test_nothing_it_printed_has_a_word_of_a_text(told, canary):
    assert "/v1/anonymize 200" in told["printed"]
    assert "/v1/anonymize 409" in told["printed"]
    assert canary not in told["printed"]
    assert canary not in told["garbage"]
    assert canary not in told["second"][1]
    assert "Traceback" not in told["printed"]


def test_its_token_is_not_printed(told):
    assert "a-token-in-a-file-0123" not in told["printed"]
