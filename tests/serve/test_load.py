"""A short load test; `python benchmarks/serve.py` is the long one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "serve.py"


@pytest.mark.slow
def test_thirty_requests_a_second_give_no_errors_and_stable_memory(server):
    """Whether the rate is reached depends on the load of the machine and is not checked."""
    command = [sys.executable, str(BENCHMARK), "--rate", "30", "--seconds", "5"]
    done = subprocess.run(
        [*command, "--url", server.url], capture_output=True, text=True, timeout=60
    )
    assert "150 of 150 answered" in done.stdout, done.stdout + done.stderr
    assert "errors: none" in done.stdout
    first, last = map(int, re.findall(r"(\d+) MB", done.stdout))
    assert last - first < 24


def test_the_load_test_refuses_other_machines():
    command = [sys.executable, str(BENCHMARK), "--url", "http://192.0.2.1:8470"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "must name a service on loopback" in done.stderr
