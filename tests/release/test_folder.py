"""The folder of a release: the right files, whole or not at all, readable by other tools."""

import errno
import json
import os
import re
import signal
import stat
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix, load_npz

from syntf.core.errors import SyntfError
from syntf.privacy.guarantee import UnknownFormat, checksum
from syntf.release import folder
from syntf.release.folder import FORMATS, RESERVED, draft, read_release, write_release

KEPT = pl.DataFrame(
    {
        "topic": ["a", None, "c, d", "=SUM(1)", "-1.5", "x\ry"],
        "year": [1, 2, 3, 4, 5, 6],
        "tags": [["x", "y"], [], None, ["z"], ["z"], ["z"]],
    }
)
COMMON = {"README.txt", "report.html", "vocabulary.txt", "documents.parquet", "guarantee.json"}


@pytest.fixture
def write(topics, promise):
    def write(target, drawn=topics, kept=KEPT, *, format="npz", force=False, **more):
        promised = promise(drawn, kept_columns=kept.columns, **more)
        with draft(target, force=force) as new:
            return write_release(new, drawn, kept[: len(drawn)], promised, format=format)

    return write


def contents(path):
    return {found.name: found.read_bytes() for found in path.iterdir()}


@pytest.mark.parametrize("format", FORMATS)
def test_a_release_is_read_as_it_was_written(tmp_path, write, topics, words, format):
    for name, drawn in (("topics", topics), ("words", words)):
        sealed = write(tmp_path / name, drawn, format=format)
        release = read_release(tmp_path / name)
        assert release.guarantee == sealed
        assert (release.counts != drawn.counts()).nnz == 0
        assert (release.counts.dtype, release.counts.shape) == (np.int32, (len(drawn), 5))
        assert release.terms == list(drawn.rest.terms)
        assert (release.topics is None) == (name == "words")
        assert release.documents.select(KEPT.columns).equals(KEPT[: len(drawn)])
        own = list(RESERVED) if name == "topics" else ["document"]
        assert release.documents.columns == [own[0], *KEPT.columns, *own[1:]]
        expected = COMMON | {FORMATS[format]} | ({"topics.csv"} if name == "topics" else set())
        expected |= {"documents.csv"} if format == "csv" else set()
        assert set(contents(tmp_path / name)) == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["topics", "words"]


def test_documents_say_what_was_released(tmp_path, write, topics):
    write(tmp_path / "out")
    found = read_release(tmp_path / "out").documents
    assert found["answer"].to_list() == topics.answers.tolist()
    assert found["pilot"].to_list() == topics.pilot.tolist()
    assert found["released_topic"][:3].to_list() == [
        "cats, dogs; coffee", "tiere", "nothing known; cats, dogs",
    ]  # fmt: skip


def test_every_file_has_its_digest_and_names_are_in_order(tmp_path, write):
    sealed = write(tmp_path / "out")
    found = contents(tmp_path / "out")
    del found["guarantee.json"]
    assert sealed.files == {
        name: f"sha256:{sha256(raw).hexdigest()}" for name, raw in found.items()
    }
    assert list(sealed.files) == sorted(sealed.files)


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_release_has_the_same_bytes(tmp_path, write, monkeypatch, format):
    write(tmp_path / "one", format=format)
    monkeypatch.setattr("time.time", lambda: 1e9)
    monkeypatch.setattr("time.localtime", lambda *moment: (2001, 2, 3, 4, 5, 6, 0, 0, 0))
    write(tmp_path / "two", format=format)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_counts_are_written_in_types_that_other_programs_know(tmp_path, write, topics):
    write(tmp_path / "out")
    matrix = load_npz(tmp_path / "out" / "vectors.npz")
    assert (matrix.format, matrix.dtype, matrix.indices.dtype) == ("csr", np.int32, np.int32)
    write(tmp_path / "long", format="parquet")
    long = pl.read_parquet(tmp_path / "long" / "counts.parquet")
    assert long.schema == {"document": pl.Int32, "term": pl.String, "count": pl.Int32}
    assert long.sum()["count"][0] == topics.counts().sum()


