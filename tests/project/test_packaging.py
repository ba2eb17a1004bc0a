"""Package metadata, the lock file and the citation agree with each other."""

import re
import tomllib
from pathlib import Path

import pytest

import syntf

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def project():
    """The table [project] of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names(requirements):
    """Return the normalised package names of requirements, without those of this package."""
    found = {re.match(r"[\w.-]+", each)[0].lower() for each in requirements}
    return {re.sub(r"[-_.]+", "-", name) for name in found} - {"syntf"}


def test_lock_file_pins_every_dependency_of_the_development_environment(project):
    extras = project["optional-dependencies"]
    wanted = names(project["dependencies"])
    for extra in (
        "dev",
        "serve",
        "audit",
        "integration",
        "spacy",
        "evaluate",
        "docs",
        "spark",
        "model2vec",
    ):
        wanted |= names(extras[extra])
    lock = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    pinned = names(re.findall(r"^[\w.-]+(?=(?:\[[\w, -]+\])?==)", lock, re.MULTILINE))
    assert wanted <= pinned, "run 'make lock'"


def test_citation_names_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {syntf.__version__}\n" in citation


def test_ci_hides_no_failure():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "||" not in re.sub(r"if [^\n]*", "", script)
    for target in ("lint", "commits", "test-all", "docs", "audit", "dist"):
        assert re.search(rf"^make {target}\b", script, re.MULTILINE)
