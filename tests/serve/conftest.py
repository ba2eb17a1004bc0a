"""Fixtures: a small service in this process, and a real one on loopback."""

import asyncio
import http.client
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'syntf[serve]'")
pytest.importorskip("uvicorn", reason="needs uvicorn: pip install 'syntf[serve]'")
pytest.importorskip("prometheus_client", reason="needs its client: pip install 'syntf[serve]'")
pytest.importorskip("httpx", reason="needs httpx: pip install httpx")

import httpx
from browsing import DESK, settled

from syntf.mechanism.build import cached_neighbours
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.prepare import load_words, rate_words
from syntf.pipeline.settings import Settings
from syntf.serve.app import create_app
from syntf.serve.config import Config
from syntf.serve.playground import Playground
from syntf.serve.service import Service

CANARY = "zanzibarquux"
"""A word that is in no vocabulary: wherever it appears, a text has leaked."""


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
    rating = rate_words(toy_settings, *load_words(toy_settings)[1:])
    return Playground(Service(toy_anonymizer), cached_neighbours(rating, 10))


class Client:
    """Send requests to an application in this process; its exceptions are raised here."""

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


@pytest.fixture(scope="session")
def make_client():
    """A function that makes a client of an application."""
    return lambda app: Client(app, "http://127.0.0.1:8470", "127.0.0.1")


@pytest.fixture
def client(toy_anonymizer, toy_playground):
    """Make clients of toy services; `address` is the address of the client."""

    def make(ledger=None, address="127.0.0.1", base="http://127.0.0.1:8470", **chosen):
        config = Config(**{"rate": 1e6, **chosen})
        app = create_app(Service(toy_anonymizer, ledger), config, toy_playground)
        return Client(app, base, address)

    return make


@pytest.fixture(autouse=True)
def everything_logged(caplog, monkeypatch):
    """Log at DEBUG level, so that the tests see every message."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(logging.getLogger("httpx"), "disabled", True)  # the client's own log


class Server:
    """Run `syntf serve` in its own process."""

    def __init__(self, log, *options, words=True, **variables):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
        command = [sys.executable, "-m", "syntf", "serve", "--port", "0", "--rate", "100000"]
        self._log = log  # a file: a pipe that nobody reads fills up, and the service waits
        self.process = subprocess.Popen(
            [*command, *(["--max-size", "200"] if words else []), *options],
            env=environment, text=True, stdout=subprocess.PIPE, stderr=self._log,
        )  # fmt: skip
        first = self.process.stdout.readline()
        found = re.search(r"http://\S+(?=;)|http://\S+(?= with)", first)
        if not found:
            self.process.kill()
            self.process.communicate()
            raise AssertionError(first + self._read_log())
        self.url = found.group()
        self.address = urlsplit(self.url).hostname, urlsplit(self.url).port

    def ask(self, path, body=None, **headers):
        """Send one request; return its status and body."""
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
        """Stop the service; return its exit code and all output."""
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self):
        """Wait until the service has ended; return its exit code and all output."""
        out, _ = self.process.communicate(timeout=30)
        return self.process.returncode, out + self._read_log()

    def _read_log(self):
        self._log.seek(0)
        return self._log.read()


@pytest.fixture(scope="session")
def start(own_cache):
    """Start services, and end them after the test."""

    @contextmanager
    def starting(*options, words=True, **variables):
        with tempfile.TemporaryFile("w+") as log:
            server = Server(log, *options, words=words, **variables)
            try:
                yield server
            finally:
                if server.process.poll() is None:
                    server.process.kill()
                server.process.communicate()

    return starting


@pytest.fixture(scope="session")
def server(start):
    """A service that many tests share."""
    with start() as running:
        yield running


@pytest.fixture(scope="session")
def document_server(start):
    """A service of the document unit that many tests share."""
    with start("--document-loss", "10", words=False) as running:
        yield running


@pytest.fixture(scope="module")  # its event loop must not run during tests that start their own
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs Playwright: pip install playwright"
    )
    chromium = os.environ.get("SYNTF_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Chromium: apt-get install chromium, or SYNTF_CHROMIUM=<its path>")
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        yield made
        made.close()


@pytest.fixture
def opened(browser, request):
    """Open a page; an error of its script or a request to another host fails the test."""
    contexts, wrong = [], []

    def open_page(
        path="/", size=DESK, theme="light", *,
        words=False, server=None, quiet_console=False, **options,
    ):  # fmt: skip
        if server is None:
            server = request.getfixturevalue("server" if words else "document_server")
        context = browser.new_context(viewport=size, color_scheme=theme, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        if quiet_console:
            page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda request: request.url.startswith(server.url) or wrong.append(request.url),
        )
        page.goto(server.url + path)
        if path == "/" and options.get("java_script_enabled", True):
            page.wait_for_selector("#draws button" if words else "#seen-a li")
            settled(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


@pytest.fixture(scope="session")
def axe():
    package = pytest.importorskip(
        "axe_playwright_python", reason="needs axe: pip install axe-playwright-python"
    )
    (script,) = Path(package.__file__).parent.rglob("axe*.js")
    return script.read_text(encoding="utf-8")