@pytest.mark.parametrize("format", FORMATS)
def test_the_commands_of_the_readme_work(tmp_path, write, format, monkeypatch):
    write(tmp_path / "out", format=format)
    monkeypatch.chdir(tmp_path / "out")
    text = Path("README.txt").read_text(encoding="utf-8")
    import scipy.sparse  # used by what is evaluated

    (sql,) = re.findall(r"SQL \(DuckDB\) +(SELECT .*?)(?: \(counts.*)?\n", text)
    duckdb = pytest.importorskip("duckdb", reason="needs DuckDB: pip install duckdb")
    rows = duckdb.sql(sql).fetchall()
    python = re.findall(r"((?:scipy\.sparse|polars)\.\w+\('[\w.]+'\))", text)
    counts, documents = (eval(line, {"polars": pl, "scipy": scipy}) for line in python)
    assert len(documents) == 6
    if format == "npz":
        assert counts.shape == (6, 5)
        assert len(rows) == 6
    else:
        assert len(rows) == len(counts) == 21
        duckdb = pytest.importorskip("duckdb", reason="needs DuckDB: pip install duckdb")
        total = duckdb.sql(f"SELECT sum(count) FROM ({sql})").fetchall()[0][0]
        assert total == read_release(tmp_path / "out").counts.sum()


def test_a_spreadsheet_runs_nothing(tmp_path, write):
    write(tmp_path / "out", format="csv")
    raw = (tmp_path / "out" / "documents.csv").read_text(encoding="utf-8")
    assert raw.startswith("\ufeffdocument,topic,year,tags,pilot,answer,released_topic\n0,a,1,x y,")
    assert "\n3,'=SUM(1),4," in raw
    assert "\n4,-1.5,5," in raw
    assert "\n5,x y,6," in raw


def test_an_empty_release_is_a_release(tmp_path, write, topics, words):
    for drawn in (topics, words):
        for format in FORMATS:
            write(tmp_path / "out", drawn.at(np.zeros(0, dtype=int)), format=format, force=True)
            release = read_release(tmp_path / "out")
            assert release.counts.shape == (0, 5)
            assert len(release.documents) == 0


def test_only_the_format_is_checked_when_a_release_is_read(tmp_path, write):
    write(tmp_path / "out")
    (tmp_path / "out" / "README.txt").write_text("changed")
    assert len(read_release(tmp_path / "out").documents) == 6
    path = tmp_path / "out" / "guarantee.json"
    record = json.loads(path.read_text())
    record["format"] = 2
    del record["checksum"]
    path.write_text(json.dumps({**record, "checksum": checksum(record)}))
    with pytest.raises(UnknownFormat, match="format 2"):
        read_release(tmp_path / "out")
    for nothing in ("nowhere", "out/README.txt"):
        with pytest.raises(SyntfError, match="not a release of syntf"):
            read_release(tmp_path / nothing)


# The draft


def test_a_draft_is_closed_to_others_and_the_release_is_as_usual(tmp_path, write):
    old = os.umask(0o027)
    try:
        with draft(tmp_path / "out") as new:
            (new / "file").write_text("x")
            (outer,) = tmp_path.iterdir()
            assert new.is_relative_to(outer)
            assert stat.S_IMODE(outer.stat().st_mode) == 0o700
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o750
        assert stat.S_IMODE((tmp_path / "out" / "file").stat().st_mode) == 0o640
    finally:
        os.umask(old)


def full(*args, **kwargs):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupted(*args, **kwargs):
    raise KeyboardInterrupt


PLACES = [
    "numpy.lib.format.write_array", "polars.DataFrame.write_parquet",
    "syntf.release.folder.render_report", "os.fsync", "os.rename", "os.mkdir",
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("fault", "error"), [(full, OSError), (interrupted, KeyboardInterrupt)])
def test_a_failure_leaves_nothing_or_the_old_release(
    tmp_path, monkeypatch, write, place, fault, error
):
    write(tmp_path / "old")
    before = contents(tmp_path / "old")
    monkeypatch.setattr(place, fault)
    for name in ("new", "old"):
        with pytest.raises(error):
            write(tmp_path / name, force=True, shuffled=True)
    monkeypatch.undo()
    assert contents(tmp_path / "old") == before
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_failure_between_two_renames_restores_the_old_release(tmp_path, monkeypatch, write):
    write(tmp_path / "out")
    before = contents(tmp_path / "out")
    rename = os.rename

    def only_aside(path, target):
        if Path(path).name == "release":
            raise KeyboardInterrupt
        rename(path, target)

    monkeypatch.setattr("os.rename", only_aside)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "out", force=True, shuffled=True)
    assert contents(tmp_path / "out") == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_error_after_the_release_is_in_place_says_so(tmp_path, monkeypatch, write):
    fsync, seen = os.fsync, []

    def late(number):
        if (tmp_path / "out").exists():
            full()
        seen.append(number)
        fsync(number)

    monkeypatch.setattr("os.fsync", late)
    with pytest.raises(OSError, match="No space") as caught:
        write(tmp_path / "out")
    assert caught.value.__notes__ == [f"the release in {tmp_path / 'out'} is complete nevertheless"]
    assert len(seen) == 8  # seven files and their folder were on the disk before the name was
    assert len(read_release(tmp_path / "out").documents) == 6


