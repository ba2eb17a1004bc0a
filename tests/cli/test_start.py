"""Start-up: help and short runs import only what they use; a process ends without delay."""

import ctypes
import json
import os
import subprocess
import sys

import pytest

from syntf import __version__
from syntf.__main__ import keep_freed_memory

RUN = """
import json, sys
from syntf.cli.app import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize("arguments", [["--help"], ["anonymize", "--help"], ["--version"]])
def test_help_imports_no_heavy_library(python, arguments):
    done = subprocess.run([python, "-c", RUN, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert not loaded & {"numpy", "polars", "scipy", "sklearn", "matplotlib", "rich", "tomllib"}


def test_help_takes_little_processor_time(python):
    """The best of three tries counts, because other programs may slow the machine down."""
    script = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime)"
    )
    tries = [
        float(
            subprocess.run(
                [python, "-c", script, python, "-m", "syntf", "--help"],
                capture_output=True, text=True, check=True,
            ).stdout
        )
        for _ in range(3)
    ]  # fmt: skip
    assert min(tries) < 0.15


@pytest.fixture(scope="module")
def released(tmp_path_factory, python):
    """Make a release; return its folder, and the modules that the run imports with a full cache."""
    place = tmp_path_factory.mktemp("start")
    (place / "terms.txt").write_text("cat\ndog\ncar\ntrain\n")
    (place / "texts.csv").write_text("text,topic\nMy cats chase dogs.,a\nThe train is late.,b\n")
    command = ["anonymize", "texts.csv", "--vocabulary", "terms.txt", "--keep", "topic", "--force",
               "--quiet", "--out", "out"]  # fmt: skip
    for _ in range(2):
        done = subprocess.run(
            [python, "-c", RUN, *command], cwd=place, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    return place / "out", set(json.loads(done.stdout))


@pytest.fixture
def loaded(released):
    return released[1]


@pytest.mark.parametrize(
    "module",
    [
        "sklearn",
        "matplotlib",
        "mailbox",
        "syntf.inputs.formats.mbox",
        "syntf.evaluation",
        "syntf.sklearn",
        "syntf.audit",
        "syntf.serve",
        "rich",
        "spacy",
        "lemminflect",
        "scipy",
        "threadpoolctl",
        "multiprocessing",
        "polars",
    ],
)
def test_run_does_not_import(loaded, module):
    assert module not in loaded


def test_run_imports_what_it_uses(loaded):
    assert {"numpy", "arro3.io", "syntf.inputs.formats.csv_rows", "syntf.releases.draft"} <= loaded


def test_verify_prints_without_rich_where_nothing_is_coloured(released, python):
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    command = [python, "-c", RUN, "verify", str(released[0])]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    *lines, modules = done.stdout.splitlines()
    written = f"guarantee.json     format 2, by syntf {__version__}; the checksum is right"
    assert lines[0] == f"ok            {written}"
    assert lines[-1].startswith("Verified: this table loses at most ")
    assert not {"rich", "polars"} & set(json.loads(modules))


@pytest.mark.skipif(sys.platform != "linux", reason="needs the C library of Linux")
def test_freed_memory_is_used_again(python):
    """The system hands out an array of 16 MB once, not for every new array."""
    program = """
import resource
from syntf.__main__ import keep_freed_memory
keep_freed_memory()
import numpy as np
for array in range(3):
    np.ones(1 << 21)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for array in range(20):
    np.ones(1 << 21)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
    faults = int(subprocess.run([python, "-c", program], capture_output=True, check=True).stdout)
    assert faults < 1000  # of 4,096 for each array


def test_help_does_not_prepare_the_memory(python):
    program = (
        "import atexit, sys; from syntf.__main__ import program; sys.argv = ['syntf', '--help']"
    )
    program += "; atexit.register(lambda: print('ctypes' in sys.modules)); program()"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True)
    assert done.stdout.endswith("False\n")


@pytest.mark.parametrize("error", [OSError, AttributeError, TypeError])
def test_another_c_library_keeps_its_settings(monkeypatch, error):
    def missing(name):
        raise error

    monkeypatch.setattr(ctypes, "CDLL", missing)
    keep_freed_memory()


BUFFERED = {**os.environ, "PYTHONUNBUFFERED": ""}
LEAVING = """
import atexit, sys, threading, time
from syntf.__main__ import end_process
{before}
atexit.register(print, "cleaned up")
print("said")
print("told", file=sys.stderr)
end_process(3)
sys.exit(4)
"""
WORKING = "threading.Thread(target=lambda: (time.sleep(0.3), print('worked'))).start()"


@pytest.mark.parametrize(
    ("before", "out", "code"),
    [("", "said\ncleaned up\n", 3), (WORKING, "said\nworked\ncleaned up\n", 4)],
)
def test_process_ends_after_threads_and_output_are_finished(python, before, out, code):
    done = subprocess.run(
        [python, "-c", LEAVING.format(before=before)], capture_output=True, text=True, env=BUFFERED
    )
    assert (done.stdout, done.stderr, done.returncode) == (out, "told\n", code)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_output_device_is_reported_by_python(python):
    with open("/dev/full", "w") as nowhere:
        done = subprocess.run(
            [python, "-c", LEAVING.format(before="")],
            stdout=nowhere, stderr=subprocess.PIPE, text=True, env=BUFFERED,
        )  # fmt: skip
    assert done.returncode == 120  # the code of Python itself
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_output_to_a_pipe_is_complete(python):
    done = subprocess.run(
        [python, "-m", "syntf", "bounds", "--json"], capture_output=True, text=True, env=BUFFERED
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes streams")
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_stop_a_run(tmp_path, python, closed):
    (tmp_path / "texts.csv").write_text("text\nMy cats chase dogs.\n")
    command = f"{python} -m syntf anonymize texts.csv --max-size 50 --out out {closed}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out" / "guarantee.json").exists()
    for path in (tmp_path / "out").iterdir():  # files may get the descriptors of closed streams
        assert b"Release written" not in path.read_bytes()
