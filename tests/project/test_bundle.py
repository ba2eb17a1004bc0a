"""The bundle for machines without a network installs there, and the program works."""

import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from check_dist import without_network
from make_bundle import make_bundle


@pytest.mark.slow
def test_the_bundle_installs_without_a_network(tmp_path):
    bundle = make_bundle(tmp_path / "bundle", "serve,files")
    with tarfile.open(bundle) as archive:
        archive.extractall(tmp_path, filter="data")
    folder = tmp_path / bundle.name.removesuffix(".tar.gz")
    readme = (folder / "README.txt").read_text(encoding="utf-8")
    commands = re.findall(r"^    (\S(?:.*\\\n)*.*)$", readme, re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["-m", "install", "--version", "install"]
    made, installed, shown, _ = (command.replace("\\\n", " ").split() for command in commands)
    made[0] = sys.executable
    session = [made, installed, shown]
    session += [["environment/bin/syntf", *words.split()] for words in (
        "example",
        "anonymize example.csv --keep topic --shuffle --out release",
        "verify release",
    )]  # fmt: skip
    offline = without_network()
    for command in session:
        done = subprocess.run(
            [*offline, *command], cwd=folder, capture_output=True, text=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PIP_CONFIG_FILE": "/dev/null"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    pinned = (folder / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert {"syntf", "polars", "fastapi", "openpyxl"} <= {
        line.partition("==")[0] for line in pinned
    }


@pytest.mark.slow
def test_a_changed_wheel_is_refused(tmp_path):
    """pip compares every wheel of a bundle with its digest in requirements.txt."""
    wheel = tmp_path / "wheels" / "x-1-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.write_bytes(b"changed")
    digest = "0" * 64
    (tmp_path / "requirements.txt").write_text(f"x==1 --hash=sha256:{digest}\n")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-index", "--find-links", "wheels",
         "--require-hashes", "--requirement", "requirements.txt", "--target", "there"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert not Path(tmp_path, "there").exists()
