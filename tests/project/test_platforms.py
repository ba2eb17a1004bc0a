"""Nothing needs what other systems lack: a simulation of Windows, on Linux."""

import subprocess
import sys
from pathlib import Path

import pytest

LACKING = """
import importlib.abc, os, socket, stat, sys
import multiprocessing.connection, numpy, platformdirs, sqlite3, subprocess, tempfile

class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "grp", "pwd", "resource"):
            raise ImportError(f"{name} is hidden")

sys.meta_path.insert(0, Hidden())
for name in ("fcntl", "resource"):
    sys.modules.pop(name, None)
for module, names in {os: ("fork", "pread", "sched_getaffinity"),
                      socket: ("SO_REUSEPORT",)}.items():
    for name in names:
        delattr(module, name)

def full(path, folder=-1):
    parent = os.readlink(f"/proc/self/fd/{folder}") if folder != -1 else os.getcwd()
    return os.path.join(parent, os.fsdecode(path))

def refuse_open_files(event, arguments):
    if event == "os.rename":
        gone = [full(arguments[0], arguments[2]), full(arguments[1], arguments[3])]
    elif event == "os.remove":
        gone = [full(*arguments)]
    else:
        return
    for number in os.listdir("/proc/self/fd"):
        try:
            used, mode = os.readlink(f"/proc/self/fd/{number}"), os.fstat(int(number)).st_mode
        except OSError:
            continue
        if stat.S_ISREG(mode) and any(f"{used}/".startswith(f"{path}/") for path in gone):
            os.write(2, f"WINDOWS: {event} of {used}, which is open".encode())
            os._exit(99)

sys.addaudithook(refuse_open_files)
"""
"""Hide what Windows lacks, and refuse to delete, rename or replace a file that is open."""

COMMANDS = """
from syntf.cli import main

def run(*arguments, code=0):
    sys.argv = ["syntf", *arguments]
    try:
        main()
    except SystemExit as end:
        assert (end.code or 0) == code, (arguments, end.code)

run("example")
run("ledger", "create", "texts.ledger", "--budget", "25")
run("anonymize", "example.csv", "--keep", "topic", "--ledger", "texts.ledger", "--out", "release")
run("anonymize", "example.csv", "--shuffle", "--format", "parquet", "--force", "--out", "release")
run("verify", "release")
run("anonymize", "example.csv", "--preset", "words", "--max-size", "900", "--length", "9",
    "--out", "words")
run("serve", "--workers", "2", "--port", "0", code=2)
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc, which Linux has")
def test_releases_are_made_without_what_windows_lacks(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LACKING + COMMANDS], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "--workers needs a system that can fork processes" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "example.csv", "release", "texts.ledger", "words",
    ]  # fmt: skip
