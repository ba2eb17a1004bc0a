"""Fixtures for all tests: a separate cache, a small table of word vectors, real corpora."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from syntf.words.vectors import WordVectors

# A slow machine must not fail a test: hypothesis sets no time limit for an example.
settings.register_profile("syntf", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("syntf")

WORDS = (
    "cat cats dog dogs mouse mice horse cow bird fish run running walk jump swim fly car cars "
    "train bus boat road wheel engine ship plane house garden tree flower river mountain bread "
    "cheese apple water music song piano guitar"
).split()


class RecordingSource:
    """A source of bytes that records the size of each request. Each source gives other bytes."""

    instances = 0

    def __init__(self) -> None:
        RecordingSource.instances += 1
        self.name = f"recorded {RecordingSource.instances}"
        self.sizes: list[int] = []

    def __call__(self, size: int) -> bytes:
        self.sizes.append(size)
        return hashlib.shake_256(f"{self.name}/{len(self.sizes)}".encode()).digest(size)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Give the tests, and the processes they start, a cache of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SYNTF_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def newsgroups_home():
    """The folder of scikit-learn's data with 20 newsgroups, which is no part of the repository."""
    home = os.environ.get("SYNTF_NEWSGROUPS")
    if not home or not list(Path(home).glob("20news-bydate*.pkz")):
        pytest.skip(
            "needs 20 newsgroups: run python -c 'from sklearn.datasets import fetch_20newsgroups "
            'as f; f(data_home="data")\' and set SYNTF_NEWSGROUPS=data'
        )
    return home


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """An empty cache folder for one test."""
    monkeypatch.setenv("SYNTF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def recorded():
    """The class of a source of bytes that records the size of each request."""
    return RecordingSource


@pytest.fixture(scope="session")
def toy_words():
    """The words of the small table."""
    return list(WORDS)


@pytest.fixture(scope="session")
def toy_vectors():
    """A table of 40 words in 8 dimensions."""
    normal = np.random.default_rng(20180711).normal(size=(len(WORDS), 8))
    return WordVectors.quantize(list(WORDS), normal)


@pytest.fixture(scope="session")
def embedded():
    """The table of word vectors that is part of the package."""
    return WordVectors.embedded()


@pytest.fixture(scope="session")
def python():
    """The path of this Python interpreter, to start another process with the same packages."""
    return sys.executable


@pytest.fixture(scope="session")
def oracle():
    """A function that runs a script with dp-accounting, which needs an environment of its own."""
    if "SYNTF_DP_ACCOUNTING" not in os.environ:
        pytest.skip(
            "needs dp-accounting: python3 -m venv DIR && DIR/bin/pip install dp-accounting==0.6.0, "
            "then SYNTF_DP_ACCOUNTING=DIR/bin/python"
        )

    def run(script, data):
        command = [os.environ["SYNTF_DP_ACCOUNTING"], "-c", script]
        result = subprocess.run(command, input=json.dumps(data), capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return run


SYNSETS = {
    "noun": [
        ["car", "auto", "machine"], ["cable_car", "car", "gondola"], ["January", "Jan"],
        ["run", "track"], ["track", "path"], ["piano"], ["odd(p)", "curio"], ["cat", "the", "two"],
        ["cat", "wagon", "Bus", "qwxyz", "mice", "e-mail"],
        [*"abcdefghijklmnopqr"],
    ],
    "verb": [["run", "Rush"]],
    "adj": [["asleep(p)", "numb(a)"], ["asleep(ip)", "at_rest(p)", "gone"]],
    "adv": [["asleep", "slumbering"]],
}  # fmt: skip


@pytest.fixture(scope="session")
def toy_wordnet(tmp_path_factory):
    """A folder with a few synsets in the format of WordNet's database files."""
    folder = tmp_path_factory.mktemp("wordnet")
    for part, synsets in SYNSETS.items():
        text = "  1 This software and database is being provided to you, the LICENSEE  \n"
        for words in synsets:
            listed = " ".join(f"{word} {i % 16:x}" for i, word in enumerate(words))
            kind = {"adj": "s", "adv": "r"}.get(part, part[0])
            text += (
                f"{len(text):08} 03 {kind} {len(words):02x} {listed} 001 @ 00001740 n 0000 | x  \n"
            )
        (folder / f"data.{part}").write_text(text)
    return folder


@pytest.fixture
def call(capsys, monkeypatch):
    """A function that runs a command in this process: exit code, standard output and error."""

    from syntf import cli

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["syntf", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        captured = capsys.readouterr()
        return caught.value.code, captured.out, captured.err

    return run


@pytest.fixture(scope="session")
def toy_codebook(toy_vectors):
    """Seven nodes: a root, two halves, and four leaves in eight dimensions."""
    leaves = np.array(
        [[9, 3, 0, 0, 0, 0, 0, 1], [8, -4, 1, 0, 0, 0, 0, 0], [0, 0, 9, 2, 0, 1, 0, 0],
         [0, 0, 0, 0, 9, 0, 4, 0]]
    )  # fmt: skip
    nodes = np.vstack([leaves.sum(0), leaves[:2].sum(0), leaves[2:].sum(0), leaves])
    from syntf.topics.codebook import Codebook

    return Codebook(
        nodes=nodes.astype(np.int8),
        child=np.array([1, 3, 5, 0, 0, 0, 0], dtype=np.int32),
        points=np.array([40, 20, 20, 10, 10, 12, 8], dtype=np.int32),
        spread=np.array([9000, 6000, 7000, 3000, 2000, 2500, 1500], dtype=np.int32),
        outputs=np.arange(len(toy_vectors.words), dtype=np.int32),
        weight=np.full(len(toy_vectors.words), 100, dtype=np.uint16),
        tf=np.minimum(np.arange(256), 9).astype(np.uint8),
        centre=np.zeros(8, dtype=np.int16),
        word_centre=np.zeros(8, dtype=np.int16),
        whiten=(np.eye(8) * 1024).astype(np.int16),
        common=np.zeros(8, dtype=np.int16),
        own_rows=np.zeros(0, dtype=np.int32),
        own_weight=np.zeros(0, dtype=np.uint16),
        own_vectors=np.zeros((0, 1), dtype=np.int8),
        own_centre=np.zeros(0, dtype=np.int16),
        vectors_digest=toy_vectors.digest,
        origin="supplied",
        made_from="the tests",
    )


@pytest.fixture(scope="session")
def toy_encoder(toy_codebook, toy_vectors):
    from syntf.topics.encoder import Encoder

    return Encoder(toy_codebook, toy_vectors)


@pytest.fixture(scope="session")
def embedded_encoder(embedded):
    from syntf.topics.codebook import Codebook
    from syntf.topics.encoder import Encoder

    return Encoder(Codebook.embedded(), embedded)
