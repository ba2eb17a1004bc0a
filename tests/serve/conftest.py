"""Fixtures: the application in this process, and the program on loopback."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install '.[serve]' in the clone")
pytest.importorskip("uvicorn", reason="needs uvicorn: pip install '.[serve]' in the clone")
pytest.importorskip("httpx", reason="needs httpx: pip install '.[dev]' in the clone")

from fastapi.testclient import TestClient

from syntf.serve import app, page
from syntf.settings import Settings

HOST = "http://127.0.0.1:8470"
CSV = "text,topic,author\n" + "".join(
    f"The {word} is late again,{topic},{author}\n"
    for word, topic, author in [
        ("bus", "transport", "ann"), ("train", "transport", "bob"), ("doctor", "health", "ann"),
        ("nurse", "health", "ann"), ("library", "books", "cem"),
    ] * 5
)  # fmt: skip


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Where the service makes its temporary folders in this test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="session", autouse=True)
def built_once(own_cache):
    """Build each method once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "build", page.prepared)
        yield


@pytest.fixture
def client(folders):
    """A function that gives a client of an application with these options."""
    opened = []

    def make(settings=None, **options):
        client = TestClient(app.create_app(settings or Settings(), **options), base_url=HOST)
        opened.append(client.__enter__())
        return client

    yield make
    for one in opened:
        one.__exit__(None, None, None)


class Program:
    """`syntf serve` in its own process, with its own folder for temporary files."""

    def __init__(self, folder, *options, browser=False, **variables):
        self.folder = folder
        self.log = (folder.parent / f"{folder.name}.log").open("w+")
        environment = {**os.environ, "TMPDIR": str(folder), "OMP_NUM_THREADS": "1", **variables}
        options = (*options, *([] if browser else ["--no-browser"]))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "syntf", "serve", "--port", "0", *options],
            env=environment, text=True, stdout=subprocess.PIPE, stderr=self.log,
        )  # fmt: skip
        first = self.process.stdout.readline()
        found = re.match(r"http://\S+", first)
        assert found, self.end(signal.SIGTERM)
        self.url = found[0]

    def end(self, number):
        """Send a signal; return the exit code and all that was printed on standard error."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.communicate(timeout=30)
        self.log.seek(0)
        return self.process.returncode, self.log.read()

    def close(self):
        self.process.kill()
        self.process.communicate()
        self.log.close()


@pytest.fixture(scope="session")
def start(own_cache, tmp_path_factory):
    """Start the program, and end it after the test."""

    @contextmanager
    def starting(*options, **more):
        program = Program(Path(tmp_path_factory.mktemp("serve")), *options, **more)
        try:
            yield program
        finally:
            program.close()

    return starting
