"""Shared by all tests: a cache of their own, a small table of word vectors, a counting source."""

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

# However slow the machine is: how long an example takes is no fault.
settings.register_profile("syntf", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("syntf")

WORDS = (
    "cat cats dog dogs mouse mice horse cow bird fish run running walk jump swim fly car cars "
    "train bus boat road wheel engine ship plane house garden tree flower river mountain bread "
    "cheese apple water music song piano guitar"
).split()


class Recorded:
    """A source that notes how many bytes each call asked for; every source draws anew."""

    made = 0

    def __init__(self) -> None:
        Recorded.made += 1
        self.name = f"recorded {Recorded.made}"
        self.sizes: list[int] = []

    def __call__(self, size: int) -> bytes:
        self.sizes.append(size)
        return hashlib.shake_256(f"{self.name}/{len(self.sizes)}".encode()).digest(size)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """No test touches the user's cache, nor does a process that a test starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SYNTF_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def interrupts():
    """A command that was interrupted heeds no more of them: this process does."""
    heeded = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, heeded)


TRUST: Counter[str] = Counter()


@pytest.fixture(scope="session")
def trust():
    """Counts what was survived or caught, for ``tools/trust_figures.py``."""
    return TRUST


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """The tests of a file run in one process, which makes once what they share; those of a cluster
    too, so that there is one."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            path = nodeid.split("::")[0]
            return "tests/spark" if path.startswith("tests/spark/") else path

    return ByFile(config, log)


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # one of several processes (pytest-xdist)
        session.config.workeroutput["trust"] = dict(TRUST)
    elif TRUST and hasattr(session.config, "cache"):
        session.config.cache.set("syntf/trust", dict(TRUST))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    TRUST.update(getattr(node, "workeroutput", {}).get("trust", {}))


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """A cache folder of the one test, which nothing has used."""
    monkeypatch.setenv("SYNTF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def recorded():
    return Recorded


@pytest.fixture(scope="session")
def toy_words():
    return list(WORDS)


@pytest.fixture(scope="session")
def toy_vectors():
    """40 words in 8 dimensions."""
    normal = np.random.default_rng(20180711).normal(size=(len(WORDS), 8))
    return WordVectors.quantize(list(WORDS), normal)


@pytest.fixture(scope="session")
def embedded():
    return WordVectors.embedded()


@pytest.fixture(scope="session")
def newsgroups_home():
    """A data home of scikit-learn with 20 newsgroups in it."""
    if "SYNTF_NEWSGROUPS" not in os.environ:
        pytest.skip(
            "needs 20 newsgroups: SYNTF_NEWSGROUPS=<scikit-learn data home> "
            "(sklearn.datasets.fetch_20newsgroups fills one)"
        )
    return os.environ["SYNTF_NEWSGROUPS"]


@pytest.fixture(scope="session")
def python():
    """The interpreter, to start another process with: what it runs sees this environment."""
    return sys.executable


@pytest.fixture(scope="session")
def oracle():
    """Runs a script where dp-accounting is installed; it needs an attrs older than others do."""
    if "SYNTF_DP_ACCOUNTING" not in os.environ:
        pytest.skip(
            "needs dp-accounting: python3 -m venv DIR && DIR/bin/pip install dp-accounting==0.6.0, "
            "then SYNTF_DP_ACCOUNTING=DIR/bin/python"
        )

    def run(script, given):
        command = [os.environ["SYNTF_DP_ACCOUNTING"], "-c", script]
        done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def default_synthetic(own_cache):
    """SynTF as it comes: measured once, on the embedded table."""
    from syntf import SynTF

    return SynTF().fit([])


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
    """A few synsets in the format of WordNet's database files."""
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
    """Runs a command in this process: exit code, standard output, standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["syntf", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        captured = capsys.readouterr()
        return caught.value.code, captured.out, captured.err

    return run
