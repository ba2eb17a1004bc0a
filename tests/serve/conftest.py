"""A small service for tests inside one process, and a real one on loopback for all others."""

import asyncio
import http.client
import json
import logging
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'syntf[serve]'")
pytest.importorskip("uvicorn", reason="needs uvicorn: pip install 'syntf[serve]'")
pytest.importorskip("prometheus_client", reason="needs its client: pip install 'syntf[serve]'")
pytest.importorskip("httpx", reason="needs httpx: pip install httpx")

import httpx

from syntf.mechanism.build import cached_neighbours
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.prepare import rated, reading
from syntf.pipeline.settings import Settings
from syntf.serve.app import create_app
from syntf.serve.config import Config
from syntf.serve.playground import Playground
from syntf.serve.service import Service

CANARY = "zanzibarquux"
"""A word that stands in no vocabulary: wherever it turns up, a text was told."""


@pytest.fixture(scope="session")
def canary():
    return CANARY


@pytest.fixture(scope="session")
def toy_settings(toy_vectors, toy_words):
    return Settings(
        neighbours=3, loss=3.0, length=20, draws="systematic",
        vocabulary=toy_words, vectors=toy_vectors,
    )  # fmt: skip


@pytest.fixture(scope="session")
def toy_anonymizer(toy_settings):
    return Anonymizer.build(toy_settings)


@pytest.fixture(scope="session")
def toy_playground(toy_settings, toy_anonymizer):
    rating = rated(toy_settings, *reading(toy_settings)[1:])
    return Playground(Service(toy_anonymizer), cached_neighbours(rating, 10))


class Client:
    """Asks an application in this process; an exception that it lets through is raised here."""

    def __init__(self, app, base, address):
        self.app, self.base, self.address = app, base, address

    def request(self, method, path, **given):
        async def ask():
            transport = httpx.ASGITransport(self.app, client=(self.address, 5000))
            async with httpx.AsyncClient(transport=transport, base_url=self.base) as client:
                return await client.request(method, path, **given)

        return asyncio.run(ask())

    def get(self, path, **given):
        return self.request("GET", path, **given)

    def post(self, path, **given):
        return self.request("POST", path, **given)


@pytest.fixture
def client(toy_anonymizer, toy_playground):
    """Makes clients of toy services; `address` is where they seem to come from."""

    def make(ledger=None, address="127.0.0.1", base="http://127.0.0.1:8470", **chosen):
        config = Config(**{"rate": 1e6, **chosen})
        app = create_app(Service(toy_anonymizer, ledger), config, toy_playground)
        return Client(app, base, address)

    return make


@pytest.fixture(autouse=True)
def everything_logged(caplog, monkeypatch):
    """Logs at their most talkative: what they must not say, they must not say then either."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(logging.getLogger("httpx"), "disabled", True)  # the client's own log


class Server:
    """`syntf serve` in a process of its own."""

    def __init__(self, *options, **variables):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
        command = [sys.executable, "-m", "syntf", "serve", "--port", "0", "--rate", "100000"]
        self.process = subprocess.Popen(
            [*command, "--max-size", "200", *options], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        first = self.process.stdout.readline()
        found = re.search(r"http://\S+(?=;)|http://\S+(?= with)", first)
        if not found:
            self.process.kill()
            raise AssertionError(first + self.process.communicate()[1])
        self.url = found.group()
        self.address = urlsplit(self.url).hostname, urlsplit(self.url).port

    def ask(self, path, body=None, **headers):
        """Status and body of one request."""
        connection = http.client.HTTPConnection(*self.address, timeout=30)
        try:
            sent = None if body is None else json.dumps(body)
            kind = {} if body is None else {"Content-Type": "application/json"}
            connection.request("GET" if body is None else "POST", path, sent, {**kind, **headers})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def stop(self):
        """Ask it to stop; its exit code, and all it wrote."""
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out + err


@pytest.fixture(scope="session")
def start(own_cache):
    """Starts services and ends them, whatever happens."""

    @contextmanager
    def starting(*options, **variables):
        server = Server(*options, **variables)
        try:
            yield server
        finally:
            if server.process.poll() is None:
                server.process.kill()
            server.process.communicate()

    return starting


@pytest.fixture(scope="session")
def server(start):
    """One service that many tests share."""
    with start() as running:
        yield running
