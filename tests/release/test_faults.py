"""Nothing is lost and nothing half-done is left: the real command, killed, starved, interrupted.

A server imports the program once and forks for every run. A hook counts what a run does to its
folder (an open for writing, a rename, an fsync, a removal, a statement of the ledger) and strikes
at the wanted place. What had not reached the disk when a run was killed is cut in half, as by a
machine that loses power.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest

from syntf import Ledger, verify
from syntf.words.vectors import WordVectors
from tests.conftest import WORDS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork (Linux, macOS)")

SERVER = r"""
import errno, json, os, resource, signal, sqlite3, sys
from pathlib import Path

import syntf.cli.anonymize, syntf.release.job
from syntf.cli import main

CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "sqlite3.connect")
fsync, connect = os.fsync, sqlite3.connect


class Striker:
    def __init__(self, place, how, points):
        self.place, self.how, self.points = place, how, points
        self.seen, self.on_disk, self.busy = 0, set(self.files()), False
        sys.addaudithook(self.hook)
        os.fsync = self.synced
        if "kill" in how:  # an exception in a callback of SQLite would be lost
            sqlite3.connect = self.connected

    def files(self):
        ours = [path for path in Path(self.place).iterdir() if path.name in ("out", ".out.draft")]
        return {f.stat().st_ino: f for one in ours for f in one.rglob("*") if f.is_file()}

    def hook(self, event, given):
        if event == "open":
            writing = (given[2] or 0) & (os.O_WRONLY | os.O_RDWR)
        else:
            writing = event in CHANGES
        if not self.busy and writing and self.place in os.path.abspath(str(given[0])):
            self.strike(event)

    def synced(self, file):
        self.strike("fsync")
        fsync(file)
        self.on_disk.add(os.fstat(file).st_ino)

    def connected(self, *arguments, **options):
        connection = connect(*arguments, **options)
        connection.set_trace_callback(self.stated)
        return connection

    def stated(self, statement):
        if not statement.startswith("INSERT INTO due"):  # one for each document
            self.strike("statement")

    def strike(self, event):
        self.busy = True
        self.seen += 1
        draft = Path(self.place, ".out.draft")
        if draft.exists() and draft.stat().st_mode & 0o77:
            os.write(2, b"others can open the draft\n")
            os._exit(99)
        here = self.seen in self.points
        if here and self.how == "kill":
            for number, path in self.files().items():
                if number not in self.on_disk:
                    os.truncate(path, path.stat().st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "full" and self.seen >= self.points[0]:
            if event in ("open", "os.mkdir", "os.rename", "fsync"):
                self.busy = False
                raise OSError(errno.ENOSPC, "No space left on device")
        self.busy = False
        if here and self.how == "interrupt":
            os.kill(os.getpid(), signal.SIGINT)


def run(place, arguments, how, points, output):
    os.chdir(place)
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.umask(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["syntf", *arguments]
    striker = None
    if how == "large":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (points[0], points[0]))
    elif how == "memory":
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + points[0], used + points[0]))
    else:
        striker = Striker(place, how, points)
    try:
        main()
    except SystemExit as end:
        code = end.code
    sys.stdout.flush()
    sys.stderr.flush()
    if how.startswith("count"):
        os.write(1, str(striker.seen).encode())
    os._exit(code)


for line in sys.stdin:
    child = os.fork()
    if not child:
        try:
            run(**json.loads(line))
        finally:
            os._exit(98)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

COUNT = 230
PUBLIC = {"codebook": "toy.codebook", "vectors": "toy.npz"}
INPUTS = {"texts.csv", "texts.ledger", *PUBLIC.values()}
MAKE = ["anonymize", "texts.csv", "--codebook", "toy.codebook", "--vectors", "toy.npz",
        "--ledger", "texts.ledger", "--id", "n", "--quiet", "--out", "out"]  # fmt: skip
REPLACE = [*MAKE, "--shuffle", "--force"]
RUN = {"first": MAKE, "replacing": REPLACE}


