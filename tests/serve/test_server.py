"""A real service on loopback: start, refusal to start, concurrent requests, shutdown."""

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
    """Return the one line that a service prints when it refuses to start."""
    environment = {**os.environ, **variables}
    command = [sys.executable, "-m", "syntf", "serve", *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    return line


def test_the_service_answers(server):
    status, body = server.ask("/v1/anonymize", {"text": TEXT})
    assert status == 200
    assert sum(json.loads(body)["documents"][0]["counts"].values()) == 125
    assert server.ask("/healthz")[0] == 200
    assert "<title>syntf" in server.ask("/")[1]
    assert server.ask("/healthz", Host="evil.example")[0] == 421


def test_concurrent_clients_get_different_draws(server):
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: server.ask("/v1/anonymize", {"text": TEXT}), range(160)))
    assert {status for status, _ in answers} == {200}
    counts = {json.dumps(json.loads(body)["documents"]) for _, body in answers}
    assert len(counts) == 160


def test_other_addresses_need_a_token():
    assert "token" in refused("--host", "0.0.0.0", *OPTIONS)
    assert "token" in refused("--allow-host", "texts.example", *OPTIONS, SYNTF_TOKEN="")


def test_a_port_in_use_gives_a_one_line_error():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        line = refused("--preset", "words", "--port", port, *OPTIONS)
        assert f"port {port} is in use" in line
        assert "--port" in line


def test_a_missing_extra_names_the_pip_command(tmp_path):
    (tmp_path / "fastapi.py").write_text("raise ModuleNotFoundError('no', name='fastapi')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert "pip install 'syntf[serve]'" in refused(PYTHONPATH=path)


@pytest.fixture(scope="module", name="results")
def service_results(start, canary, tmp_path_factory):
    """Results of one service: token, ledger, valid and invalid requests, and a stop during one."""
    folder = tmp_path_factory.mktemp("serve")
    token = "a-token-in-a-file-0123"
    (folder / "token").write_text(token + "\n")
    Ledger.create(folder / "texts.ledger", budget=1500)
    options = ["--token-file", str(folder / "token"), "--ledger", str(folder / "texts.ledger")]
    with start(*options) as server:
        results = {}
        allowed = {"Authorization": f"Bearer {token}"}
        results["without"] = server.ask("/v1/anonymize", {"text": canary})
        results["first"] = server.ask("/v1/anonymize", {"text": canary, "id": "7"}, **allowed)
        results["second"] = server.ask("/v1/anonymize", {"text": canary, "id": "7"}, **allowed)
        results["explained"] = server.ask(f"/v1/explain/{canary}", **allowed)
        results["page"] = server.ask("/", **allowed)
        with socket.create_connection(server.address, timeout=30) as raw:
            raw.sendall(f"GARBAGE {canary}\r\n\r\n".encode())
            results["garbage"] = raw.recv(1000).decode()
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
                server.process.wait(0.5)
            with socket.create_connection(server.address, timeout=30) as late:
                late.sendall(head.encode() + body)
                results["late"] = late.makefile("rb").read().decode()  # until it is closed
            slow.sendall(body[10:])
            answer = b""
            while part := slow.recv(65536):
                answer += part
            results["interrupted"] = answer.decode()
        results["code"], results["printed"] = server.ended()
    return results


def test_token_and_ledger_work_over_http(results):
    assert results["without"][0] == 401
    assert json.loads(results["first"][1])["charged"]["run"] == 1
    assert results["second"][0] == 409
    assert results["explained"][0] == 200
    assert results["page"][0] == 404


def test_sigterm_finishes_the_running_request(results):
    """The request is still answered, then the process ends with exit code 0."""
    assert results["interrupted"].startswith("HTTP/1.1 200")
    assert results["code"] == 0


def test_new_requests_are_refused_while_the_service_stops(results):
    head, _, body = results["late"].partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 503")
    assert "connection: close" in head.lower().splitlines()
    assert json.loads(body) == {"detail": "the service is about to stop: ask again later"}


def test_the_log_contains_no_text(results, canary):
    assert "/v1/anonymize 200" in results["printed"]
    assert "/v1/anonymize 409" in results["printed"]
    assert canary not in results["printed"]
    assert canary not in results["garbage"]
    assert canary not in results["second"][1]
    assert "Traceback" not in results["printed"]


def test_the_token_is_not_printed(results):
    assert "a-token-in-a-file-0123" not in results["printed"]
