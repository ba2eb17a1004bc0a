"""`syntf serve` as a program: where it listens, whom it needs a token from, what it leaves."""

import os
import signal
import socket
import time

import httpx
import pytest

from tests.serve.conftest import CSV


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_its_files_are_deleted_however_it_ends(start, number):
    with start("--loss", "6") as program:
        with httpx.Client(base_url=program.url) as client:
            assert client.get("/page/start").json()["loss"] == 6
            sent = client.put("/page/files", params={"name": "mails.csv"}, content=CSV).json()
            (home,) = program.folder.iterdir()
            assert (home / sent["id"] / "input" / "mails.csv").read_text() == CSV
        code, log = program.end(number)
        assert code == (0 if number == signal.SIGINT else -signal.SIGTERM)
        assert not log
        assert not list(program.folder.iterdir())


def test_a_run_that_is_going_on_is_stopped_at_the_end(start):
    with start() as program:
        with httpx.Client(base_url=program.url) as client:
            content = CSV + "The bus is late again,transport,ann\n" * 400_000
            sent = client.put("/page/files", params={"name": "mails.csv"}, content=content).json()
            path = f"/page/files/{sent['id']}"
            client.post(f"{path}/columns", json={})
            assert client.post(f"{path}/run", json={"text": "text"}).status_code == 200
            while client.get(f"{path}/run").json()["stage"] != "reading":
                time.sleep(0.01)
        program.end(signal.SIGTERM)
        assert not list(program.folder.iterdir())


def test_it_has_no_token_on_loopback_alone(call, tmp_path, monkeypatch):
    monkeypatch.setenv("SYNTF_TOKEN", "short")
    assert call("serve") == (
        2,
        "",
        "syntf: a token has 16 ASCII characters or more: openssl rand -hex 32\n",
    )
    monkeypatch.delenv("SYNTF_TOKEN")
    code, _, err = call("serve", "--host", "0.0.0.0")
    assert code == 2
    assert "other machines can reach 0.0.0.0, so the service needs a token" in err
    (tmp_path / "empty").touch()
    assert call("serve", "--token-file", tmp_path / "empty")[0] == 2


def test_an_address_that_cannot_be_used_is_named(call):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = call("serve", "--port", port, "--no-browser")
        assert (code, f"cannot listen on 127.0.0.1, port {port}" in err) == (2, True)
    for options in (["--host", "mails.example"], ["--port", "70000"], ["--ledger", "no.ledger"]):
        code, _, err = call("serve", "--no-browser", *options)
        assert (code, err.count("\n")) == (2, 1)


def test_a_token_from_a_file_or_the_environment_opens_it(start, tmp_path):
    token = "correct horse battery"
    (tmp_path / "token").write_text(f"{token}\n")
    with start(
        "--token-file", str(tmp_path / "token"), SYNTF_TOKEN="wrong horse battery"
    ) as program:
        body = {"texts": ["a bus"]}
        with httpx.Client(base_url=program.url) as client:
            assert client.post("/v1/rows", json=body).status_code == 401
            right = {"Authorization": f"Bearer {token}"}
            assert client.post("/v1/rows", json=body, headers=right).status_code == 200
            assert client.get("/").status_code == 404


def test_the_browser_is_opened_with_the_page(tmp_path, start, python):
    script = tmp_path / "browser"
    script.write_text(
        f"#!{python}\nimport sys\nopen({str(tmp_path / 'seen')!r}, 'w').write(sys.argv[1])"
    )
    script.chmod(0o755)
    with start(BROWSER=f"{script} %s", browser=True) as program:
        for _ in range(200):
            if (tmp_path / "seen").exists() and (tmp_path / "seen").read_text():
                break
            time.sleep(0.05)
        assert (tmp_path / "seen").read_text() == program.url
    assert os.environ.get("BROWSER") != str(script)
