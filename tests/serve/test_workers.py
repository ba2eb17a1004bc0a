"""Several real processes that share one port and one ledger: races, kills and shutdown."""

import http.client
import os
import signal
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from syntf.ledger.ledger import Ledger

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")

LOSS = 1000
"""The loss per document of the service that the tests start."""


def children(process):
    """Return the process numbers of the workers."""
    file = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(number) for number in file.read_text().split()]


def wait_until(true):
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def ask(server, name):
    """Send one request; return its status, or 0 if the connection breaks."""
    try:
        return server.ask("/v1/anonymize", {"text": "The library was closed.", "id": name})[0]
    except (OSError, http.client.HTTPException):
        return 0


def statuses(server, ids):
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda name: ask(server, name), ids))


def test_a_killed_worker_is_replaced_and_the_budget_still_holds(start, tmp_path):
    """The budget allows ten charges. A worker is killed meanwhile: still exactly ten are made."""
    Ledger.create(tmp_path / "texts.ledger", budget=10.5 * LOSS)
    with start("--workers", "2", "--ledger", str(tmp_path / "texts.ledger")) as server:
        wait_until(lambda: len(children(server.process)) == 2)
        before = children(server.process)
        found = statuses(server, ["one"] * 4)
        os.kill(before[0], signal.SIGKILL)
        found += statuses(server, ["one"] * 40)
        ledger = Ledger(tmp_path / "texts.ledger")
        assert len(ledger.verify().runs) == 10
        assert found.count(200) <= 10  # an answer of the killed worker may be lost
        assert found.count(200) + found.count(0) >= 10
        assert 409 in found
        wait_until(lambda: len(children(server.process)) == 2)
        assert before[0] not in children(server.process)
        assert set(statuses(server, [str(number) for number in range(20)])) == {200}
        text = server.ask("/metrics")[1]
        answered = found.count(200) + 20
        assert 'syntf_requests_total{route="/v1/anonymize",status="200"}' in text
        (documents,) = (
            float(line.split()[1]) for line in text.splitlines()
            if line.startswith("syntf_documents_total")
        )  # fmt: skip
        assert answered <= documents <= 30
        assert "syntf_workers 2.0" in text
        code, printed = server.stop()
    assert code == 0
    assert "worker 0 ended with code -9 and is replaced" in printed


@pytest.mark.parametrize("workers", ["1", "2"])
def test_everything_that_was_charged_is_answered_before_the_service_stops(start, tmp_path, workers):
    """Clients send without a pause, and the service is stopped while they wait for charges."""
    ledger = Ledger.create(tmp_path / "texts.ledger", budget=10)
    options = ["--document-loss", "10", "--workers", workers, "--ledger", str(ledger.path)]
    with start(*options, words=False) as server:

        def answered(client):
            """Send requests until one is not answered; return how many were."""
            for number in count():
                status = ask(server, f"{client} {number}")
                if status != 200:
                    assert status in (503, 0)
                    return number

        with ThreadPoolExecutor(20) as pool:
            clients = [pool.submit(answered, client) for client in range(20)]
            wait_until(lambda: len(ledger.verify().runs) > 20)
            with closing(sqlite3.connect(ledger.path, timeout=30, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")  # now all charges wait, as for a slow disk
                time.sleep(0.3)
                server.process.send_signal(signal.SIGTERM)
                time.sleep(1)
            total = sum(client.result() for client in clients)
        code, printed = server.ended()
    assert code == 0, printed
    assert total == len(ledger.verify().runs)


def test_workers_stop_when_the_first_process_is_killed(start):
    with start("--workers", "2") as server:
        wait_until(lambda: len(children(server.process)) == 2)
        workers = children(server.process)
        assert server.ask("/healthz")[0] == 200
        server.process.kill()
        wait_until(lambda: not any(running(each) for each in workers))


def running(number):
    """Return whether a process runs; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_port_in_use_is_refused_by_workers_too(start, server):
    port = str(server.address[1])
    with pytest.raises(AssertionError, match="in use"), start("--port", port, "--workers", "2"):
        pass