@dataclass(frozen=True)
class Ended:
    code: int
    said: str


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A function that runs a command in a folder, with a fault; the program is loaded once."""
    output = tmp_path_factory.mktemp("said") / "output"
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "2"},
    ) as process:  # fmt: skip

        def run(place, arguments, how="none", *points):
            job = {"place": str(place), "arguments": arguments, "how": how, "points": points}
            process.stdin.write(json.dumps({**job, "output": str(output)}) + "\n")
            process.stdin.flush()
            return Ended(int(process.stdout.readline()), output.read_text())

        yield run
        process.stdin.close()


@pytest.fixture(scope="module")
def templates(tmp_path_factory, toy_codebook, server):
    """Folders before a run: with a corpus, and with an older release of it, too."""
    first = tmp_path_factory.mktemp("templates") / "first"
    first.mkdir()
    normal = np.random.default_rng(20180711).normal(size=(len(WORDS), 8))
    np.savez(first / "toy.npz", words=np.array(WORDS), vectors=normal)
    vectors = WordVectors.read(first / "toy.npz")
    replace(toy_codebook, vectors_digest=vectors.digest).save(first / "toy.codebook")
    rows = {"n": range(COUNT), "text": [WORDS[i % len(WORDS)] for i in range(COUNT)]}
    pl.DataFrame(rows).write_csv(first / "texts.csv")
    Ledger.create(first / "texts.ledger", document=1000)
    replacing = first.with_name("replacing")
    shutil.copytree(first, replacing)
    assert server(replacing, MAKE) == Ended(0, "")
    return {"first": first, "replacing": replacing}


@pytest.fixture
def place(tmp_path, templates):
    """A function that gives a new folder to make a release in."""

    def make(name):
        target = tmp_path / "place"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(templates[name], target)
        return target

    return make


@pytest.fixture(scope="module")
def steps(server, templates, tmp_path_factory):
    """How often each run can be struck."""
    found = {}
    for name in RUN:
        for how in ("kill", "interrupt"):
            target = tmp_path_factory.mktemp("counting") / "place"
            shutil.copytree(templates[name], target)
            ended = server(target, RUN[name], f"count {how}", 0)
            found[name, how] = int(ended.said)
    return found


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def runs(place):
    """Return how often the ledger was charged; its file must be in order."""
    ledger = Ledger(place / "texts.ledger")
    ledger.summary()
    return len(ledger.runs())


def assert_complete(place, shuffled):
    """Every document once, and every file as it follows from the others."""
    out = place / "out"
    assert sorted(pl.read_parquet(out / "documents.parquet")["n"].cast(int)) == list(range(COUNT))
    result = verify(out, **{name: place / file for name, file in PUBLIC.items()})
    assert result.verdict == "verified", result.checks
    assert result.guarantee.shuffled == shuffled


def assert_clean(place, *more):
    draft = place / ".out.draft"
    if draft.exists() and not list(draft.iterdir()):
        draft.rmdir()  # the run broke off between making it and locking it
    assert {path.name for path in place.iterdir()} == INPUTS | {*more}


def new_release(place, before):
    """Tell whether there is a complete release that was not there before."""
    if not (place / "out").exists() or contents(place / "out") == before:
        return False
    assert_complete(place, shuffled=before is not None)
    return True


def assert_kept(server, place, before):
    """Check that the old release is there, or set aside so that the next run puts it back."""
    if not (place / "out").exists():
        assert server(place, MAKE).code == 2
        assert_clean(place, "out")
    assert contents(place / "out") == before


def assert_next_run_works(server, place, name):
    charged = runs(place)
    arguments = [*RUN[name], "--force"]
    assert server(place, arguments) == Ended(0, "")
    assert_complete(place, shuffled=name == "replacing")
    assert_clean(place, "out")
    assert runs(place) == charged + 1


def line_of(ended):
    """Return the one line that a run says which broke off."""
    (line,) = ended.said.strip().splitlines()
    assert line.startswith("syntf: ")
    return line


STEP = 8
"""Every so many steps of a run are tried by default; the others are slow tests."""
FIRSTS = [pytest.param(n, marks=[pytest.mark.slow] * (n > 1)) for n in range(1, STEP + 1)]


@pytest.mark.parametrize("first", FIRSTS)
@pytest.mark.parametrize("name", RUN)
def test_a_run_killed_anywhere_leaves_a_complete_release_or_none(server, place, steps, name, first):
    charges = []
    for point in range(first, steps[name, "kill"] + 1, STEP):
        here = place(name)
        before = contents(here / "out") if name == "replacing" else None
        spent = runs(here)
        assert server(here, RUN[name], "kill", point).code == -9
        draft = here / ".out.draft"
        assert not draft.exists() or stat.S_IMODE(draft.stat().st_mode) == 0o700
        left = {path.name for path in here.iterdir()} - INPUTS
        assert left <= {"out", ".out.draft", "texts.ledger-journal"}
        charged = runs(here) - spent
        if new_release(here, before):
            assert charged == 1
        elif before:
            assert_kept(server, here, before)
        charges.append(charged)
        assert_next_run_works(server, here, name)
    assert charges == sorted(charges)  # once on the disk, a charge stays
    assert {*charges} == {0, 1}


def test_the_old_release_is_put_back_if_replacing_it_was_killed(server, place):
    """Killed between the two renames: the next run puts the old one back before it begins."""
    here = place("replacing")
    before = contents(here / "out")
    (here / ".out.draft").mkdir(mode=0o700)
    (here / "out").rename(here / ".out.draft" / "release-old")
    assert_kept(server, here, before)
    assert_next_run_works(server, here, "replacing")


ENDS = {
    "interrupt": (130, "interrupted", [0]),
    "interrupt twice": (130, "interrupted", [0, 1]),  # again while it tidies up
    "full": (2, "No space left on device", [0]),  # from there on
}


@pytest.mark.parametrize("first", FIRSTS)
@pytest.mark.parametrize("name", RUN)
@pytest.mark.parametrize(
    "how", ["interrupt", "full", pytest.param("interrupt twice", marks=pytest.mark.slow)]
)
def test_a_run_that_is_stopped_anywhere_tidies_up(server, place, steps, name, how, first):
    code, reason, strikes = ENDS[how]
    for point in range(first, steps[name, "interrupt"] + 1, STEP):
        here = place(name)
        before = contents(here / "out") if name == "replacing" else None
        spent = runs(here)
        ended = server(here, RUN[name], how.partition(" ")[0], *(point + more for more in strikes))
        made = new_release(here, before)
        if how == "full" and ended == Ended(0, ""):  # what was left to do needed no room
            assert made
            continue
        line = line_of(ended)
        assert ended.code == code
        assert reason in line
        assert ("no release was written" in line) == (not made)
        if not made and before:
            assert_kept(server, here, before)
        charged = runs(here) - spent
        hint = f"syntf ledger cancel {here / 'texts.ledger'} {spent + 1}"
        assert (hint in line) == (charged == 1 and not made)
        if how == "full" or (how == "interrupt" and not made):  # else it was tidying up
            assert_clean(here, *["out"] * (made or before is not None))
        assert_next_run_works(server, here, name)


@pytest.mark.parametrize("size", [1000, 4000, 20_000])
def test_a_file_that_does_not_fit_on_the_disk_ends_the_run(server, place, size):
    here = place("replacing")
    before = contents(here / "out")
    ended = server(here, REPLACE, "large", size)
    assert ended.code == 2
    assert "File too large; no release was written" in line_of(ended) or (
        "the disk is full" in line_of(ended)
    )
    assert contents(here / "out") == before
    assert_clean(here, "out")
    assert_next_run_works(server, here, "replacing")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on addresses (Linux)")
@pytest.mark.parametrize("megabytes", [1, 20, 60])
def test_a_run_without_enough_memory_leaves_the_old_release(server, place, megabytes):
    here = place("replacing")
    before = contents(here / "out")
    ended = server(here, REPLACE, "memory", megabytes << 20)
    assert ended.code != 0
    assert "Traceback" not in ended.said
    assert contents(here / "out") == before
    assert_next_run_works(server, here, "replacing")


ROOM = """
mount -t tmpfs -o size={size}k tmpfs full && cd full || exit 99
"$@" 2> ../said; echo $? > ../code; ls -A > ../left
mount -o remount,size=8m tmpfs . || exit 99
"$@" || exit 98
cp -r out ../copied
"""


@pytest.mark.parametrize("size", [pytest.param(4, marks=pytest.mark.slow), 32])
def test_a_real_full_disk(place, size):
    """A file system of so many kilobytes, then the same one with room."""
    inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if (
        not shutil.which("unshare")
        or subprocess.run([*inside, "mount -t tmpfs tmpfs /mnt"], capture_output=True).returncode
    ):
        pytest.skip("needs Linux, and leave to mount a folder in a namespace (unshare)")
    here = place("first")
    (here / "full").mkdir()
    arguments = [str(here / one) if one in INPUTS else one for one in MAKE]
    command = [*inside, ROOM.format(size=size), "sh", sys.executable, "-m", "syntf", *arguments]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int((here / "code").read_text()) == 2
    line = line_of(Ended(2, (here / "said").read_text()))
    assert "No space left on device" in line
    assert "no release was written" in line
    assert (here / "left").read_text() == ""
    (here / "copied").rename(here / "out")
    assert_complete(here, shuffled=False)
    assert runs(here) == 2
