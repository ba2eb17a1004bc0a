"""Nothing lost, nothing half-done: the real command, killed, starved and interrupted.

Each run is a process of its own. A `sitecustomize` on its path counts what the run does to its
folder (an open for writing, a rename, an fsync, a removal) and strikes at the wanted one. What
had not reached the disk by then is cut in half, as a machine that loses power would.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import polars as pl
import pytest
from scipy.sparse import load_npz, vstack

from syntf.cli.app import main
from syntf.inputs import corpus
from syntf.releases import draft
from syntf.releases.draft import shard_digest

TERMS = ["cat", "dog", "car", "train", "music", "river", "bread", "garden"]
COUNT, LENGTH = 230, 12
POINTS = 20
INPUTS = ["terms.txt", "texts.csv", "vectors.txt"]
ARGUMENTS = ["anonymize", "texts.csv", "--vocabulary", "terms.txt", "--vectors", "vectors.txt",
             "--preset", "paper", "--morphology", "lower", "--length", str(LENGTH), "--keep", "n",
             "--quiet", "--out", "out"]  # fmt: skip
REPLACING = [*ARGUMENTS, "--shuffle", "--force"]

SITE = """
import sys
if "syntf" in sys.orig_argv:
    import atexit, json, os, signal
    from pathlib import Path
    from syntf.inputs import corpus
    from syntf.releases import draft
    corpus.BATCH, draft.SHARD = 20, 60
    here = Path(__file__).parent
    plan = json.loads((here / "plan.json").read_text())
    seen, begun = 0, False
    def ours():
        places = [path for path in Path(os.getcwd()).iterdir() if path.name.lstrip(".") in names]
        return {f.stat().st_ino: f for place in places for f in place.rglob("*") if f.is_file()}
    names = ("out", "out.partial", "out.partial-final", "out.partial-final-old")
    on_disk = set(ours())
    def struck():
        global seen
        seen += 1
        if seen == plan["point"] and plan["how"] == "kill":
            for number, path in ours().items():
                if number not in on_disk:
                    os.truncate(path, path.stat().st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        if seen in plan["points"] and plan["how"] == "interrupt":
            os.kill(os.getpid(), signal.SIGINT)
    def hook(event, given):
        global begun
        if event == "os.mkdir" and "out.partial" in str(given[0]):
            begun = True
        if not begun:
            return
        writes = event == "open" and given[2] & (os.O_WRONLY | os.O_RDWR)
        if writes or event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir"):
            struck()
    sys.addaudithook(hook)
    fsync = os.fsync
    def synced(file):
        struck()
        fsync(file)
        on_disk.add(os.fstat(file).st_ino)
    os.fsync = synced
    if plan["how"] == "count":
        atexit.register(lambda: (here / "count").write_text(str(seen)))
elif any("popen_loky" in argument for argument in sys.orig_argv):
    import os, signal
    try:
        os.unlink(__file__ + ".die")
    except OSError:
        pass
    else:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A corpus of one word a document, vectors of its own, and the means to strike."""
    where = tmp_path / "place"
    where.mkdir()
    monkeypatch.chdir(where)
    (where / "terms.txt").write_text("\n".join(TERMS))
    numbers = [[(7 * i * j + i + j) % 11 - 5 for j in range(4)] for i in range(1, 9)]
    lines = (f"{w} {' '.join(map(str, n))}\n" for w, n in zip(TERMS, numbers, strict=True))
    (where / "vectors.txt").write_text("".join(lines))
    rows = "".join(f"{i},{TERMS[i % 8]}\n" for i in range(COUNT))
    (where / "texts.csv").write_text("n,text\n" + rows)
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SITE)
    plan(where)
    return where


def plan(place, how="none", *points):
    about = {"how": how, "point": points[0] if points else 0, "points": points}
    (place.parent / "site" / "plan.json").write_text(json.dumps(about))


def environment(place):
    path = [str(place.parent / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "OMP_NUM_THREADS": "1"}


def syntf(place, *arguments, before=(), **named):
    """The command, in a process of its own: how it ended, and what it said."""
    command = [*before, sys.executable, "-m", "syntf", *arguments]
    return subprocess.run(
        command, cwd=place, env=environment(place), capture_output=True, text=True, **named
    )


def again(monkeypatch, *arguments):
    """The command once more, in this process."""
    monkeypatch.setattr(corpus, "BATCH", 20)
    monkeypatch.setattr(draft, "SHARD", 60)
    monkeypatch.setattr(sys, "argv", ["syntf", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


def complete(folder):
    """Every document once, n words each, and a guarantee that belongs to the rest."""
    counts = vstack([load_npz(path) for path in sorted(folder.glob("vectors*.npz"))])
    frames = [pl.read_parquet(path) for path in sorted(folder.glob("documents*.parquet"))]
    assert sorted(pl.concat(frames)["n"].cast(int)) == list(range(COUNT))
    assert (counts.sum(axis=1) == LENGTH).all()
    guarantee = json.loads((folder / "guarantee.json").read_text())
    assert guarantee["length"] == LENGTH
    assert (folder / "README.txt").stat().st_size > 500
    assert (folder / "vocabulary.txt").read_text().split() == TERMS
    return True


def draft_is_whole(draft):
    """What a draft says it holds had reached the disk before it said so."""
    if (draft / "state.json").exists():
        for shard, digest in enumerate(json.loads((draft / "state.json").read_text())["digests"]):
            files = [draft / f"vectors-{shard:05}.npz", draft / f"documents-{shard:05}.parquet"]
            if all(file.exists() for file in files):
                assert shard_digest(*(file.read_bytes() for file in files)) == digest


def said(run):
    """The one line that a run which broke off leaves."""
    assert "Traceback" not in run.stderr
    lines = run.stderr.strip().splitlines()
    assert len(lines) == 1, run.stderr
    assert lines[0].startswith("syntf: ")
    return lines[0]


@pytest.fixture(scope="module")
def steps():
    """How often a run can be struck, by its arguments: counted once."""
    return {}


def point(place, steps, arguments, share):
    """A step of the run, as far into it as the share says."""
    key = tuple(arguments)
    if key not in steps:
        plan(place, "count")
        assert syntf(place, *arguments).returncode == 0
        steps[key] = int((place.parent / "site" / "count").read_text())
        if "--force" not in arguments:
            shutil.rmtree(place / "out")
    assert steps[key] > 2 * POINTS
    return 1 + round(share * (steps[key] - 1))


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=[] if number % 6 < 2 else pytest.mark.slow)
        for number in range(POINTS)
    ],
)
def test_a_run_killed_anywhere_leaves_a_complete_release_or_none(
    place, steps, monkeypatch, capsys, trust, number
):
    """kill -9 at twenty points; every other run replaces an older release, in a random order."""
    arguments = REPLACING if number % 2 else ARGUMENTS
    if number % 2:
        assert again(monkeypatch, *ARGUMENTS) == 0
    at = point(place, steps, arguments, number / (POINTS - 1))
    plan(place, "kill", at)
    assert syntf(place, *arguments).returncode == -signal.SIGKILL
    if (place / "out").exists():
        assert complete(place / "out")
    draft_is_whole(place / ".out.partial")
    capsys.readouterr()
    code = again(monkeypatch, *arguments, "--resume")
    if code:  # it was complete, and the line says so
        assert "exists already" in capsys.readouterr().err
        assert not number % 2
    assert complete(place / "out")
    guarantee = json.loads((place / "out" / "guarantee.json").read_text())
    assert guarantee["shuffled"] == bool(number % 2)  # the new one
    left = set(os.listdir(place)) - {*INPUTS, "out"}
    assert left <= ({".out.partial"} if code else set())
    trust["kill points survived"] += 1


def test_the_old_release_is_restored_if_replacing_it_was_killed(place, monkeypatch, capsys):
    """Killed between the two renames: the next run puts the old one back before it begins."""
    assert again(monkeypatch, *ARGUMENTS) == 0
    (place / "out").rename(place / ".out.partial-final-old")
    (place / ".out.partial-final").mkdir()
    assert again(monkeypatch, *ARGUMENTS) == 2
    assert "out exists already" in capsys.readouterr().err
    assert complete(place / "out")
    assert again(monkeypatch, *REPLACING) == 0
    assert complete(place / "out")
    assert sorted(os.listdir(place)) == sorted([*INPUTS, "out"])


@pytest.mark.parametrize("share", [0, 0.2, 0.5, 0.8, 0.97, 1])
def test_a_run_interrupted_twice_leaves_a_complete_release_or_none(
    place, steps, monkeypatch, trust, share
):
    """Ctrl-C, and again at the next step: that of cleaning up."""
    at = point(place, steps, ARGUMENTS, share)
    plan(place, "interrupt", at, at + 1)
    run = syntf(place, *ARGUMENTS)
    assert run.returncode == 130
    there = (place / "out").exists()
    assert ("no release was written" in said(run)) == (not there)
    assert ("the release had been written" in said(run)) == there
    if there:
        assert complete(place / "out")
    assert again(monkeypatch, *ARGUMENTS, "--resume") == (2 if there else 0)
    assert complete(place / "out")
    trust["interrupts survived"] += 1


ROOM = """
mount -t tmpfs -o size={size}k tmpfs full && cd full || exit 99
"$@" 2> ../said; echo $? > ../code; ls -A > ../left; ls -A out > ../out 2> /dev/null
mount -o remount,size=8m tmpfs . || exit 99
"$@" --resume || exit 98
cp -r out ../copied
"""


@pytest.fixture(scope="module")
def namespace():
    """What runs a shell that may mount folders, seen by nobody else."""
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if (
        not shutil.which("unshare")
        or subprocess.run(
            [*command, "mount -t tmpfs tmpfs /mnt"], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("needs Linux, and leave to mount a folder in a namespace (unshare)")
    return command


@pytest.mark.parametrize("size", [4, 32, 64])
def test_a_full_disk_leaves_no_release_and_resuming_completes_it(place, namespace, trust, size):
    """A real file system of so many kilobytes, then the same one with room."""
    (place / "full").mkdir()
    arguments = [str(place / a) if a in INPUTS else a for a in ARGUMENTS]
    command = [sys.executable, "-m", "syntf", *arguments]
    run = subprocess.run(
        [*namespace, ROOM.format(size=size), "sh", *command],
        cwd=place, env=environment(place), capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert int((place / "code").read_text()) == 2
    line = (place / "said").read_text()
    assert "No space left on device" in line
    assert "no release was written" in line
    assert line.count("\n") == 1
    assert "out" not in (place / "left").read_text().split()
    assert complete(place / "copied")
    trust["full disks survived"] += 1


READ_ONLY = """
mount --bind shut shut && mount -o remount,ro,bind shut && cd shut || exit 99
exec "$@"
"""


def test_an_unwritable_folder_is_refused_before_any_work(place, namespace, monkeypatch):
    (place / "shut").mkdir()
    arguments = [str(place / a) if a in INPUTS else a for a in ARGUMENTS]
    command = [sys.executable, "-m", "syntf", *arguments]
    run = subprocess.run(
        [*namespace, READ_ONLY, "sh", *command],
        cwd=place, env=environment(place), capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 2
    assert "cannot be written to" in said(run)
    assert not os.listdir(place / "shut")
    monkeypatch.chdir(place / "shut")
    assert again(monkeypatch, *arguments) == 0
    assert complete(place / "shut" / "out")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on addresses (Linux)")
@pytest.mark.parametrize("megabytes", [60, 120, 150])
def test_a_run_without_enough_memory_leaves_no_release(place, monkeypatch, trust, megabytes):
    """With the least, a library ends the process before the program has begun: in its words."""
    (place.parent / "site" / "sitecustomize.py").unlink()  # its own imports would fail first
    for name in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    limit = ["sh", "-c", f'ulimit -v {megabytes * 1024} && exec "$@"', "sh"]
    run = syntf(place, *ARGUMENTS, before=limit)
    assert run.returncode != 0
    # The allocator of polars has words of its own when it cannot start a thread.
    told = [line for line in run.stderr.splitlines() if not line.startswith("<jemalloc>")]
    if any("syntf: " in line for line in told):
        assert told == ["syntf: not enough memory; no release was written"]
    assert "Traceback" not in run.stderr
    assert not (place / "out").exists()
    trust["memory limits survived"] += 1
    assert again(monkeypatch, *ARGUMENTS, "--resume") == 0
    assert complete(place / "out")


@pytest.mark.slow
def test_an_evaluation_survives_a_dead_worker_and_ctrl_c(place):
    """A worker is killed; then Ctrl-C, twice, reaches all processes; then it goes on."""
    pytest.importorskip("joblib")
    rows = "".join(f"{TERMS[i % 4]} {TERMS[i % 2]},{'ab'[i % 2]}\n" for i in range(80))
    (place / "labelled.csv").write_text("text,topic\n" + rows)
    arguments = ["evaluate", "labelled.csv", "--label", "topic", "--vectors", "vectors.txt",
                 "--vocabulary", "terms.txt", "--preset", "paper", "--morphology", "lower",
                 "--length", "5", "--quiet", "--out", "proof", "--runs"]  # fmt: skip
    (place.parent / "site" / "sitecustomize.py.die").touch()
    run = syntf(place, *arguments, "2")
    assert run.returncode == 2
    assert "a worker process died" in said(run)
    assert "run the same command again to continue" in said(run)
    log = place / "proof" / "runs.jsonl"
    done = log.read_bytes()
    command = [sys.executable, "-m", "syntf", *arguments, "40"]
    with subprocess.Popen(
        command, cwd=place, env=environment(place), start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as started:  # fmt: skip
        deadline = time.monotonic() + 120
        while log.read_bytes().count(b"\n") < 2:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        for _ in range(2):
            os.killpg(started.pid, signal.SIGINT)
            time.sleep(0.1)
        out, error = started.communicate()
    interrupted = subprocess.CompletedProcess(command, started.returncode, out, error)
    assert started.returncode == 130
    assert "run the same command again to continue" in said(interrupted)
    assert log.read_bytes().startswith(done)
    done = log.read_bytes()
    assert syntf(place, *arguments, "2").returncode == 0
    assert log.read_bytes().startswith(done[: done.rfind(b"\n") + 1])
    assert (place / "proof" / "results.csv").exists()
