"""Who anonymises ten texts waits for imports: a run loads what it uses and no more."""

import json
import subprocess

import pytest

RUN = """
import json, sys
from syntf.cli.app import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)))
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory, python):
    """The modules that a run loads when the cache knows its neighbours."""
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
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(
    "module",
    [
        "sklearn",
        "matplotlib",
        "mailbox",
        "syntf.mailboxes",
        "syntf.evaluation",
        "syntf.transformer",
        "syntf.audit",
        "syntf.serve",
        pytest.param("rich.progress", marks=pytest.mark.xfail(reason="spaCy imports it")),
        pytest.param("spacy", marks=pytest.mark.xfail(reason="lemminflect imports it")),
        pytest.param("lemminflect", marks=pytest.mark.xfail(reason="it finds the lemmas")),
        pytest.param("scipy", marks=pytest.mark.xfail(reason="counts are its matrices")),
    ],
)
def test_a_run_does_not_load(loaded, module):
    assert module not in loaded


def test_a_run_loads_what_it_uses(loaded):
    assert {"numpy", "polars", "syntf.separated", "syntf.release"} <= loaded
