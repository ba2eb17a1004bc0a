"""What can be checked of the Containerfile without a container engine."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSTRUCTIONS = {"FROM", "RUN", "WORKDIR", "COPY", "USER", "ENTRYPOINT", "CMD"}


def instructions():
    """Each instruction of the Containerfile with its argument, continued lines joined."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    lines = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    return [tuple(line.split(" ", 1)) for line in lines if line]


def copied():
    """The files and folders that are copied from the repository."""
    arguments = [argument.split() for name, argument in instructions() if name == "COPY"]
    return [source for words in arguments for source in words[:-1]]


def test_every_instruction_is_known_and_every_copied_path_exists():
    assert {name for name, _ in instructions()} == INSTRUCTIONS
    assert copied()
    assert [name for name in copied() if not (ROOT / name).exists()] == []


def test_both_stages_use_the_same_python_and_the_last_one_is_no_root():
    images = [argument.split()[0] for name, argument in instructions() if name == "FROM"]
    assert len(images) == 2
    assert len(set(images)) == 1
    users = [argument for name, argument in instructions() if name == "USER"]
    assert users == ["syntf"]
    assert f"useradd --create-home {users[0]}" in (ROOT / "Containerfile").read_text()


def test_the_extras_of_the_image_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [
        extra
        for _, argument in instructions()
        for extras in re.findall(r"(?:\.|syntf)\[([a-z,]+)\]", argument)
        for extra in extras.split(",")
    ]
    assert named
    assert set(named) <= set(project["optional-dependencies"])


@pytest.mark.slow
def test_the_copied_files_alone_make_a_wheel(tmp_path):
    source = tmp_path / "source"
    for name in copied():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, target, ignore=shutil.ignore_patterns("*.so", "*.egg-info")
            )
        else:
            shutil.copy(ROOT / name, target)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir",
         str(tmp_path / "wheels"), str(source)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "wheels").glob("syntf-*.whl"))) == 1
