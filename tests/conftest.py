"""Fixtures for all tests: a separate cache, a small table of word vectors, a source that counts."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from syntf.cli import app as cli
from syntf.vectors.word_vectors import WordVectors

# A slow machine must not fail a test: hypothesis sets no time limit for an example.
settings.register_profile("syntf", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# For processors that are emulated (tools/check_processors.py).
settings.register_profile("short", settings.get_profile("syntf"), max_examples=10)
settings.load_profile("syntf")

# A shell starts background jobs with SIGINT ignored, and so would every process that a test starts.
# Tests of interrupts need the default, whichever way the tests were started.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

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


@pytest.fixture(autouse=True)
def restore_interrupt_handler():
    """Restore the handler of SIGINT: an interrupted command ignores further interrupts."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)


TRUST: Counter[str] = Counter()


@pytest.fixture(scope="session")
def trust():
    """Counters of what the tests survived or caught, for ``tools/trust_figures.py``."""
    return TRUST


SLOW_FIXTURES = {"cluster", "spark", "browser", "newsgroups_home"}
"""Fixtures that start a Spark cluster or a browser, or read all of 20 newsgroups."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark tests as slow that use a slow fixture."""
    for item in items:
        if not SLOW_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Run the tests of a file in one process, so that their shared fixtures are made once.

    All tests of Spark run in one process too, so that only one cluster is started.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            path = nodeid.split("::")[0]
            return "tests/spark" if path.startswith("tests/spark/") else path

    return ByFile(config, log)


def pytest_sessionfinish(session):
    """Store the counters: a worker of pytest-xdist sends them to the main process."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["trust"] = dict(TRUST)
    elif TRUST and hasattr(session.config, "cache"):
        session.config.cache.set("syntf/trust", dict(TRUST))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Add up the counters of the workers of pytest-xdist."""
    TRUST.update(getattr(node, "workeroutput", {}).get("trust", {}))


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
def newsgroups_home():
    """A data home of scikit-learn that holds 20 newsgroups."""
    if "SYNTF_NEWSGROUPS" not in os.environ:
        pytest.skip(
            "needs 20 newsgroups: SYNTF_NEWSGROUPS=<scikit-learn data home> "
            "(sklearn.datasets.fetch_20newsgroups fills one)"
        )
    return os.environ["SYNTF_NEWSGROUPS"]


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


@pytest.fixture(scope="session")
def words_synthetic(own_cache):
    """A fitted SynTF with the preset words. Its loss is measured once for all tests."""
    from syntf import SynTF

    return SynTF(preset="words").fit([])


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
    from syntf.codebook.codebook import Codebook

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
    from syntf.codebook.encoder import Encoder

    return Encoder(toy_codebook, toy_vectors)


@pytest.fixture(scope="session")
def embedded_encoder(embedded):
    from syntf.codebook.codebook import Codebook
    from syntf.codebook.encoder import Encoder

    return Encoder(Codebook.embedded(), embedded)
