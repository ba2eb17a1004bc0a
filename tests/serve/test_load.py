"""A short load test; `python benchmarks/serve.py` is the long one."""

import json
import subprocess
import sys
from pathlib import Path

LOAD = Path(__file__).parents[2] / "benchmarks" / "load.py"


def test_many_connections_give_no_errors(server):
    """How many requests are answered depends on the load of the machine and is not checked."""
    command = [sys.executable, str(LOAD), server.url, "--connections", "50", "--seconds", "0.5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    found = json.loads(done.stdout)
    assert found["errors"] == {}
    assert found["requests"] >= 50


def test_the_load_test_refuses_other_machines():
    command = [sys.executable, str(LOAD), "http://192.0.2.1:8470"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "must be on loopback" in done.stderr