KILLED = """
import os, signal, sys
from pathlib import Path
from syntf.release.folder import draft
rename = os.rename
def stop(path, target):
    if Path(path).name == "release" and sys.argv[2] == "renaming":
        os.kill(os.getpid(), signal.SIGKILL)
    rename(path, target)
os.rename = stop
with draft(Path(sys.argv[1]), force=True) as new:
    (new / "guarantee.json").write_text("half")
    if sys.argv[2] == "writing":
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("when", ["writing", "renaming"])
def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path, write, when):
    write(tmp_path / "out")
    before = contents(tmp_path / "out")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "out"), when])
    assert killed.returncode == -signal.SIGKILL
    (left,) = (path for path in tmp_path.iterdir() if path.name != "out")
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    assert (tmp_path / "out").exists() == (when == "writing")
    with pytest.raises(SyntfError, match="out exists already"):
        write(tmp_path / "out")
    assert contents(tmp_path / "out") == before
    write(tmp_path / "out", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


LIMITED = """
import resource, signal, sys
from pathlib import Path
import numpy as np, polars as pl
from syntf.release.folder import draft, _packed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with draft(Path(sys.argv[1])) as new:
        table = pl.DataFrame({"a": np.arange(9999) ** 3})
        (new / "documents.parquet").write_bytes(_packed(table.write_parquet))
except OSError as error:
    print(error.strerror)
"""


def test_a_full_disk_is_an_error_of_the_system(tmp_path):
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "out")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("File too large\n", "")
    assert list(tmp_path.iterdir()) == []


def test_two_runs_do_not_write_to_the_same_folder(tmp_path):
    with draft(tmp_path / "out") as new:
        (new / "file").write_text("x")
        with (
            pytest.raises(SyntfError, match="another run is writing to"),
            draft(tmp_path / "out"),
        ):
            pytest.fail("entered twice")
        assert (new / "file").read_text() == "x"
    assert contents(tmp_path / "out") == {"file": b"x"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_existing_folder_is_refused_and_left_alone(tmp_path, write):
    write(tmp_path / "out")
    before = contents(tmp_path / "out")
    with pytest.raises(SyntfError, match=r"out exists already: .*--force"):
        write(tmp_path / "out")
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize("name", ["thesis.doc", ".hidden", "vectors.npz.bak", "inner"])
def test_force_replaces_nothing_but_a_release(tmp_path, write, name):
    write(tmp_path / "out")
    if name == "inner":
        (tmp_path / "out" / name).mkdir()
    else:
        (tmp_path / "out" / name).write_bytes(b"mine")
    (tmp_path / "file").write_bytes(b"mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "README").mkdir()
    (tmp_path / "README" / "README.txt").write_bytes(b"mine")
    for target in ("out", "file", "link", "README"):
        with pytest.raises(SyntfError, match="is not a release of syntf"):
            write(tmp_path / target, force=True)
    assert (tmp_path / "out" / name).exists()
    assert (tmp_path / "file").read_bytes() == (tmp_path / "README/README.txt").read_bytes()


def test_a_folder_that_cannot_be_written_is_named(tmp_path, write):
    (tmp_path / "mails.csv").write_text("text\n")
    with pytest.raises(SyntfError, match=r"years does not exist: create it first"):
        write(tmp_path / "years" / "out")
    with pytest.raises(SyntfError, match=r"mails\.csv is a file, not a folder"):
        write(tmp_path / "mails.csv" / "out")
    (tmp_path / ".out.draft").symlink_to(tmp_path)
    with pytest.raises(SyntfError, match="is a symbolic link"):
        write(tmp_path / "out")


def test_a_target_may_be_relative_and_have_a_strange_name(tmp_path, write, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("[a]*?"), format="parquet")
    assert read_release("[a]*?").counts.shape == (6, 5)


def test_counts_with_unknown_terms_or_documents_are_refused(tmp_path):
    for name, row in (("term", (0, "qwxyz", 1)), ("document", (7, "cat", 1))):
        pl.DataFrame([row], schema=["document", "term", "count"], orient="row").write_csv(
            tmp_path / "counts.csv"
        )
        with pytest.raises((pl.exceptions.PolarsError, ValueError), match=r".") as caught:
            folder.read_counts(tmp_path, "csv", 3, ["cat"])
        assert name
        assert caught
    pl.DataFrame([(2, "cat", 1)], schema=["document", "term", "count"], orient="row").write_csv(
        tmp_path / "counts.csv"
    )
    found = folder.read_counts(tmp_path, "csv", 3, ["dog", "cat"])
    assert (found != csr_matrix([[0, 0], [0, 0], [0, 1]])).nnz == 0
